/// Numbers as text: every double survives, and nothing but a number is read as one.
#include "retrace/io/number.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <bit>
#include <clocale>
#include <cmath>
#include <limits>

namespace retrace::io {
namespace {

bool SameBits(double a, double b) {
  return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
}

/// Any bit pattern that is a number: denormals, infinities and both zeros among them.
double AnyNumber() {
  const auto bits = *rc::gen::arbitrary<uint64_t>().as("bits");
  // One in four has an exponent of zero: arbitrary bits would hardly ever be denormal.
  const auto kind = *rc::gen::inRange(0, 4).as("kind");
  const auto value = std::bit_cast<double>(kind == 0 ? bits & 0x800fffffffffffffu : bits);
  RC_PRE(!std::isnan(value));
  return value;
}

RC_GTEST_PROP(NumberProperty, ReadsBackToTheSameBits, ()) {
  const double value = AnyNumber();
  double back = 0;
  RC_ASSERT(ParseNumber(Number(value), back));
  RC_ASSERT(SameBits(value, back));
}

RC_GTEST_PROP(NumberProperty, IsTheShortestText, ()) {
  // No text with one significant digit less reads back to the same double.
  const double value = AnyNumber();
  RC_PRE(std::isfinite(value) && value != 0);
  const std::string text = Number(value);
  std::string digits;
  for (const char c : text.substr(0, text.find('e'))) {
    if (c >= '0' && c <= '9' && (c != '0' || !digits.empty())) digits += c;
  }
  digits.erase(digits.find_last_not_of('0') + 1);
  RC_ASSERT(digits.size() <= 17u);
  RC_PRE(digits.size() > 1u);
  char shorter[64];
  const auto end = std::to_chars(shorter, shorter + sizeof shorter, value, std::chars_format::scientific,
                                 static_cast<int>(digits.size()) - 2);
  double back = 0;
  // False where rounding up leaves the range of numbers.
  const bool read = ParseNumber(std::string_view(shorter, static_cast<size_t>(end.ptr - shorter)), back);
  RC_ASSERT(!(read && SameBits(value, back)));
}

RC_GTEST_PROP(NumberProperty, FixedIsWithinHalfADecimal, ()) {
  const auto value = *rc::gen::map(rc::gen::inRange(-1000000000, 1000000000), [](int i) { return i * 1.2345e-4; });
  const auto decimals = *rc::gen::inRange(0, 10);
  const std::string text = Fixed(value, decimals);
  const size_t point = text.find('.');
  const size_t written = point == std::string::npos ? 0 : text.size() - point - 1;
  RC_ASSERT(written == static_cast<size_t>(decimals));
  double back = 0;
  RC_ASSERT(ParseNumber(text, back));
  RC_ASSERT(std::abs(back - value) <= 0.5 * std::pow(10, -decimals) + 1e-10);
}

TEST(Number, WritesWhatCannotBeDividedBack) {
  EXPECT_EQ(Number(0.1), "0.1");
  EXPECT_EQ(Number(-0.0), "-0");
  EXPECT_EQ(Number(1e300), "1e+300");
  EXPECT_EQ(Number(5e-324), "5e-324");
  EXPECT_EQ(Number(std::numeric_limits<double>::infinity()), "inf");
  EXPECT_EQ(Number(-std::numeric_limits<double>::infinity()), "-inf");
  EXPECT_EQ(Number(std::numeric_limits<double>::quiet_NaN()), "nan");
  EXPECT_EQ(Fixed(1.005, 1), "1.0");
  EXPECT_EQ(Fixed(-2.5, 3), "-2.500");
  EXPECT_EQ(Fixed(std::numeric_limits<double>::max(), 6).size(), 309 + 7u);
}

TEST(Number, NotANumberReadsBack) {
  double back = 0;
  ASSERT_TRUE(ParseNumber(Number(std::numeric_limits<double>::quiet_NaN()), back));
  EXPECT_TRUE(std::isnan(back));
}

TEST(Number, AppendsAfterWhatIsThere) {
  std::string text = "a ";
  AppendNumber(text, 1.5);
  AppendFixed(text, 2, 2);
  EXPECT_EQ(text, "a 1.52.00");
}

TEST(Number, ReadsWholeTokensOnly) {
  double value = 0;
  for (const char* token : {"1", "-1", "+1", "1.", ".5", "1e3", "1E-3", "-1.5e+3", "0001", "+.5"}) {
    EXPECT_TRUE(ParseNumber(token, value)) << token;
  }
  for (const char* token : {"", "+", "-", ".", "e", "1x", "1 ", " 1", "1,5", "1.2.3", "1e", "0x10", "1_000", "1\n",
                            "--1", "one", "1e3.5", "1d3"}) {
    EXPECT_FALSE(ParseNumber(token, value)) << token;
  }
}

TEST(Number, TwoSignsAreNoNumber) {
  double value = 0;
  EXPECT_FALSE(ParseNumber("+-1", value));
  EXPECT_FALSE(ParseNumber("++1", value));
}

TEST(Number, OutOfRangeIsNoNumber) {
  double value = 0;
  EXPECT_FALSE(ParseNumber("1e999", value));
  EXPECT_FALSE(ParseNumber("1e-999", value));
}

TEST(Number, DoesNotHeedTheLocale) {
  const std::string before = std::setlocale(LC_NUMERIC, nullptr);
  bool found = false;
  for (const char* name : {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8"})
    found = found || std::setlocale(LC_NUMERIC, name);
  double value = 0;
  EXPECT_EQ(Number(1.5), "1.5");
  EXPECT_TRUE(ParseNumber("1.5", value));
  EXPECT_EQ(value, 1.5);
  std::setlocale(LC_NUMERIC, before.c_str());
  if (!found) GTEST_SKIP() << "no locale with a decimal comma is installed: checked in the present one";
}

}  // namespace
}  // namespace retrace::io
