/// From the axes of robots' files to those of the toolkit.
#pragma once

#include "retrace/math/types.h"

namespace retrace::robots {

/// x forward, y to the left and z up become z, x and y.
inline const Mat3& ToOurAxes() {
  static const Mat3 turn = (Mat3() << 0, 1, 0, 0, 0, 1, 1, 0, 0).finished();
  return turn;
}

}  // namespace retrace::robots
