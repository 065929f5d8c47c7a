/// The usual smooth step from 0 to 1.
#pragma once

namespace retrace {

/// From 0 at 0 to 1 at 1, level at both. @param x in [0, 1]
inline double SmoothStep(double x) {
  return x * x * (3 - 2 * x);
}

}  // namespace retrace
