/// The least change of a reference with which a body may be able to perform it.
///
/// Over the recorded poses runs the logarithm of the slowness, u, and a shift of the whole body, s. Sought is the least
/// sum of their squares and of the squares of their first and second derivatives for which
///   - in a flight that falls at another rate, the centre of mass accelerates by gravity alone, also where
///     keyframes leave nothing of it: then it begins as an arc on the old clock;
///   - a foot that stands beside the floor is on it, and so are the lowest steps of a body that floats;
///   - the ground does not pull, presses no harder than legs can, and holds by friction;
///   - its centre of pressure is where bodies touch the floor; in flight the clock is even, as angular momentum is;
/// by least squares (optimization/least_squares.h), the first two with much weight. Where the clock runs slower by r =
/// exp(u), velocities and momenta are divided by r, and an acceleration a at velocity v becomes (a - v du) / r^2. Feet
/// in contact are then held where they were, by their legs.
///
/// That is solved twice: for a clock that is right but for some places, where u is dear everywhere; and for a motion
/// that is played at another speed as a whole, where what all u share is cheap and what is besides dear. The smaller
/// sum is taken, and of two that differ by less than a factor of 2 the shorter motion: what is played slower than it
/// was done has to be balanced where it needed not be. Where no less force is missing on the new clock than on the old
/// one, the clock stays.
///
/// Before all that an estimate from video is steadied: smoothed where it trembles, and shifted by a smooth curve with
/// which the feet that carry the body stand on the floor.
///
/// Nothing here is a simulation. A reference without findings stays as it is, bit by bit.
#pragma once

#include <string>
#include <vector>

#include "retrace/character/reference.h"
#include "retrace/io/json.h"
#include "retrace/motion_editing/findings.h"

namespace retrace::repair {

/// How much of something was changed, over the poses of the repaired motion.
struct Change {
  double largest = 0;
  double at = 0;   ///< when [s]
  double rms = 0;  ///< root mean square
};

/// Of a flight.
struct FlightMomentum {
  metrics::Interval interval;  ///< in the repaired motion [s]
  double momentum = 0;         ///< angular, about the centre of mass: size of its mean over the flight [kg m^2/s]
  double deviation = 0;        ///< largest deviation from that mean; a body in the air has none [kg m^2/s]
};

/// What the ground cannot supply of that which a motion requires from outside (metrics/required_forces.h): a body that
/// can perform it needs none of that.
struct Missing {
  double force = 0;   ///< mean over the poses, as a share of the weight
  double moment = 0;  ///< mean, about the centre of mass, by the weight [m]
};

struct Repair {
  std::vector<Finding> found;  ///< in the reference as it was
  std::vector<Finding> left;   ///< in the repaired one, on its clock
  bool changed = false;        ///< else `poses` are those of the reference

  std::vector<character::Pose> poses;     ///< repaired, at the reference's frame time
  std::vector<character::Pose> recorded;  ///< the unrepaired ones on the same clock: the body whose time alone is new
  std::vector<double> instants;           ///< of the reference that these are of [s]
  std::vector<double> heights;            ///< of the centre of mass in `poses` [m]
  std::vector<double> recorded_heights;   ///< and in `recorded` [m]

  double duration_before = 0, duration = 0;  ///< [s]
  double slowest = 1, fastest = 1;           ///< speed of play, 1 as recorded
  Change time;                               ///< natural logarithm of the speed of play
  Change root;                               ///< shift of the whole body [m]
  Change joint;                              ///< angle of the joint that is turned most [rad]
  std::vector<metrics::Interval> intervals;  ///< of the repaired motion in which something is changed [s]
  std::vector<FlightMomentum> flights;       ///< those that were repaired
  Missing missing_before, missing;           ///< of the reference as it was, and of `poses`

  /// What was found, changed and is left, as sentences.
  std::vector<std::string> Notes() const;
  io::Json ToJson() const;
};

/// Repairs a reference on the floor y = 0. Throws InputError, with `name` for the clip, for what cannot be repaired,
/// with its place. @param gravity downwards [m/s^2]
Repair RepairReference(const character::ReferenceMotion& reference, double gravity, const std::string& name);

/// repair.csv, one row per pose of the repaired motion: time; recorded_time, of the reference; speed, of play; height
/// and recorded_height of the centre of mass; root_x, root_y, root_z, the shift of the root; joint, the largest angle
/// by which one is turned [s, m, rad].
std::string FormatRepair(const Repair& repair, double frame_time);

}  // namespace retrace::repair
