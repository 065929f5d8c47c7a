/// Names of the inputs that hold measured forces.
#pragma once

#include <string>

#include "retrace/runs/inputs/inputs.h"

namespace retrace::runs {

/// The role of the file of another plate of the same trial, from the second on.
inline std::string MeasuredRole(size_t plate) {
  return std::string(kMeasuredRole) + " " + std::to_string(plate);
}

}  // namespace retrace::runs
