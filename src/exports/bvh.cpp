#include "retrace/exports/bvh.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "retrace/character/reference.h"
#include "retrace/character/skeleton.h"
#include "retrace/exports/exported_motion.h"

namespace retrace::exports {

MotionBvh::MotionBvh(const character::Character& character, double rate)
    : character_(character),
      rate_(rate),
      skeleton_(character::SkeletonOf(character)),
      text_(skeleton_, std::vector<bool>(skeleton_.joints.size(), false)) {}

void MotionBvh::AddFrame(double share) {
  character::Interpolate(before_, latest_, share, between_);
  text_.Add(character::FrameOf(character_, skeleton_, between_));
  ++frames_;
}

void MotionBvh::Add(const control::Trajectory& part) {
  time_step_ = part.time_step;
  for (size_t i = part.first_new_state(); i < part.states.size(); ++i) {
    std::swap(before_, latest_);
    character::PoseOf(character_, part.states[i], latest_);
    if (states_++ == 0) continue;
    const auto last = static_cast<double>(states_ - 1);  // [steps]
    // What is at the latest state itself belongs to the step after it, where there is one.
    for (double place = 0; (place = frames_ / rate_ / time_step_) < last;) AddFrame(place - (last - 1));
  }
}

std::vector<std::string> MotionBvh::Finish() {
  if (states_ == 1) text_.Add(character::FrameOf(character_, skeleton_, latest_));
  if (states_ >= 2) {
    const auto last = static_cast<double>(states_ - 1);
    const int frames = NumFrames(last * time_step_, rate_);
    while (frames_ < frames) AddFrame(std::min(frames_ / rate_ / time_step_, last) - (last - 1));
  }
  return text_.Finish(1 / rate_);
}

std::string FormatMotionBvh(const character::Character& character, const control::Trajectory& trajectory, double rate) {
  MotionBvh motion(character, rate);
  motion.Add(trajectory);
  std::string text;
  for (const std::string& piece : motion.Finish()) text += piece;
  return text;
}

}  // namespace retrace::exports
