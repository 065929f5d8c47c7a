/// What gives a tracked motion the ground forces of its reference. Internal to the tracking method.
#pragma once

#include <span>
#include <vector>

#include "contact_set.h"
#include "retrace/character/legs.h"
#include "retrace/dynamics/character_dynamics.h"
#include "retrace/methods/tracking/options.h"
#include "retrace/methods/tracking/plan.h"
#include "retrace/methods/tracking/tracked_motion.h"
#include "retrace/metrics/required_forces.h"
#include "variation.h"

namespace retrace::tracking {

/// Asks the quadratic program for two things besides the accelerations of the joints:
///
/// - the forces that the reference requires (Newton's law on its center of mass, shared among the feet by
///   metrics::RequiredForcesOf), with feedback on the position of the center of mass, and
/// - the feet at their positions in the world, so that they come down and lift off when the reference's do.
///
/// A foot that is put down beside its position stays there, and the center of mass is then to be beside its position by
/// as much. A foot that swings is put down farther on by a share of how far the capture point is from where it should
/// be. On level ground.
class ForceGuidance {
 public:
  /// What it refers to must outlive the object. @param world in which it is: its gravity and its environment count
  ForceGuidance(const character::Character& character, const character::ReferenceMotion& reference,
                const Options& options, const simulation::WorldOptions& world);

  /// Takes note of a state, once for each solution, `interval` after the one before [s].
  void Update(const dynamics::CharacterDynamics& now, const Goal& goal, const std::vector<ContactPlace>& places,
              double time, double interval);

  /// Sets the goals of the feet; the position of the root is hardly a goal of its own then.
  void SetTasks(const dynamics::CharacterDynamics& now, Dynamics& program) const;

  /// Sets the goals of the forces at the positions, which are the program's contacts.
  void SetForces(const dynamics::CharacterDynamics& now, const std::vector<ContactPlace>& places,
                 Dynamics& program) const;

  void set_variation(const Variation& variation) { variation_ = variation; }
  /// What was found in earlier updates, as numbers at the end of others; and back, from the front of them: returns the
  /// rest.
  void AppendMemory(std::vector<double>& numbers) const;
  std::span<const double> Recall(std::span<const double> numbers);

 private:
  struct Foot {
    character::Leg leg;
    int body = -1;
    bool touches = false;          // in the simulation
    Vec3 required = Vec3::Zero();  // force on it in the reference [N]
    Vec3 offset = Vec3::Zero();    // of its position from the reference's, horizontally [m]
    // of the reference's: the position of its center of mass, its orientation, and their derivatives
    Vec3 place = Vec3::Zero(), velocity = Vec3::Zero(), acceleration = Vec3::Zero();
    Mat3 rotation = Mat3::Identity();
    Vec3 rate = Vec3::Zero(), rate_change = Vec3::Zero();

    double load() const { return std::max(0.0, required.y()); }
  };

  void FindGoalOf(Foot& foot, const Goal& goal, double time);
  /// From 0, in the air, to 1, loaded.
  double Stands(const Foot& foot) const;

  const character::Character& character_;
  const Options& options_;
  double gravity_;
  double frame_time_;
  std::vector<metrics::RequiredForces> required_;  // (poses less two)
  Variation variation_;
  dynamics::CharacterDynamics reference_;
  Eigen::MatrixXd jacobian_;  // (3 x n)
  std::vector<Foot> feet_;
  Vec3 shift_ = Vec3::Zero();     // of what stands, from the reference [m]
  Vec3 center_ = Vec3::Zero();    // of mass, where it is to be [m]
  Vec3 velocity_ = Vec3::Zero();  // of it in the reference [m/s]
  Vec3 force_ = Vec3::Zero();     // that the reference requires [N]
};

}  // namespace retrace::tracking
