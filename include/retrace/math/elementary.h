/// sin, cos, exp, pow and the like that round alike on every processor.
///
/// The C library picks the variant of these functions that the processor runs fastest, and those with fused
/// multiply-add round otherwise than those without: one control replayed on two machines would end in two motions. So
/// their names, by which all that is linked into a program calls them (this project, Eigen, ODE), are defined by
/// retrace_math, with the functions of SLEEF that give the same bits everywhere ("consistent", cinz). They are within 1
/// ulp. A program that links the installed library calls them too. What IEEE 754 defines to the last bit (sqrt,
/// rounding) needs nothing.
#pragma once

#include <string>

namespace retrace {

/// Version of the library that computes them.
std::string SleefVersion();

}  // namespace retrace
