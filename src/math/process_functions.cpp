/// Under their usual names, for programs that link retrace::process_math: the definitions replace those of the C
/// library in the whole process. Nothing else may be in this file.
#include "retrace/math/elementary.h"

// noexcept as the C library declares them.
// NOLINTBEGIN(readability-identifier-naming)
extern "C" {

double sin(double x) noexcept {
  return retrace_sin(x);
}

double cos(double x) noexcept {
  return retrace_cos(x);
}

void sincos(double x, double* sine, double* cosine) noexcept {
  retrace_sincos(x, sine, cosine);
}

double tan(double x) noexcept {
  return retrace_tan(x);
}

double asin(double x) noexcept {
  return retrace_asin(x);
}

double acos(double x) noexcept {
  return retrace_acos(x);
}

double atan(double x) noexcept {
  return retrace_atan(x);
}

double atan2(double y, double x) noexcept {
  return retrace_atan2(y, x);
}

double exp(double x) noexcept {
  return retrace_exp(x);
}

double exp2(double x) noexcept {
  return retrace_exp2(x);
}

double log(double x) noexcept {
  return retrace_log(x);
}

double log2(double x) noexcept {
  return retrace_log2(x);
}

double log10(double x) noexcept {
  return retrace_log10(x);
}

double pow(double x, double y) noexcept {
  return retrace_pow(x, y);
}

double hypot(double x, double y) noexcept {
  return retrace_hypot(x, y);
}

double cbrt(double x) noexcept {
  return retrace_cbrt(x);
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
