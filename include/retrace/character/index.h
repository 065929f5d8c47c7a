/// Numbers of bodies and joints as indices.
#pragma once

#include <cstddef>

namespace retrace::character {

/// A link or joint number, which Eigen and the tables of parents count with int, as the index of a vector.
inline size_t Index(int i) {
  return static_cast<size_t>(i);
}

}  // namespace retrace::character
