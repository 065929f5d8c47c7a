/// Generalized coordinates of a character, and the conversion to and from the states of bodies in a simulation.
///
/// The position is a character::Pose: root and joint rotations. The velocity is a vector of as many numbers as the
/// character has degrees of freedom:
///
///     0 to 2    velocity of the center of mass of the root body, in world axes [m/s]
///     3 to 5    angular velocity of the root body, in world axes [rad/s]
///     then      for each joint, in the order of the character, the angular velocity of the child relative to the
///     parent,
///               in the axes of the parent body [rad/s]: three numbers of a ball, one of a hinge, about its axis
///
/// Accelerations are the derivatives of these numbers by time. Forces are ordered alike: the force on the root [N],
/// the torque on it about its center of mass [N m], both in world axes, and for each joint the torque on the child,
/// with its opposite on the parent, in the parent's axes [N m], as simulation::JointCommand has it. Power is force
/// times velocity. With w the part of a joint, its rotation q from parent to child changes by dq/dt = (0, w) q / 2.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "retrace/character/character.h"
#include "retrace/character/state.h"

namespace retrace::dynamics {

class Coordinates {
 public:
  /// The character must outlive the coordinates.
  explicit Coordinates(const character::Character& character);

  const character::Character& character() const { return *character_; }
  int size() const { return size_; }  ///< degrees of freedom
  /// Index of a joint's first number in a velocity.
  int FirstOf(int joint) const { return first_[static_cast<size_t>(joint)]; }

  /// Nothing is allocated where results have their sizes already. Positions of joints are not looked at, and of a hinge
  /// only what turns about its axis: bodies of a simulation are apart, and hinges bent, by little.
  void PoseOf(const character::State& state, character::Pose& pose) const;
  void VelocityOf(const character::State& state, Eigen::Ref<Eigen::VectorXd> velocity) const;
  /// States of bodies that the joints hold together. `state` is resized.
  void StateOf(const character::Pose& pose, const Eigen::Ref<const Eigen::VectorXd>& velocity,
               character::State& state) const;

  /// Moves a pose by a displacement: what a constant velocity does in one second.
  void Advance(const Eigen::Ref<const Eigen::VectorXd>& displacement, character::Pose& pose) const;
  /// The shortest displacement that leads from one pose to another.
  void Difference(const character::Pose& from, const character::Pose& to,
                  Eigen::Ref<Eigen::VectorXd> displacement) const;

 private:
  const character::Character* character_;
  int size_ = 0;
  std::vector<int> first_;  // (joints)
};

}  // namespace retrace::dynamics
