#include "retrace/planning/segments/frame_sequence.h"

#include <cmath>

#include "retrace/character/kinematics.h"
#include "retrace/planning/segments/joined_control.h"

namespace retrace::runs {

size_t NumCompositionFrames(double duration) {
  return static_cast<size_t>(std::floor(duration / kCompositionFrame + 1e-9)) + 1;
}

double DurationOf(const std::vector<character::Pose>& poses) {
  return static_cast<double>(poses.size() - 1) * kCompositionFrame;
}

void AppendPoses(const character::Character& character, const std::vector<character::Pose>& poses, double begin,
                 std::vector<character::Pose>& reference) {
  const character::ReferenceMotion motion(character, kCompositionFrame, poses, kCompositionFrame);
  for (;;) {
    const double time = static_cast<double>(reference.size()) * kCompositionFrame - begin;
    if (time > motion.duration() + 1e-9) break;
    motion.PoseAt(time, reference.emplace_back());
  }
}

std::vector<character::Pose> PosesOf(const character::ReferenceMotion& motion, double duration) {
  std::vector<character::Pose> poses(NumCompositionFrames(duration));
  for (size_t f = 0; f < poses.size(); ++f) motion.PoseAt(static_cast<double>(f) * kCompositionFrame, poses[f]);
  return poses;
}

void AppendStates(const character::Character& character, std::span<const character::State> states, double time_step,
                  std::vector<character::Pose>& reference) {
  for (;;) {
    const double time = static_cast<double>(reference.size()) * kCompositionFrame;
    const auto step = static_cast<size_t>(std::lround(time / time_step));
    if (step >= states.size()) break;
    character::PoseOf(character, states[step], reference.emplace_back());
  }
}

}  // namespace retrace::runs
