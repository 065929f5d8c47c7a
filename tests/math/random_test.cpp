/// Random numbers are a pure function of where they are used, and random.
#include "retrace/math/random.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>
#include <vector>

namespace retrace {
namespace {

// The generator's own known answers: kat_vectors of Random123 1.14, philox 4x32, 10 rounds.
TEST(Philox, KnownAnswers) {
  struct Case {
    std::array<uint32_t, 4> counter;
    std::array<uint32_t, 2> key;
    std::array<uint32_t, 4> answer;
  };
  const Case cases[] = {
      {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
      {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
       {0xffffffff, 0xffffffff},
       {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
      {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
       {0xa4093822, 0x299f31d0},
       {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
  };
  for (const Case& c : cases) {
    const r123::Philox4x32::ctr_type counter = {{c.counter[0], c.counter[1], c.counter[2], c.counter[3]}};
    const r123::Philox4x32::key_type key = {{c.key[0], c.key[1]}};
    const auto block = r123::Philox4x32()(counter, key);
    for (size_t i = 0; i < 4; ++i) EXPECT_EQ(block.v[i], c.answer[i]);
  }
}

TEST(RandomStream, IsPhiloxWithTheSeedAsKeyAndThePlaceAsCounter) {
  // The zero vector of the known answers, but for the stage, which is never zero: its own block is asked for here.
  RandomStream zero(0, RandomStage{0}, 0, 0);
  EXPECT_EQ(zero.NextBits(), 0xe169c58d6627e8d5u);
  EXPECT_EQ(zero.NextBits(), 0x9b00dbd8bc57ac4cu);
  const r123::Philox4x32::key_type key = {{0x89abcdef, 0x01234567}};
  RandomStream stream(0x0123456789abcdefu, RandomStage::kWorld, 11, 22);
  for (uint32_t position = 0; position < 5; ++position) {
    const r123::Philox4x32::ctr_type counter = {{position, 22, 11, 2}};
    const auto block = r123::Philox4x32()(counter, key);
    EXPECT_EQ(stream.NextBits(), (static_cast<uint64_t>(block.v[1]) << 32) | block.v[0]);
    EXPECT_EQ(stream.NextBits(), (static_cast<uint64_t>(block.v[3]) << 32) | block.v[2]);
  }
}

std::vector<uint64_t> First(RandomStream stream, int count) {
  std::vector<uint64_t> bits;
  for (int i = 0; i < count; ++i) bits.push_back(stream.NextBits());
  return bits;
}

RC_GTEST_PROP(RandomStreamProperty, DoesNotDependOnTheOrderOfUse, ()) {
  const auto seed = *rc::gen::arbitrary<uint64_t>();
  const auto iteration = *rc::gen::arbitrary<uint32_t>();
  const auto samples = *rc::gen::container<std::vector<uint32_t>>(20, rc::gen::arbitrary<uint32_t>());
  std::vector<std::vector<uint64_t>> forwards;
  for (const uint32_t sample : samples) forwards.push_back(First({seed, RandomStage::kSampling, iteration, sample}, 7));
  for (size_t i = samples.size(); i-- > 0;) {
    RC_ASSERT(First({seed, RandomStage::kSampling, iteration, samples[i]}, 7) == forwards[i]);
  }
}

TEST(RandomStream, EveryPartOfThePlaceCounts) {
  std::set<uint64_t> seen;
  size_t drawn = 0;
  const auto draw = [&](RandomStream stream) {
    for (int i = 0; i < 4; ++i) seen.insert(stream.NextBits());
    drawn += 4;
  };
  for (uint32_t k = 0; k < 200; ++k) {
    draw({k, RandomStage::kTest, 0, 0});
    draw({(static_cast<uint64_t>(k) + 1) << 32, RandomStage::kTest, 0, 0});
    draw({0, RandomStage::kTest, k + 1, 0});
    draw({0, RandomStage::kTest, 0, k + 1});
    draw({k, RandomStage::kSampling, 0, 0});
    draw({k, RandomStage::kWorld, 0, 0});
  }
  EXPECT_EQ(seen.size(), drawn);  // of 4800 draws of 64 bits none is expected twice: chance below 1e-12
}

/// Mean and variance of a million uniform numbers over many short streams, as a search draws them.
TEST(RandomStream, IsUniform) {
  const int streams = 20000;
  const int each = 50;
  double sum = 0;
  double squares = 0;
  double neighbors = 0;
  std::vector<int> bins(64);
  for (int s = 0; s < streams; ++s) {
    RandomStream stream(42, RandomStage::kSampling, static_cast<uint32_t>(s / 100), static_cast<uint32_t>(s % 100));
    double before = 0.5;
    for (int i = 0; i < each; ++i) {
      const double x = stream.Uniform();
      ASSERT_GE(x, 0);
      ASSERT_LT(x, 1);
      sum += x;
      squares += (x - 0.5) * (x - 0.5);
      neighbors += (x - 0.5) * (before - 0.5);
      before = x;
      ++bins[static_cast<size_t>(64 * x)];
    }
  }
  const double n = streams * each;
  // Five standard errors each: 1/sqrt(12 n), 1/sqrt(180 n), 1/(12 sqrt(n)).
  EXPECT_NEAR(sum / n, 0.5, 5 / std::sqrt(12 * n));
  EXPECT_NEAR(squares / n, 1.0 / 12, 5 / std::sqrt(180 * n));
  EXPECT_NEAR(neighbors / n, 0, 5 / (12 * std::sqrt(n)));
  double chi = 0;
  for (const int count : bins) chi += (count - n / 64) * (count - n / 64) / (n / 64);
  EXPECT_NEAR(chi, 63, 5 * std::sqrt(2 * 63.0));
}

TEST(RandomStream, FirstDrawsOfNeighboringStreamsAreIndependent) {
  const int n = 200000;
  double product = 0;
  double before = 0;
  for (int s = 0; s < n; ++s) {
    RandomStream stream(7, RandomStage::kSampling, 3, static_cast<uint32_t>(s));
    const double x = stream.Uniform() - 0.5;
    product += x * before;
    before = x;
  }
  EXPECT_NEAR(product / n, 0, 5 / (12 * std::sqrt(static_cast<double>(n))));
}

RC_GTEST_PROP(RandomStreamProperty, RangeIsKept, ()) {
  const auto seed = *rc::gen::arbitrary<uint64_t>();
  RandomStream a(seed, RandomStage::kTest, 0, 0);
  RandomStream b(seed, RandomStage::kTest, 0, 0);
  const double x = a.Uniform(-3, 5);
  RC_ASSERT(x >= -3 && x < 5);
  RC_ASSERT(x == -3 + 8 * b.Uniform());
}

}  // namespace
}  // namespace retrace
