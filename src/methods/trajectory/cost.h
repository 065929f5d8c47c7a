/// What a simulated window costs.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "retrace/methods/trajectory/cost_terms.h"
#include "retrace/methods/trajectory/problem.h"
#include "retrace/task/cost.h"

namespace retrace::trajectory {

/// Between two instants at which the cost is taken [s]: the frames of the paper's recordings.
inline constexpr double kCostInterval = 1.0 / 60;

/// The cost of a motion that begins with a window, term by term. Belongs to one thread.
class MotionCost {
 public:
  explicit MotionCost(const Problem& problem);

  /// What the motion is compared with, from one step to another; instants are `steps_apart` apart, the last one at the
  /// end.
  void SetRange(int first_step, int end_step);
  int steps_apart() const { return apart_; }

  void Begin(const character::State& start);
  /// Whether a step of the range ends at an instant.
  bool IsInstant(int step) const { return (end_step_ - step) % apart_ == 0; }
  /// The state at the end of step `step - 1`, and the torques of that step (joints).
  void Add(int step, const character::State& state, std::span<const Vec3> torques);
  const Terms& terms() const { return terms_; }
  /// Largest LargestGateRatio of the instants.
  double gate_ratio() const { return gate_ratio_; }

 private:
  struct Instant {
    character::State reference;
    std::vector<Quat> rotations;  // (joints)
    std::vector<Vec3> rates;      // (joints) in the parent's axes [rad/s]
    Vec3 com = Vec3::Zero(), com_velocity = Vec3::Zero();
    std::optional<task::CostReference> cost;
  };

  void AddPaper(const Instant& instant, const character::State& state);
  void AddTask(const Instant& instant, const Instant& before, const character::State& state);
  Instant& At(int step) { return instants_[static_cast<size_t>((end_step_ - step) / apart_)]; }

  const Problem& problem_;
  int apart_;
  double share_ = 1;  // of kCostInterval between two instants
  int first_step_ = -1, end_step_ = -1;
  std::vector<double> beta_;       // (joints)
  std::vector<Instant> instants_;  // the last one first; after the earliest instant the start of the range
  // State of one motion.
  Terms terms_{};
  double gate_ratio_ = 0;
  Vec3 shift_ = Vec3::Zero();
  std::vector<Vec3> rates_, before_, before_that_;  // (joints)
  int added_ = 0;
};

}  // namespace retrace::trajectory
