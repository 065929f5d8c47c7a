/// Random numbers as a pure function of where they are used: the same (seed, stage, iteration, sample) gives the same
/// sequence on any thread, rank or machine, in any order of evaluation, and after a resume.
#pragma once

#include <Random123/philox.h>

#include <cmath>
#include <cstddef>
#include <cstdint>

namespace retrace {

/// What a random number is for; streams of different stages are independent.
enum class RandomStage : uint32_t {
  kSampling = 1,
  kWorld = 2,
  kStart = 3,
  kVariation = 4,
  kIdlingPlay = 5,
  kIdlingPaths = 6,
  kSearch = 7,
  kTree = 8,
  kWindows = 9,
  kPushes = 10,
  kLearning = 11,
  kResponse = 12,
  kJointWeights = 13,
  kIdlingNoise = 14,
  kTest = 1000,
};

/// Sequence of random numbers of one (seed, stage, iteration, sample). Philox 4x32-10 (Salmon et al. 2011): the key is
/// the seed, the counter is (stage, iteration, sample, position).
class RandomStream {
 public:
  RandomStream(uint64_t seed, RandomStage stage, uint32_t iteration, uint32_t sample)
      : key_{{static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)}},
        counter_{{0, sample, iteration, static_cast<uint32_t>(stage)}} {}

  uint64_t NextBits() {
    if (used_ == 2) {
      block_ = r123::Philox4x32()(counter_, key_);
      ++counter_.v[0];
      used_ = 0;
    }
    const uint64_t bits = (static_cast<uint64_t>(block_.v[2 * used_ + 1]) << 32) | block_.v[2 * used_];
    ++used_;
    return bits;
  }

  /// Uniform in [0, 1), 53 bits.
  double Uniform() { return static_cast<double>(NextBits() >> 11) * 0x1p-53; }
  double Uniform(double low, double high) { return low + (high - low) * Uniform(); }

  /// Standard normal, by the method of Box and Muller (one of the two).
  double Normal() {
    const double radius = std::sqrt(-2 * std::log(1 - Uniform()));
    return radius * std::cos(2 * 3.14159265358979323846 * Uniform());
  }

 private:
  r123::Philox4x32::key_type key_;
  r123::Philox4x32::ctr_type counter_;
  r123::Philox4x32::ctr_type block_{};
  size_t used_ = 2;
};

}  // namespace retrace
