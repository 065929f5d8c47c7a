#include "retrace/math/elementary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sleef.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <string>

#include "retrace/math/random.h"
#include "retrace/math/rotation.h"

namespace retrace {
namespace {

using One = double (*)(double);
using Two = double (*)(double, double);

struct Function {
  const char* name;
  One called;                                       // by its usual name
  decltype(&Sleef_cinz_sind1_u10purec) consistent;  // of SLEEF
  long double (*exact)(long double);
  double from;
  double to;
};

const Function kFunctions[] = {
    {"sin", std::sin, Sleef_cinz_sind1_u10purec, sinl, -100, 100},
    {"cos", std::cos, Sleef_cinz_cosd1_u10purec, cosl, -100, 100},
    {"tan", std::tan, Sleef_cinz_tand1_u10purec, tanl, -10, 10},
    {"asin", std::asin, Sleef_cinz_asind1_u10purec, asinl, -1, 1},
    {"acos", std::acos, Sleef_cinz_acosd1_u10purec, acosl, -1, 1},
    {"atan", std::atan, Sleef_cinz_atand1_u10purec, atanl, -10, 10},
    {"exp", std::exp, Sleef_cinz_expd1_u10purec, expl, -50, 50},
    {"exp2", std::exp2, Sleef_cinz_exp2d1_u10purec, exp2l, -50, 50},
    {"log", std::log, Sleef_cinz_logd1_u10purec, logl, 0, 1000},
    {"log2", std::log2, Sleef_cinz_log2d1_u10purec, log2l, 0, 1000},
    {"log10", std::log10, Sleef_cinz_log10d1_u10purec, log10l, 0, 1000},
    {"cbrt", std::cbrt, Sleef_cinz_cbrtd1_u10purec, cbrtl, -1000, 1000},
};

/// This program links retrace::process_math, so that both names are those of the same function.
TEST(ElementaryFunctions, HaveNamesOfTheirOwn) {
  const One own[] = {retrace_sin, retrace_cos,  retrace_tan, retrace_asin, retrace_acos,  retrace_atan,
                     retrace_exp, retrace_exp2, retrace_log, retrace_log2, retrace_log10, retrace_cbrt};
  static_assert(std::size(own) == std::size(kFunctions));
  for (size_t f = 0; f < std::size(own); ++f) {
    const double x = 0.75 * kFunctions[f].to;
    EXPECT_EQ(own[f](x), kFunctions[f].consistent(x)) << kFunctions[f].name;
  }
  EXPECT_EQ(retrace_atan2(1, 2), Sleef_cinz_atan2d1_u10purec(1, 2));
  EXPECT_EQ(retrace_pow(1.5, 2.5), Sleef_cinz_powd1_u10purec(1.5, 2.5));
  EXPECT_EQ(retrace_hypot(1, 2), Sleef_cinz_hypotd1_u05purec(1, 2));
  double sine = 0, cosine = 0;
  retrace_sincos(0.75, &sine, &cosine);
  EXPECT_NEAR(sine, 0.6816387600233341, 1e-15);
  EXPECT_NEAR(cosine, 0.7316888688738209, 1e-15);
}

/// Distance from the exact value in units of the last position.
double Ulps(double found, long double exact) {
  const double size = std::max(std::abs(found), std::numeric_limits<double>::min());
  const double ulp = std::nextafter(size, std::numeric_limits<double>::infinity()) - size;
  return static_cast<double>(std::abs(static_cast<long double>(found) - exact)) / ulp;
}

std::uint64_t Bits(double x) {
  return std::bit_cast<std::uint64_t>(x);
}

TEST(ElementaryFunctions, AreThoseThatRoundAlikeEverywhere) {
  RandomStream random(7, RandomStage::kTest, 0, 0);
  for (const Function& function : kFunctions) {
    for (uint32_t i = 0; i < 5000; ++i) {
      const double x = function.from + (function.to - function.from) * random.Uniform();
      const double y = function.called(x);
      ASSERT_EQ(Bits(y), Bits(function.consistent(x))) << function.name << "(" << x << ")";
      ASSERT_LE(Ulps(y, function.exact(static_cast<long double>(x))), 1.01) << function.name << "(" << x << ")";
    }
  }
}

TEST(ElementaryFunctions, OfTwoArgumentsToo) {
  RandomStream random(8, RandomStage::kTest, 0, 0);
  for (uint32_t i = 0; i < 5000; ++i) {
    const double x = random.Uniform(-10, 10);
    const double y = random.Uniform(-10, 10);
    const auto lx = static_cast<long double>(x), ly = static_cast<long double>(y);
    double (*const arc)(double, double) = std::atan2;
    double (*const power)(double, double) = std::pow;
    double (*const length)(double, double) = std::hypot;
    ASSERT_EQ(Bits(arc(y, x)), Bits(Sleef_cinz_atan2d1_u10purec(y, x)));
    ASSERT_LE(Ulps(arc(y, x), atan2l(ly, lx)), 1.01);
    ASSERT_EQ(Bits(power(std::abs(x), y)), Bits(Sleef_cinz_powd1_u10purec(std::abs(x), y)));
    ASSERT_LE(Ulps(power(std::abs(x), y), powl(std::abs(lx), ly)), 1.01);
    ASSERT_EQ(Bits(length(x, y)), Bits(Sleef_cinz_hypotd1_u05purec(x, y)));
    ASSERT_LE(Ulps(length(x, y), hypotl(lx, ly)), 1.01);
    double sine = 0, cosine = 0;
    sincos(x, &sine, &cosine);  // what the compiler makes of a sine beside a cosine
    ASSERT_LE(Ulps(sine, sinl(lx)), 1.01);
    ASSERT_LE(Ulps(cosine, cosl(lx)), 1.01);
  }
}

TEST(ElementaryFunctions, HaveTheLimitsOfTheCLibrary) {
  const double infinity = std::numeric_limits<double>::infinity();
  // Volatile: the compiler knows these values itself.
  One volatile sine = std::sin, logarithm = std::log, exponential = std::exp, arc = std::acos;
  Two volatile power = std::pow, length = std::hypot, angle = std::atan2;
  EXPECT_TRUE(std::isnan(sine(infinity)));
  EXPECT_TRUE(std::isnan(arc(1.0000001)));
  EXPECT_EQ(logarithm(0), -infinity);
  EXPECT_TRUE(std::isnan(logarithm(-1)));
  EXPECT_EQ(exponential(1000), infinity);
  EXPECT_EQ(exponential(-1000), 0);
  EXPECT_EQ(power(0, 0), 1);
  EXPECT_EQ(power(-2, 3), -8);
  EXPECT_EQ(length(infinity, std::nan("")), infinity);
  EXPECT_EQ(Bits(angle(-0.0, -1)), Bits(-kPi));
  EXPECT_EQ(Bits(sine(-0.0)), Bits(-0.0));
  EXPECT_THAT(SleefVersion(), testing::StartsWith("3."));
}

}  // namespace
}  // namespace retrace
