/// What a pose requires from outside of a body, and what of the body touches a surface: by both, seats and tables are
/// found. Internal to the module.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "retrace/character/reference_motion.h"
#include "retrace/metrics/recorded_surface.h"
#include "retrace/simulation/environment.h"

namespace retrace::metrics {

inline constexpr double kOverFloor = 0.06;      ///< what is lower may be the floor [m]
inline constexpr double kSmoothed = 0.1;        ///< half of the time over which forces are averaged [s]
inline constexpr double kBorne = 0.3;           ///< of the weight: the body does not fall
inline constexpr double kAsideOfFeet = 0.08;    ///< from all that touches: there something else bears [m]
inline constexpr double kBesideSurface = 0.25;  ///< of the rectangle that was touched [m]
inline constexpr double kPelvisRests = 0.25;    ///< of a pelvis that rests [m/s]
inline constexpr double kBriefRest = 0.1;       ///< of what rests [s]
inline constexpr double kOneRest = 0.3;         ///< the longest rest on a seat or a table is at least so long [s]
inline constexpr double kOneLevel = 0.04;       ///< heights of one step [m]
inline constexpr double kOneStep = 1.0;  ///< soles that are nearer, and on one level, are on one step: a stride [m]

/// What a pose requires from outside, in weights.
struct Requirement {
  Vec3 center = Vec3::Zero();  ///< of mass [m]
  Vec3 force = Vec3::Zero();
  Vec3 moment = Vec3::Zero();  ///< about the center of mass [m]
  bool missing = false;        ///< more than the floor can supply
  double borne = 0;            ///< share of the weight that the floor cannot supply

  /// Center of pressure in the plane at a height.
  Eigen::Vector2d PressureAt(double height) const;
};

/// What each pose requires. @param environment what is known to bear besides the floor
std::vector<Requirement> RequirementsOf(const character::ReferenceMotion& reference, size_t count,
                                        const simulation::Environment& environment = {});

/// Forces and moments in the mean about each pose: those of single poses have the noise of two derivatives.
std::vector<Requirement> Averaged(const std::vector<Requirement>& all, double frame_time);

/// The median, of an even number the upper one of the two in the middle; 0 of none.
double MiddleOf(std::vector<double> values);

/// Puts the rectangle around corners of soles onto a plane through a point, along a horizontal direction.
void Surround(const std::vector<Vec3>& corners, const Vec3& normal, const Vec3& through, const Vec3& along,
              RecordedSurface& surface);

/// Corners of the body's shapes that touch the floor or a surface, from above: x and z [m].
std::vector<Eigen::Vector2d> CornersThatTouch(const character::Character& character, const character::State& state,
                                              const std::vector<RecordedSurface>& surfaces);

/// How far a body moves about a pose, in the mean of kSmoothed before and after it [m/s].
double MeanSpeed(const std::vector<character::State>& states, size_t pose, size_t body, double frame_time);

}  // namespace retrace::metrics
