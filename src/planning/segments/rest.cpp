#include "retrace/planning/segments/rest.h"

#include <algorithm>
#include <cmath>

#include "retrace/matching/motion_library.h"

namespace retrace::runs {
namespace {

constexpr double kRest = 0.3;  // in which the root comes to rest where a motion is over [s]

}  // namespace

Vec3 PathToRest(const Vec3& velocity, double time) {
  return kRest * (1 - std::exp(-time / kRest)) * velocity;
}

void RestingPoseAt(const character::ReferenceMotion& motion, double last, double time, character::Pose& pose) {
  motion.PoseAt(std::min(time, last), pose);
  if (time <= last) return;
  character::Pose before;
  motion.PoseAt(last - matching::kFrameTime, before);
  Vec3 velocity = (pose.root_position - before.root_position) / matching::kFrameTime;
  velocity.y() = 0;
  pose.root_position += PathToRest(velocity, time - last);
}

}  // namespace retrace::runs
