#include "retrace/motion_editing/findings.h"

#include "steadied_findings.h"
#include "steadying.h"

namespace retrace::repair {

std::vector<Finding> FindInfeasible(const character::ReferenceMotion& reference, double gravity) {
  return FindInfeasible(reference.character(), reference.frame_time(), Steady(reference, gravity), gravity);
}

}  // namespace retrace::repair
