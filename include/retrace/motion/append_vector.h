/// What both writers of clips share.
#pragma once

#include <string>

#include "retrace/io/number.h"
#include "retrace/math/types.h"

namespace retrace::motion {

/// Appends three numbers, each after a blank.
inline void AppendVector(std::string& text, const Vec3& v) {
  for (int axis = 0; axis < 3; ++axis) {
    text += ' ';
    io::AppendNumber(text, v[axis]);
  }
}

}  // namespace retrace::motion
