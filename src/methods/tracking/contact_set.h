/// The points at which forces are planned. Internal to the tracking method.
#pragma once

#include <vector>

#include "retrace/methods/tracking/options.h"
#include "retrace/methods/tracking/tracked_motion.h"
#include "retrace/metrics/surface.h"
#include "retrace/simulation/world.h"

namespace retrace::tracking {

/// A point of the character on the ground or on an object.
struct ContactPlace {
  int body = -1;
  Vec3 point = Vec3::Zero();                 ///< [m]
  Vec3 normal = Vec3::UnitY();               ///< towards the body
  Vec3 surface_velocity = Vec3::Zero();      ///< of what is touched [m/s]
  Vec3 surface_acceleration = Vec3::Zero();  ///< [m/s^2]
  double speed_in_reference = 0;             ///< of the same point of the body [m/s]
  double push = 0;                           ///< simulation::Contact::push [m/s]
  double compliance = 0;                     ///< simulation::Contact::compliance [m/s/N]
};

/// Finds the points that the simulation would take in a step from a state, with those that it takes because they will
/// touch within it: it asks a world of its own. What the reference is about to lift is left out.
class ContactSet {
 public:
  /// The world's options must outlive the object.
  ContactSet(const character::Character& character, const simulation::WorldOptions& world, const Options& options);

  /// @param state of the whole world @param step number of the step that it is taken from
  std::vector<ContactPlace>& Find(const character::State& state, int step, const Goal& goal);

 private:
  /// Height of a point in the reference over the ground there [m].
  double HeightInReference(const simulation::Contact& contact, const character::State& state, const Goal& goal) const;
  /// Speed of a point in the reference [m/s].
  double SpeedInReference(const simulation::Contact& contact, const character::State& state, const Goal& goal) const;

  simulation::World world_;
  metrics::Surface ground_;
  std::vector<simulation::JointCommand> none_;  // (joints) commands without any torque
  double lifted_;       // a point that is higher in the reference is about to leave the ground [m]
  bool touching_only_;  // soft soles carry nothing before they touch
  std::vector<ContactPlace> places_;
};

}  // namespace retrace::tracking
