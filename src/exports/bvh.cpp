#include "retrace/exports/bvh.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "retrace/character/reference_motion.h"
#include "retrace/character/skeleton.h"
#include "retrace/exports/exported_motion.h"

namespace retrace::exports {

MotionBvh::MotionBvh(const character::Character& character, double rate)
    : character_(character),
      rate_(rate),
      skeleton_(character::SkeletonOf(character)),
      text_(skeleton_, std::vector<bool>(skeleton_.joints.size(), false)) {}

void MotionBvh::AddFrame(double share, std::string& rows) {
  character::Interpolate(before_, latest_, share, between_);
  text_.AppendRow(character::FrameOf(character_, skeleton_, between_), rows);
  ++frames_;
}

int MotionBvh::FramesOf(size_t steps, double time_step) const {
  return steps == 0 ? 1 : NumFrames(static_cast<double>(steps) * time_step, rate_);
}

std::string MotionBvh::Add(const control::Trajectory& part) {
  std::string rows;
  time_step_ = part.time_step;
  for (size_t i = part.first_new_state(); i < part.states.size(); ++i) {
    std::swap(before_, latest_);
    character::PoseOf(character_, part.states[i], latest_);
    if (states_++ == 0) continue;
    const auto last = static_cast<double>(states_ - 1);  // [steps]
    // What is at the latest state itself belongs to the step after it, where there is one.
    for (double place = 0; (place = frames_ / rate_ / time_step_) < last;) AddFrame(place - (last - 1), rows);
  }
  return rows;
}

std::string MotionBvh::Finish() {
  std::string rows;
  if (states_ == 1) {
    before_ = latest_;
    AddFrame(1, rows);
  }
  if (states_ >= 2) {
    const auto last = static_cast<double>(states_ - 1);
    const int frames = FramesOf(states_ - 1, time_step_);
    while (frames_ < frames) AddFrame(std::min(frames_ / rate_ / time_step_, last) - (last - 1), rows);
  }
  return rows;
}

std::string FormatMotionBvh(const character::Character& character, const control::Trajectory& trajectory, double rate) {
  MotionBvh motion(character, rate);
  std::string text = motion.Head(motion.FramesOf(trajectory.num_steps(), trajectory.time_step));
  text += motion.Add(trajectory);
  return text += motion.Finish();
}

}  // namespace retrace::exports
