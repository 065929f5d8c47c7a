/// How long a motion stays within tolerance: when it leaves them, and when it comes back.
#pragma once

#include <string>
#include <vector>

#include "retrace/character/reference_motion.h"
#include "retrace/control/control.h"
#include "retrace/io/json.h"
#include "retrace/metrics/gates.h"
#include "retrace/metrics/intervals.h"

namespace retrace::metrics {

/// A stretch of time outside.
struct Excursion {
  Interval interval;     ///< from the first instant outside to the last one [s]
  std::string gate;      ///< the one that was left farthest, as a share of its limit
  double ratio = 0;      ///< its figure there, as a share of its limit
  bool returned = true;  ///< else the motion ends outside
};

struct GateStay {
  double inside = 1;  ///< share of the states that are inside, of those of the whole reference
  std::vector<Excursion> excursions;

  /// "within tolerance for 83 % of the time; outside from 0.52 to 0.81 s (root_height)".
  std::string Describe() const;
  io::Json ToJson() const;
};

/// Compares every state of a motion with the reference at its time, part by part.
class StayObserver {
 public:
  /// Character and reference must outlive it.
  StayObserver(const character::Character& character, const character::ReferenceMotion& reference,
               const GateLimits& limits_of_human)
      : character_(character), reference_(reference), limits_(limits_of_human) {}

  /// The parts of a motion in their order (control::ReplayInParts), or all of it.
  void Add(const control::Trajectory& part);
  /// `expected_duration` is what the motion should last [s]: states that are missing are outside.
  GateStay Finish(double expected_duration) const;

 private:
  const character::Character& character_;
  const character::ReferenceMotion& reference_;
  GateLimits limits_;
  GateStay stay_;
  size_t states_ = 0, inside_ = 0;
  bool outside_now_ = false;
  double time_step_ = 0;
};

}  // namespace retrace::metrics
