/// Motions of a character at an instant in generalized coordinates, and small differences between them: the space in
/// which feedback is linear.
///
/// With n degrees of freedom, a difference is a vector of 2 n numbers: first the displacement that leads from one pose
/// to the other (coordinates.h: meters of the root, rotation vectors of the root in world axes and of the joints in the
/// axes of their parents), then the difference of the velocities.
#pragma once

#include <Eigen/Core>

#include "retrace/character/state.h"
#include "retrace/dynamics/coordinates.h"

namespace retrace::dynamics {

/// Pose and velocity, without what the joints of a simulation give way.
struct MotionPoint {
  character::Pose pose;
  Eigen::VectorXd velocity;  ///< (n)

  /// Compares all numbers, bit by bit but for the sign of zero.
  bool operator==(const MotionPoint& other) const;
};

/// What the coordinates see of a state. Nothing is allocated where `point` has its sizes already.
void Reduce(const Coordinates& coordinates, const character::State& state, MotionPoint& point);
/// The bodies of a point, which the joints hold together. `state` is resized to them.
void Expand(const Coordinates& coordinates, const MotionPoint& point, character::State& state);

/// Moves a point by a difference (2 n).
void Apply(const Coordinates& coordinates, const Eigen::Ref<const Eigen::VectorXd>& difference, MotionPoint& point);
/// The difference (2 n) that leads from one point to another. Its rotations are at most half a turn.
void Difference(const Coordinates& coordinates, const MotionPoint& from, const MotionPoint& to,
                Eigen::Ref<Eigen::VectorXd> difference);

}  // namespace retrace::dynamics
