/// Where swinging legs are put down (da Silva et al. 2008, equation 11, in both planes and against the reference).
/// Internal to the tracking method.
#pragma once

#include <span>
#include <vector>

#include "retrace/character/legs.h"
#include "retrace/character/reference_motion.h"
#include "retrace/methods/tracking/options.h"
#include "retrace/methods/tracking/tracked_motion.h"
#include "retrace/metrics/surface.h"
#include "retrace/simulation/environment.h"

namespace retrace::tracking {

/// Turns the hip of each leg that swings in the reference by
///     c_d (d - d_r) + c_v (v - v_r),
/// with d the horizontal distance of the center of mass from the standing feet, and v its velocity: a character that
/// falls forward steps further forward. One that is behind the reference in the world takes longer steps, too, and one
/// that is ahead shorter ones: feet stand still where those of a recording slide, which would otherwise shorten each
/// step of a walk by a centimeter or two. The turn comes and goes with a time constant, so that targets do not jump.
/// Feet in the air keep the tilt of the reference's. A foot counts the less the nearer the instant is at which it is
/// put down or lifted, so that the body goes over to the next foot while the one before can still push.
class FootPlacement {
 public:
  /// Character and environment must outlive the object.
  FootPlacement(const character::Character& character, const character::ReferenceMotion& reference,
                const simulation::Environment& environment, const Options& options);

  /// Takes note of a state at a time of the reference [s], once in each step of `time_step`. @param surface_velocity of
  /// what the character stands on
  void Update(const character::State& state, const Goal& goal, double time, const Vec3& surface_velocity,
              double time_step);

  /// Horizontal distance of the center of mass from the standing feet, less that of the reference, in world axes; zero
  /// where no foot stands [m].
  const Vec3& distance_error() const { return distance_error_; }

  /// Changes the rotations of a pose, which is that of the goal.
  /// @param slowness share by which a standing foot keeps the tilt of the reference's, however the leg leans
  void Apply(const character::State& state, const Goal& goal, double slowness, character::Pose& pose) const;

  /// What was found in earlier updates, as numbers at the end of others; and back, from the front of them: returns the
  /// rest.
  void AppendMemory(std::vector<double>& numbers) const;
  std::span<const double> Recall(std::span<const double> numbers);

 private:
  struct Foot {
    character::Leg leg;
    int body = -1;
    std::vector<Vec3> corners;  // of its shapes' boxes, in its axes
    bool stands = false;        // in the reference
    std::vector<double> share;  // with which it counts where it stands, each kSpacing; empty: 1
    Vec3 turn = Vec3::Zero();   // of the hip, about the axes of the character's heading [rad]
  };

  bool Stands(const Foot& foot, const character::State& reference) const;
  /// Finds what the feet of a reference count.
  void FindShares(const character::ReferenceMotion& reference);
  double ShareAt(const Foot& foot, double time) const;
  /// Turns the goal of a standing ankle so that the foot has the reference's tilt in the world.
  void Level(const Foot& foot, const character::State& state, const Goal& goal, double share,
             character::Pose& pose) const;

  /// The turn of a swinging leg to its side, less what would bring it nearer to the one that stands than the gap.
  double LimitedAcross(const character::State& state, const Goal& goal, const Foot& foot, double turn) const;

  const character::Character& character_;
  metrics::Surface ground_;
  const Options& options_;
  std::vector<Foot> feet_;
  bool upright_ = true;  // the reference is
  Vec3 distance_error_ = Vec3::Zero();
};

}  // namespace retrace::tracking
