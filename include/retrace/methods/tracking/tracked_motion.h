/// A reference in generalized coordinates, with its derivatives by time.
#pragma once

#include <Eigen/Core>
#include <array>

#include "retrace/character/reference_motion.h"
#include "retrace/character/state.h"
#include "retrace/dynamics/coordinates.h"

namespace retrace::tracking {

/// What a motion is at an instant.
struct Goal {
  character::Pose pose;
  Eigen::VectorXd velocity;      ///< (n) as dynamics::Coordinates has it
  Eigen::VectorXd acceleration;  ///< (n) its derivative
  character::State state;        ///< the bodies, with the velocities that follow
};

class TrackedMotion {
 public:
  /// Both must outlive the object.
  TrackedMotion(const character::ReferenceMotion& reference, const dynamics::Coordinates& coordinates);

  /// The motion at a time [s], clamped to it. Derivatives are central differences; those of the first and of the last
  /// 1/120 s are of the nearest instant that has both neighbors.
  void At(double time, Goal& goal);

 private:
  const character::ReferenceMotion& reference_;
  const dynamics::Coordinates& coordinates_;
  std::array<character::Pose, 5> poses_;  // around the instant
  std::array<Eigen::VectorXd, 2> rates_;  // (n) before and after it
};

}  // namespace retrace::tracking
