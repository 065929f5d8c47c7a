/// What ground and objects do to a simulated character, as a force plate would have it: per foot, and per other body
/// that touches anything, the force, where it acts and the moment that is left there. Nothing is filtered.
#pragma once

#include <span>
#include <vector>

#include "retrace/character/character.h"
#include "retrace/control/control.h"

namespace retrace::metrics {

/// What presses on the body `body` and on those listed with it.
struct ForcePlate {
  int body = -1;            ///< that the force is applied to
  std::vector<int> bodies;  ///< whose contacts count, `body` among them
};

/// The feet of the character, a toe joined to the foot that carries it; then every other body that anything but the
/// character itself ever touches. No contact of body with ground or object is in none.
std::vector<ForcePlate> ForcePlates(const character::Character& character, const control::Trajectory& trajectory);

/// What contacts come to: a force, where it acts, and the moment that is left there.
struct AppliedForce {
  Vec3 force = Vec3::Zero();   ///< [N]
  Vec3 point = Vec3::Zero();   ///< center of pressure: mean of the contact points by normal force [m]
  Vec3 moment = Vec3::Zero();  ///< about `point` [N m]; on level ground it has a vertical component only
};
/// Resultant of the contacts with ground and objects of a plate in one step; all zero without contact. The moment about
/// a point r is moment + (point - r) x force.
AppliedForce ForceOn(const ForcePlate& plate, const std::vector<simulation::Contact>& contacts);

/// The same of every plate over a motion. A step's forces stand at the state that it led to; the first are zero.
struct GroundForces {
  std::vector<ForcePlate> plates;
  std::vector<std::vector<AppliedForce>> forces;  ///< (plates x states)
  size_t num_states = 0;                          ///< of the motion
};
GroundForces GroundForcesOf(const character::Character& character, const control::Trajectory& trajectory);

/// Gives motions of one character the plates that any of them has, in the same order.
void SharePlates(std::span<GroundForces* const> motions);

}  // namespace retrace::metrics
