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

/// The shortest text with an exponent: as few significant digits as read back.
std::string WithExponent(double value) {
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific).ptr;
  return {buffer, end};
}

/// Whether a text with an exponent and `digits` significant digits reads back to the same number.
bool ReadsBackWith(int digits, double value) {
  char text[64];
  const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::scientific, digits - 1).ptr;
  double back = 0;
  // Not read where rounding up leaves the range of numbers.
  return ParseNumber(std::string_view(text, static_cast<size_t>(end - text)), back) && SameBits(value, back);
}

/// No text with an exponent is shorter, and none with one significant digit less than the shortest reads back. (A whole
/// number without an exponent may show more digits than it needs: its last ones only keep the position.)
void IsShortest(double value) {
  const std::string shortest = WithExponent(value);
  RC_ASSERT(Number(value).size() <= shortest.size());
  int digits = 0;
  for (const char c : shortest.substr(0, shortest.find('e'))) digits += c >= '0' && c <= '9';
  RC_ASSERT(digits <= 17);
  RC_ASSERT(digits == 1 || !ReadsBackWith(digits - 1, value));
}

RC_GTEST_PROP(NumberProperty, IsTheShortestText, ()) {
  const double value = AnyNumber();
  RC_PRE(std::isfinite(value) && value != 0);
  IsShortest(value);
}

/// 18014398509481992: 17 digits in 17 characters, of which 16 would be enough with an exponent, in 21 characters.
RC_GTEST_PROP(NumberProperty, IsTheShortestTextOfALargeWholeNumber, ()) {
  IsShortest(std::bit_cast<double>(uint64_t{4850376798678024194u}));
}

TEST(Number, ALargeWholeNumberIsWrittenWithoutAnExponentWhereThatIsShorter) {
  const double value = std::bit_cast<double>(uint64_t{4850376798678024194u});
  EXPECT_EQ(Number(value), "18014398509481992");
  EXPECT_EQ(WithExponent(value), "1.801439850948199e+16");
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
