#include "retrace/task/ending.h"

namespace retrace::task {

std::string Name(Ending ending) {
  switch (ending) {
    case Ending::kReachedEnd:
      return "reached_end";
    case Ending::kLeftGates:
      return "left-gates";
    case Ending::kBudget:
      return "budget";
    case Ending::kDiverged:
      return "diverged";
  }
  return "";
}

}  // namespace retrace::task
