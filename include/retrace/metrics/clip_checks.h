/// What a recording shows before anything is simulated: its contacts, its free flight, and what looks wrong.
#pragma once

#include <string>
#include <vector>

#include "retrace/character/reference_motion.h"
#include "retrace/io/json.h"
#include "retrace/metrics/clip_warning.h"
#include "retrace/metrics/intervals.h"
#include "retrace/metrics/recorded_ground.h"
#include "retrace/metrics/support_checks.h"
#include "retrace/motion/clip.h"
#include "retrace/retargeting/reference_report.h"

namespace retrace::metrics {

/// Second derivative of the parabola that fits heights best, of which one is taken every `frame_time`, downwards: of a
/// body that falls 9.81 [m/s^2].
double DownwardAcceleration(const std::vector<double>& heights, double frame_time);

/// A stretch in which nothing is near the floor.
struct FreeFlight {
  Interval interval;
  double acceleration = 0;  ///< of the center of mass, downwards, by the parabola that fits its height [m/s^2]
};

struct ClipChecks {
  std::vector<std::pair<std::string, std::vector<Interval>>> contacts;  ///< by end effector
  std::vector<FreeFlight> flights;
  std::vector<Support> supports;
  RecordedGround ground;           ///< what the motion stands and sits on beside the floor
  double flight_acceleration = 0;  ///< mean over all flights by their length; 0 without one [m/s^2]
  double time_scale = 1;           ///< by which durations must be multiplied for it to be 9.81 m/s^2
  std::vector<ClipWarning> warnings;

  io::Json ToJson() const;
};

/// Checks a reference; `clip` is the recording that it was made from, and `report` how.
ClipChecks CheckClip(const character::ReferenceMotion& reference, const motion::Clip& clip,
                     const character::ReferenceReport& report);

}  // namespace retrace::metrics
