#include "retrace/planning/segments/crossfade_controller.h"

#include <algorithm>

#include "retrace/control/reference_targets.h"
#include "retrace/math/smooth_step.h"

namespace retrace::runs {
namespace {

void PoseAt(const CrossfadeController::Course& course, double time, character::Pose& pose) {
  course.motion.PoseAt(std::max(0.0, time + course.offset), pose);
}

}  // namespace

void CrossfadeController::Command(const control::StepContext& now, std::span<simulation::JointCommand> commands) {
  const double share = SmoothStep(std::clamp((now.time - from_) / std::max(1e-6, to_ - from_), 0.0, 1.0));
  double ahead_of = -1;
  for (size_t j = 0; j < commands.size(); ++j) {
    const double ahead = control::TimeAhead(character_.joints[j]);
    if (ahead != ahead_of) {
      PoseAt(first_, now.time + ahead, first_pose_);
      PoseAt(second_, now.time + ahead, second_pose_);
      ahead_of = ahead;
    }
    commands[j] = {};
    commands[j].target = first_pose_.joint_rotations[j].slerp(share, second_pose_.joint_rotations[j]);
    commands[j].gain = gain_;
  }
}

}  // namespace retrace::runs
