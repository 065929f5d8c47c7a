#include "retrace/exports/bvh.h"

#include <vector>

#include "retrace/character/kinematics.h"
#include "retrace/character/reference.h"
#include "retrace/character/skeleton.h"
#include "retrace/exports/exported_motion.h"
#include "retrace/motion/bvh.h"

namespace retrace::exports {

std::string FormatMotionBvh(const character::Character& character, const control::Trajectory& trajectory, double rate) {
  std::vector<character::Pose> poses;
  for (const character::State& state : trajectory.states) {
    character::PoseOf(character, state, poses.emplace_back());
  }
  if (poses.size() >= 2) {
    const character::ReferenceMotion motion(character, trajectory.time_step, std::move(poses), trajectory.time_step);
    poses.assign(static_cast<size_t>(NumFrames(motion.duration(), rate)), {});
    for (size_t k = 0; k < poses.size(); ++k) motion.PoseAt(static_cast<double>(k) / rate, poses[k]);
  }
  return motion::FormatBvh(character::ClipOf(character, poses, 1 / rate));
}

}  // namespace retrace::exports
