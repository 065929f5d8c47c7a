#include "retrace/exports/exported_motion.h"

#include <algorithm>
#include <cmath>

#include "retrace/character/kinematics.h"
#include "retrace/math/rotation.h"

namespace retrace::exports {
namespace {

constexpr double kOnStep = 1e-6;  // share of a step by which a frame may miss it: rounding of times

/// Position of a frame among the states.
double PlaceOf(const control::Trajectory& trajectory, double rate, int frame) {
  const double place = frame / rate / trajectory.time_step;
  const double nearest = std::round(place);
  const double last = static_cast<double>(trajectory.num_steps());
  return std::min(last, std::abs(place - nearest) < kOnStep ? nearest : place);
}

}  // namespace

int NumFrames(double duration, double rate) {
  return static_cast<int>(std::floor(duration * rate + kOnStep)) + 1;
}

std::vector<character::State> FramesAt(const control::Trajectory& trajectory, double rate) {
  const double duration = static_cast<double>(trajectory.num_steps()) * trajectory.time_step;
  std::vector<character::State> frames;
  for (int k = 0; k < NumFrames(duration, rate); ++k) {
    const double place = PlaceOf(trajectory, rate, k);
    const auto before = static_cast<size_t>(place);
    const double t = place - std::floor(place);
    character::State frame = trajectory.states[before];
    if (t > 0) {
      const character::State& after = trajectory.states[before + 1];
      for (size_t b = 0; b < frame.size(); ++b) {
        frame[b].position += t * (after[b].position - frame[b].position);
        frame[b].orientation = Nlerp(frame[b].orientation, after[b].orientation, t);
        frame[b].linear_velocity += t * (after[b].linear_velocity - frame[b].linear_velocity);
        frame[b].angular_velocity += t * (after[b].angular_velocity - frame[b].angular_velocity);
      }
    }
    frames.push_back(std::move(frame));
  }
  return frames;
}

int StepOfFrame(const control::Trajectory& trajectory, double rate, int frame) {
  return static_cast<int>(std::ceil(PlaceOf(trajectory, rate, frame))) - 1;
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
