/// A motion that was repaired: what was found in it, what was changed, and what is left.
#pragma once

#include <string>
#include <vector>

#include "retrace/character/state.h"
#include "retrace/io/json.h"
#include "retrace/metrics/intervals.h"
#include "retrace/motion_editing/finding.h"
#include "retrace/motion_editing/missing.h"

namespace retrace::repair {

/// How much of something was changed, over the poses of the repaired motion.
struct Change {
  double largest = 0;
  double at = 0;   ///< when [s]
  double rms = 0;  ///< root mean square
};

/// Duration and speeds of a flight.
struct FlightMomentum {
  metrics::Interval interval;  ///< in the repaired motion [s]
  double momentum = 0;         ///< angular, about the center of mass: size of its mean over the flight [kg m^2/s]
  double deviation = 0;        ///< largest deviation from that mean; a body in the air has none [kg m^2/s]
};

struct Repair {
  std::vector<Finding> found;  ///< in the reference as it was
  std::vector<Finding> left;   ///< in the repaired one, on its clock
  bool changed = false;        ///< else `poses` are those of the reference

  std::vector<character::Pose> poses;     ///< repaired, at the reference's frame time
  std::vector<character::Pose> recorded;  ///< the unrepaired ones on the same clock: the body whose time alone is new
  std::vector<double> instants;           ///< of the reference that these are of [s]
  std::vector<double> heights;            ///< of the center of mass in `poses` [m]
  std::vector<double> recorded_heights;   ///< and in `recorded` [m]

  double duration_before = 0, duration = 0;  ///< [s]
  double slowest = 1, fastest = 1;           ///< playback speed, 1 as recorded
  Change time;                               ///< natural logarithm of the playback speed
  Change root;                               ///< shift of the whole body [m]
  Change joint;                              ///< angle of the joint that is turned most [rad]
  std::vector<metrics::Interval> intervals;  ///< of the repaired motion in which something is changed [s]
  std::vector<FlightMomentum> flights;       ///< those that were repaired
  Missing missing_before, missing;           ///< of the reference as it was, and of `poses`

  std::vector<double> Speeds(double frame_time) const;  ///< of play at the poses
  std::vector<double> LargestTurns() const;             ///< of a joint in each pose [rad]
  /// What was found, changed and is left, as sentences.
  std::vector<std::string> Notes() const;
  io::Json ToJson() const;
};

/// repair.csv, one row per pose of the repaired motion: time; recorded_time, of the reference; speed, of play; height
/// and recorded_height of the center of mass; root_x, root_y, root_z, the shift of the root; joint, the largest angle
/// by which one is turned [s, m, rad].
std::string FormatRepair(const Repair& repair, double frame_time);

}  // namespace retrace::repair
