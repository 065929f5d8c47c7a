/// sin, cos, exp, pow and the like that round alike on every processor.
///
/// The C library picks the variant of these functions that the processor runs fastest, and those with fused
/// multiply-add round otherwise than those without: one control replayed on two machines would end in two motions. All
/// code of the libraries of this project therefore calls the functions below, with what it instantiates of Eigen
/// and the standard library, and with its own copy of ODE. They are functions of SLEEF that give the same bits
/// everywhere
/// ("consistent", cinz), within 1 ulp. What IEEE 754 defines to the last bit (sqrt, rounding) needs nothing.
///
/// The sources say std::sin as usual. When a library has been made, the names in it are replaced
/// (src/cmake/OwnNames.cmake): `sin` becomes `retrace_sin`, and inline functions that call it, directly or through
/// others, get names of their own, so that the linker does not take an application's copy of such a function in their
/// place. An application that links the libraries keeps the functions of its C library, also in inline functions of
/// these headers that it compiles itself.
///
/// Two things stay outside. Assimp, a shared library that reads FBX and glTF, calls the C library of the process; a
/// program that wants such files read to the same bits on every processor links retrace::process_math, which replaces
/// the functions in the whole process. The project's own programs do. And functions that are not listed here (single
/// precision, hyperbolic functions) are those of the C library everywhere.
#pragma once

#include <string>

namespace retrace {

/// Version of the library that computes them.
std::string SleefVersion();

}  // namespace retrace

// Arguments, results and special values are those of the C function that the name ends with; errno is left alone.
// NOLINTBEGIN(readability-identifier-naming)
extern "C" {
double retrace_sin(double x) noexcept;
double retrace_cos(double x) noexcept;
void retrace_sincos(double x, double* sine, double* cosine) noexcept;
double retrace_tan(double x) noexcept;
double retrace_asin(double x) noexcept;
double retrace_acos(double x) noexcept;
double retrace_atan(double x) noexcept;
double retrace_atan2(double y, double x) noexcept;
double retrace_exp(double x) noexcept;
double retrace_exp2(double x) noexcept;
double retrace_log(double x) noexcept;
double retrace_log2(double x) noexcept;
double retrace_log10(double x) noexcept;
double retrace_pow(double x, double y) noexcept;
double retrace_hypot(double x, double y) noexcept;
double retrace_cbrt(double x) noexcept;
}
// NOLINTEND(readability-identifier-naming)
