#include "retrace/exports/exported_motion.h"

#include <algorithm>
#include <cmath>

#include "retrace/character/kinematics.h"
#include "retrace/metrics/trajectory_states.h"

namespace retrace::exports {
namespace {

constexpr double kOnFrame = 1e-6;  // share of a frame by which an end may miss it: rounding of times

}  // namespace

int NumFrames(double duration, double rate) {
  return static_cast<int>(std::floor(duration * rate + kOnFrame)) + 1;
}

std::vector<character::State> FramesAt(const control::Trajectory& trajectory, double rate) {
  const double duration = static_cast<double>(trajectory.num_steps()) * trajectory.time_step;
  std::vector<character::State> frames;
  for (int k = 0; k < NumFrames(duration, rate); ++k) {
    metrics::StateAt(trajectory, k / rate, frames.emplace_back());
  }
  return frames;
}

int StepOfFrame(const control::Trajectory& trajectory, double rate, int frame) {
  const metrics::StatePlace place = metrics::PlaceOf(trajectory, frame / rate);
  return static_cast<int>(place.before) - (place.share > 0 ? 0 : 1);
}

std::vector<Vec3> JointPositions(const character::Character& character, const character::State& state) {
  std::vector<Vec3> positions;
  for (const character::Joint& joint : character.joints) {
    positions.push_back(character::JointPosition(character, joint, state));
  }
  return positions;
}

std::vector<Vec3> BoxPositions(const simulation::Environment& environment, double time) {
  std::vector<Vec3> positions;
  for (const simulation::Box& box : environment.boxes) {
    positions.push_back(box.course ? Vec3(box.position + box.course->At(time)) : box.position);
  }
  return positions;
}

}  // namespace retrace::exports
