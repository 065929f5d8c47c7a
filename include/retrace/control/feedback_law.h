/// The torques of a feedback in a state.
#pragma once

#include <Eigen/Core>
#include <span>

#include "retrace/character/character.h"
#include "retrace/character/state.h"
#include "retrace/control/feedback.h"
#include "retrace/dynamics/coordinates.h"
#include "retrace/dynamics/tangent.h"

namespace retrace::control {

/// Finds the torques of a feedback. Nothing is allocated after construction. Belongs to one thread.
class FeedbackLaw {
 public:
  /// Both must outlive it.
  FeedbackLaw(const character::Character& character, const Feedback& feedback);

  const Feedback& feedback() const { return feedback_; }
  const dynamics::Coordinates& coordinates() const { return coordinates_; }

  /// The torques (m) [N m] at a node, clamped to the largest ones; zero where the state is the nominal one to the bit.
  /// Nodes after the last one have its gains.
  const Eigen::VectorXd& TorquesAt(int node, const character::State& state);
  /// The same with another nominal point and gain (2 n x m), such as those of a branch.
  const Eigen::VectorXd& TorquesAt(const dynamics::MotionPoint& nominal, std::span<const float> gain,
                                   const character::State& state);
  /// Whether that state was another one than the nominal one.
  bool differs() const { return differs_; }
  /// That state as the coordinates see it.
  const dynamics::MotionPoint& point() const { return point_; }
  /// The difference (2 n) of that state from the nominal one, that was found for these torques.
  const Eigen::VectorXd& difference() const { return difference_; }

 private:
  const Feedback& feedback_;
  dynamics::Coordinates coordinates_;
  dynamics::MotionPoint point_;
  bool differs_ = false;
  Eigen::VectorXd difference_;  // (2 n)
  Eigen::VectorXf scaled_;      // (m) scratch
  Eigen::VectorXd torques_;     // (m)
};

}  // namespace retrace::control
