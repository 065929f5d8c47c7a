#include "candidate_reference.h"

#include <algorithm>

#include "retrace/character/kinematics.h"
#include "retrace/math/smooth_step.h"
#include "retrace/metrics/state_distance.h"
#include "retrace/planning/segments/frame_sequence.h"
#include "retrace/planning/segments/joined_control.h"
#include "retrace/planning/segments/motion_start.h"
#include "retrace/planning/segments/rest.h"

namespace retrace::runs {
namespace {

constexpr double kFadeOnGround = 0.6;  // in which what lies goes over into a motion [s]

}  // namespace

std::vector<character::Pose> ReferenceInto(const ImpactSimulation& struck, const ResponseCandidate& candidate) {
  const character::Character& character = struck.character();
  const control::Trajectory second = struck.SecondSimulation(candidate, 1, kGoOver);
  const double since_exit = struck.problem().impact.start - struck.exit_time();
  const double enters = candidate.start + since_exit;  // from the exit on [s]
  const auto at = static_cast<size_t>(struck.impact() + struck.StepOf(candidate.start) - struck.exit());
  character::State state;
  struck.MotionOf(candidate).StateAt(candidate.time, state);
  const auto [heading, offset] =
      metrics::AlignOnGround(character, second.states[std::min(at, second.states.size() - 1)], state);
  const double duration = enters + candidate.end + struck.StandOf(candidate) - candidate.time;
  std::vector<character::Pose> poses(NumCompositionFrames(duration));
  character::Pose simulated;
  for (size_t f = 0; f < poses.size(); ++f) {
    const double time = static_cast<double>(f) * kCompositionFrame;
    character::Pose& pose = poses[f];
    const double share = SmoothStep(std::clamp((time - enters) / kGoOver, 0.0, 1.0));
    if (share < 1) {
      const auto step = std::min(static_cast<size_t>(struck.StepOf(time)), second.states.size() - 1);
      character::PoseOf(character, second.states[step], simulated);
      if (share == 0) {
        pose = simulated;
        continue;
      }
    }
    struck.PoseOf(candidate, candidate.time + time - enters, pose);
    pose.root_position = heading * pose.root_position + offset;
    pose.root_orientation = heading * pose.root_orientation;
    if (share < 1) {
      const character::Pose placed = pose;
      character::Interpolate(simulated, placed, share, pose);
    }
  }
  return poses;
}

std::vector<character::Pose> ReferenceUp(const ImpactSimulation& struck, const ResponseCandidate& candidate,
                                         const character::State& state) {
  const character::Character& character = struck.character();
  const double duration = candidate.end + struck.StandOf(candidate) - candidate.time;
  std::vector<character::Pose> poses(NumCompositionFrames(duration));
  for (size_t f = 0; f < poses.size(); ++f) {
    struck.PoseOf(candidate, candidate.time + static_cast<double>(f) * kCompositionFrame, poses[f]);
  }
  const character::State own(state.begin(), state.begin() + std::ssize(character.bodies));
  return StartingFrom(character, own, std::move(poses), kCompositionFrame, kFadeOnGround);
}

}  // namespace retrace::runs
