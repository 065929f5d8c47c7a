/// What the files of OpenSim have in common: its ground frame, and names that its readers take.
#pragma once

#include <string>

#include "retrace/math/types.h"

namespace retrace::exports {

/// OpenSim's ground has x forward, y up, z to the right; ours z forward, y up, x to the left. The same turn takes the
/// axes of bodies and joints, which are parallel to the ground's at rest.
inline Vec3 ToOpenSim(const Vec3& v) {
  return {v.z(), v.y(), 0.0 - v.x()};  // 0 instead of -0
}
inline Quat ToOpenSim(const Quat& q) {
  return Quat(q.w(), q.z(), q.y(), -q.x());
}

/// A name without the blanks and tabs that separate columns.
inline std::string ColumnName(std::string name) {
  for (char& c : name) {
    if (static_cast<unsigned char>(c) <= ' ') c = '_';
  }
  return name;
}

}  // namespace retrace::exports
