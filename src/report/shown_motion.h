/// The states of a motion on the two grids of time of the page.
#pragma once

#include <cstddef>

#include "packed.h"
#include "retrace/character/character.h"
#include "retrace/character/reference_motion.h"
#include "retrace/control/control.h"
#include "retrace/io/json.h"

namespace retrace::report {

/// For each grid: steps from one instant to the next.
struct Strides {
  size_t frame = 1;
  size_t sample = 1;
};

/// Frames of all bodies; positions of root and center of mass and joint angles at the samples.
class MotionRecord {
 public:
  explicit MotionRecord(const character::Character& character) : character_(character) {}
  void Frame(const character::State& state);
  void Sample(const character::State& state);
  /// Leaves nothing behind.
  io::Json ToJson();

 private:
  const character::Character& character_;
  Floats frames_;
  Floats root_;
  Floats center_;
  Floats angles_;
};

/// The states of a motion that comes in parts, on the grids of the page.
class MotionTrace {
 public:
  MotionTrace(const character::Character& character, const Strides& strides) : record_(character), strides_(strides) {}

  void Add(const control::Trajectory& part) {
    for (size_t i = part.first_new_state(); i < part.states.size(); ++i) {
      steps_ = part.first_step + i;
      if (steps_ % strides_.frame == 0) record_.Frame(part.states[i]);
      if (steps_ % strides_.sample == 0) record_.Sample(part.states[i]);
    }
    duration_ = static_cast<double>(steps_) * part.time_step;
    diverged_ = part.diverged;
  }
  size_t steps() const { return steps_; }
  io::Json ToJson() {
    io::Json json = record_.ToJson();
    json["duration"] = duration_;
    json["diverged"] = diverged_;
    return json;
  }

 private:
  MotionRecord record_;
  Strides strides_;
  size_t steps_ = 0;
  double duration_ = 0;
  bool diverged_ = false;
};

/// A reference over the steps of a motion.
io::Json ReferenceToJson(const character::ReferenceMotion& reference, double time_step, size_t steps,
                         const Strides& strides);

}  // namespace retrace::report
