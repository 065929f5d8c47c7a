#include "retrace/control/reference_targets.h"

namespace retrace::control {

void SetTargetsToReference(const character::ReferenceMotion& reference, double time_step,
                           std::vector<Fragment>& fragments) {
  for (Fragment& fragment : fragments) {
    if (fragment.has_commands()) {
      fragment.commands.clear();
      fragment.targets.resize(static_cast<size_t>(fragment.num_steps) + 1);
    }
    const size_t knots = fragment.targets.size();
    for (size_t k = 0; k < knots; ++k) {
      const double along = knots == 1 ? 1.0 : static_cast<double>(k) / static_cast<double>(knots - 1);
      character::Pose pose;
      reference.PoseAt((fragment.first_step + along * fragment.num_steps) * time_step, pose);
      fragment.targets[k] = pose.joint_rotations;
    }
  }
}

}  // namespace retrace::control
