/// The least change of clock and place with which a motion obeys the laws that repair.h names. Internal to the repair
/// module.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "course.h"
#include "retrace/metrics/clip_checks.h"

namespace retrace::repair {

/// What is to be mended in a course.
struct RetimingProblem {
  const character::Character& character;
  const Course& course;
  const std::vector<Stance>& stances;
  const std::vector<double>& level;  ///< LevelStances (poses)
  const std::vector<Flight>& flights;
  std::vector<metrics::Interval> places;  ///< what was found wrong with its clock [s]; none: the clock stays
  double gravity = 0;                     ///< [m/s^2]
};

/// (poses)
struct Retiming {
  std::vector<double> slowness;  ///< logarithm of the new duration of an instant over the old one
  Eigen::MatrixX3d shift;        ///< of the whole body [m]
};

Retiming FindRetiming(const RetimingProblem& problem);

}  // namespace retrace::repair
