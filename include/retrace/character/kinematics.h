/// Forward kinematics and the quantities that follow from a state.
#pragma once

#include "retrace/character/character.h"
#include "retrace/character/state.h"

namespace retrace::character {

/// Positions and orientations of all bodies of a pose; velocities are left as they are. `state` is resized.
void ForwardKinematics(const Character& character, const Pose& pose, State& state);

/// Root and joint rotations of a state (the reverse of ForwardKinematics; translation of joints is not looked at).
void PoseOf(const Character& character, const State& state, Pose& pose);

/// Rotation of a joint: child relative to parent.
inline Quat JointRotation(const Joint& joint, const State& state) {
  return state[static_cast<size_t>(joint.parent)].orientation.conjugate() *
         state[static_cast<size_t>(joint.child)].orientation;
}

/// Angular velocity of a joint: child relative to parent, in the parent's axes [rad/s].
inline Vec3 RelativeRate(const Joint& joint, const State& state) {
  const BodyState& parent = state[static_cast<size_t>(joint.parent)];
  const BodyState& child = state[static_cast<size_t>(joint.child)];
  return parent.orientation.conjugate() * Vec3(child.angular_velocity - parent.angular_velocity);
}

/// World position of a joint, computed from the parent body.
Vec3 JointPosition(const Character& character, const Joint& joint, const State& state);

Vec3 CenterOfMass(const Character& character, const State& state);
Vec3 CenterOfMassVelocity(const Character& character, const State& state);
/// About the center of mass [kg m^2/s].
Vec3 AngularMomentum(const Character& character, const State& state);

/// Velocities by differences: `state` gets the mean velocities that lead from `before` to `after` in `duration`
/// seconds.
void DifferenceVelocities(const State& before, const State& after, double duration, State& state);

/// Moves a pose by a share of what leads from `from` to `to`: where the pose is `from`, a share of 1 makes it `to`.
void MoveTowards(const Pose& from, const Pose& to, double share, Pose& pose);

/// Height of the lowest point of a body's shapes over y = 0 [m]; +infinity for a body without shapes.
double LowestPoint(const Body& body, const BodyState& state);

/// Turns the whole character about the vertical through the origin, then moves it; velocities turn with it.
void Place(const Quat& heading, const Vec3& offset, State& state);
/// The same of a pose.
void Place(const Quat& heading, const Vec3& offset, Pose& pose);

/// Moves the whole character.
void Translate(State& state, const Vec3& offset);

}  // namespace retrace::character
