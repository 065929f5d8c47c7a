/// Whether an idling character is still where it belongs, judged at every step.
#pragma once

#include <span>
#include <vector>

#include "retrace/methods/idling/problem.h"
#include "retrace/methods/idling/support.h"

namespace retrace::idling {

class Judge {
 public:
  /// Everything must outlive it.
  Judge(const Problem& problem, const Support& support, const std::vector<RelaxedKey>& keys);

  /// Distance of the root from the line between its positions in two relaxed keys, in the axes of the support
  /// [m].
  double RootOffset(const character::State& state, Leg leg) const;

  /// Begins with a state that is valid, and that has been without the seat for so many steps.
  void Begin(int steps_without_seat = 0) { steps_without_seat_ = steps_without_seat; }
  int steps_without_seat() const { return steps_without_seat_; }
  /// Whether a state and the contacts that led to it are valid: the root not farther than Options::root_limit from the
  /// line between the two keys, pelvis or thighs not without the seat for longer than Options::seat_time.
  bool IsValid(const character::State& state, std::span<const simulation::Contact> contacts, Leg leg);

 private:
  const Problem& problem_;
  const Support& support_;
  std::vector<Vec3> places_;  // (keys) of the root
  int allowed_steps_ = 0;
  int steps_without_seat_ = 0;
};

}  // namespace retrace::idling
