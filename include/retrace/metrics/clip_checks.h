/// What a recording shows before anything is simulated: its contacts, its free flight, and what looks wrong.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "retrace/character/reference.h"
#include "retrace/io/json.h"
#include "retrace/motion/clip.h"

namespace retrace::metrics {

/// A stretch of time [s].
struct Interval {
  double start = 0;
  double end = 0;
};

/// Whether a body touches the floor at each pose of a reference (motion::DetectContact on its lowest point).
std::vector<bool> TouchesFloor(const character::ReferenceMotion& reference, const std::vector<character::State>& states,
                               int body);

/// Height of the lowest point of a body over what is under it [m].
using BodyHeight = std::function<double(const character::Body& body, const character::BodyState& state)>;

/// The same on a surface that is not a plane.
std::vector<bool> Touches(const character::ReferenceMotion& reference, const std::vector<character::State>& states,
                          int body, const BodyHeight& height_of);

/// The stretches in which a flag holds.
std::vector<Interval> Stretches(const std::vector<bool>& flags, double frame_time);

/// Second derivative of the parabola that fits heights best, of which one is taken every `frame_time`, downwards: of a
/// body that falls 9.81 [m/s^2].
double DownwardAcceleration(const std::vector<double>& heights, double frame_time);

/// A stretch in which nothing is near the floor.
struct FreeFlight {
  Interval interval;
  double acceleration = 0;  ///< of the centre of mass, downwards, by the parabola that fits its height [m/s^2]
};

/// A stretch in which the body rests on something that is not the floor: a seat, a rail, another person.
struct Support {
  Interval interval;
  double height = 0;  ///< of the lowest point of the root's body over the floor, in the median [m]
};

/// Something that is probably wrong with the recording or with how it was interpreted.
struct ClipWarning {
  double time = 0;  ///< when it is worst [s]
  std::string
      kind;  ///< flight_speed, jump, knee, hand, hands_under_floor, sliding, floating, support, speed, start_velocity
  std::string text;
};

struct ClipChecks {
  std::vector<std::pair<std::string, std::vector<Interval>>> contacts;  ///< by end effector
  std::vector<FreeFlight> flights;
  std::vector<Support> supports;
  double flight_acceleration = 0;  ///< mean over all flights by their length; 0 without one [m/s^2]
  double time_scale = 1;           ///< by which durations must be multiplied for it to be 9.81 m/s^2
  std::vector<ClipWarning> warnings;

  io::Json ToJson() const;
};

/// Checks a reference; `clip` is the recording that it was made from, and `report` how.
ClipChecks CheckClip(const character::ReferenceMotion& reference, const motion::Clip& clip,
                     const character::ReferenceReport& report);

}  // namespace retrace::metrics
