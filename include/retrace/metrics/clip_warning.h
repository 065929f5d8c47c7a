/// What looks wrong in a recording.
#pragma once

#include <string>

namespace retrace::metrics {

/// Something that is probably wrong with the recording or with how it was interpreted.
struct ClipWarning {
  double time = 0;   ///< when it is worst [s]
  std::string kind;  ///< flight_speed, jump, knee, hand, hands_under_floor, sliding, floating, support, unsupported,
                     ///< speed, start_velocity, mass, and those of character::Doubt
  std::string text;
};

}  // namespace retrace::metrics
