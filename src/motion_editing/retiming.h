/// The least change of clock and position with which a motion obeys the laws that repair.h names. Internal to the
/// repair module.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "course.h"

namespace retrace::repair {

/// What is to be repaired in a course.
struct RetimingProblem {
  const character::Character& character;
  const Course& course;
  const std::vector<Stance>& stances;
  const std::vector<double>& level;          ///< LevelStances (poses)
  const std::vector<SupportReach>& support;  ///< of the leveled course (poses)
  const std::vector<Flight>& flights;
  bool retimes = false;  ///< else the clock stays, and forces are not looked at
  double gravity = 0;    ///< [m/s^2]
};

/// (poses)
struct Retiming {
  std::vector<double> slowness;  ///< logarithm of the new duration of an instant over the old one
  Eigen::MatrixX3d shift;        ///< of the whole body [m]
  double cost = 0;               ///< half the sum of squares: what is changed, and what physics still refuses
};

/// One for a clock that is wrong in places and, where that may be, one for a motion that is played at another speed as
/// a whole.
std::vector<Retiming> FindRetimings(const RetimingProblem& problem);

}  // namespace retrace::repair
