#include "retrace/planning/segments/motion_start.h"

#include <algorithm>
#include <utility>

#include "retrace/character/kinematics.h"
#include "retrace/math/smooth_step.h"
#include "retrace/metrics/state_distance.h"

namespace retrace::runs {

using character::Character;
using character::Pose;
using character::State;

State RestingState(const Character& character, const Pose& pose) {
  State state;
  character::ForwardKinematics(character, pose, state);
  return state;
}

void FadeFrom(const Pose& pose, double frame_time, std::vector<Pose>& poses, double fade) {
  const Pose first = poses.front();
  for (size_t f = 0; f < poses.size(); ++f) {
    const double share = 1 - SmoothStep(std::min(1.0, static_cast<double>(f) * frame_time / fade));
    if (share == 0) break;
    character::MoveTowards(first, pose, share, poses[f]);
  }
}

void PlaceOnGround(const Character& character, const State& to, const State& from, std::vector<Pose>& poses) {
  const metrics::GroundAlignment alignment = metrics::AlignOnGround(character, to, from);
  for (Pose& pose : poses) character::Place(alignment.heading, alignment.offset, pose);
}

std::vector<Pose> StartingFrom(const Character& character, const State& state, std::vector<Pose> poses,
                               double frame_time, double fade) {
  Pose here;
  character::PoseOf(character, state, here);
  PlaceOnGround(character, state, RestingState(character, poses.front()), poses);
  FadeFrom(here, frame_time, poses, fade);
  return poses;
}

}  // namespace retrace::runs
