/// Residual reduction: motion and forces of a recording never agree wholly, because markers, masses and plates have
/// errors. What is left over, a force and a moment that nothing gives, is made small by changes that are as small as
/// these errors, of the motion and of masses (as OpenSim's RRA, Delp et al. 2007, and AddBiomechanics, Werling et al.
/// 2023, do).
///
/// The changes of a motion are cubic splines over time with a knot every 50 ms, in all coordinates of the character,
/// and those of masses are a factor on all of them and a shift of the trunk's center of mass ahead and to its side.
/// Found are those that minimize
///
///     sum over known poses of |residual / error|^2 + sum over knots and bodies of |change / error|^2
///         + |change of masses / error|^2
///
/// by the method of Gauss and Newton. A body's change is that of its position and of its orientation, as markers on it
/// would have seen it. Where a change exceeds its bound, changes cost more until it does not, and more is left over.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "retrace/character/reference_motion.h"
#include "retrace/dynamics/support_force.h"

namespace retrace::kinetics {

struct ResidualReductionOptions {
  double gravity = kStandardGravity;  ///< downwards [m/s^2]
  bool masses = true;                 ///< may change; else the motion alone does
  // Errors that are expected: standard deviations.
  double force_error = 0.01;    ///< [body weights]
  double moment_error = 0.005;  ///< [body weights times 1 m]
  double place_error = 0.01;    ///< of a body's center of mass [m]
  double foot_error = 0.004;    ///< the same of feet, which are seen to stand [m]
  double turn_error = 0.035;    ///< of a body's orientation [rad]
  double mass_error = 0.02;     ///< of the factor on masses
  double trunk_error = 0.02;    ///< of the trunk's center of mass along each axis [m]
  // Largest changes.
  double most_place = 0.03;  ///< of any body's center of mass [m]
  double most_turn = 0.1;    ///< of any body's orientation [rad]
  double most_mass = 0.05;   ///< of the factor
  double most_trunk = 0.05;  ///< along each axis [m]
};

/// Sizes of residuals over the known poses.
struct ResidualSizes {
  double force = 0;        ///< root mean square of the magnitude [N]
  double moment = 0;       ///< the same, about the center of mass [N m]
  double most_force = 0;   ///< [N]
  double most_moment = 0;  ///< [N m]
};

struct BodyChange {
  double place = 0;       ///< of the center of mass, root mean square [m]
  double turn = 0;        ///< [rad]
  double most_place = 0;  ///< [m]
  double most_turn = 0;   ///< [rad]
};

struct ReducedResiduals {
  std::shared_ptr<const character::Character> character;
  std::optional<character::ReferenceMotion> motion;  ///< of this character
  ResidualSizes before;
  ResidualSizes after;
  Eigen::Matrix<double, Eigen::Dynamic, 12> residuals;  ///< (poses) force and moment before, the same after; 0: unknown
  double mass = 1;                                      ///< factor on all masses
  Vec3 trunk = Vec3::Zero();                            ///< shift of the trunk's center, in its axes [m]
  std::vector<BodyChange> bodies;                       ///< (bodies)
  bool bounded = false;  ///< a change would have exceeded its bound, and more residuals are left for it

  BodyChange Largest() const;  ///< of each figure
};

/// @param given (poses) the forces from outside, all of them where a pose is known
/// @param known (poses) nothing else presses
/// Throws std::invalid_argument for other numbers of poses, and where none but the first and the last one is known.
ReducedResiduals ReduceResiduals(const character::ReferenceMotion& reference,
                                 const std::vector<std::vector<dynamics::SupportForce>>& given,
                                 const std::vector<bool>& known, const ResidualReductionOptions& options = {});

}  // namespace retrace::kinetics
