/// Inline functions that a program and a library both have, and functions of the library that call them. The library is
/// made as the modules are (retrace_use_own_names).
#pragma once

#include <cmath>

namespace retrace::probe {

template <typename T>
T SineOf(T x) {
  return std::sin(x);
}

/// Uses a sine through another inline function.
inline double TwiceSineOf(double x) {
  return 2 * SineOf(x);
}

/// Uses one through its table of functions.
struct Shape {
  virtual ~Shape() = default;
  virtual double At(double x) const { return std::sin(x); }
};

/// Uses none: there is one for program and library.
inline int& Calls() {
  static int calls = 0;
  return calls;
}

double TwiceSineInLibrary(double x);
double ShapeInLibrary(double x);
int* CallsInLibrary();

}  // namespace retrace::probe
