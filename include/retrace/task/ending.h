/// How a method that searches for the control of a task ended.
#pragma once

#include <string>

namespace retrace::task {

enum class Ending {
  kReachedEnd,  ///< the control covers the whole reference
  kLeftGates,   ///< what was found exceeds the tolerances, and the method does not go on from there
  kBudget,      ///< the budget does not allow for more
  kDiverged,    ///< all that was tried diverged
};

/// As the manifest of a run has it.
std::string Name(Ending ending);

}  // namespace retrace::task
