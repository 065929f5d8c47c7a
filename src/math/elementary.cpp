#include "retrace/math/elementary.h"

#include <sleef.h>

std::string retrace::SleefVersion() {
  return std::to_string(SLEEF_VERSION_MAJOR) + "." + std::to_string(SLEEF_VERSION_MINOR) + "." +
         std::to_string(SLEEF_VERSION_PATCHLEVEL);
}

// noexcept as the C library declares its own. errno is left alone (-fno-math-errno).
// NOLINTBEGIN(readability-identifier-naming)
extern "C" {

double retrace_sin(double x) noexcept {
  return Sleef_cinz_sind1_u10purec(x);
}

double retrace_cos(double x) noexcept {
  return Sleef_cinz_cosd1_u10purec(x);
}

void retrace_sincos(double x, double* sine, double* cosine) noexcept {
  const Sleef_double_2 both = Sleef_cinz_sincosd1_u10purec(x);
  *sine = both.x;
  *cosine = both.y;
}

double retrace_tan(double x) noexcept {
  return Sleef_cinz_tand1_u10purec(x);
}

double retrace_asin(double x) noexcept {
  return Sleef_cinz_asind1_u10purec(x);
}

double retrace_acos(double x) noexcept {
  return Sleef_cinz_acosd1_u10purec(x);
}

double retrace_atan(double x) noexcept {
  return Sleef_cinz_atand1_u10purec(x);
}

double retrace_atan2(double y, double x) noexcept {
  return Sleef_cinz_atan2d1_u10purec(y, x);
}

double retrace_exp(double x) noexcept {
  return Sleef_cinz_expd1_u10purec(x);
}

double retrace_exp2(double x) noexcept {
  return Sleef_cinz_exp2d1_u10purec(x);
}

double retrace_log(double x) noexcept {
  return Sleef_cinz_logd1_u10purec(x);
}

double retrace_log2(double x) noexcept {
  return Sleef_cinz_log2d1_u10purec(x);
}

double retrace_log10(double x) noexcept {
  return Sleef_cinz_log10d1_u10purec(x);
}

double retrace_pow(double x, double y) noexcept {
  return Sleef_cinz_powd1_u10purec(x, y);
}

double retrace_hypot(double x, double y) noexcept {
  return Sleef_cinz_hypotd1_u05purec(x, y);
}

double retrace_cbrt(double x) noexcept {
  return Sleef_cinz_cbrtd1_u10purec(x);
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
