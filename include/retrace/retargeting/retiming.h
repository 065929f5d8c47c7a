/// A part of a clip that is played at another speed than the rest.
#pragma once

#include <string>
#include <vector>

#include "retrace/io/describe.h"

namespace retrace::character {

inline constexpr io::Range kInstants{0, 86400};  ///< of a clip [s]
inline constexpr io::Range kTimeScales{0.01, 100};

/// A part of the recording whose durations are multiplied by a factor.
struct Retiming {
  double start = 0;  ///< of the part, in the time of the recording [s]
  double end = 0;    ///< [s]
  double scale = 1;  ///< 2 plays it at half speed
};

/// START-END:FACTOR, such as 1.2-1.8:1.5. Throws UsageError for another text, for a part of less than 0.05 s and for a
/// factor out of range.
Retiming ParseRetiming(const std::string& text);
/// The same as a text that ParseRetiming reads.
std::string Format(const Retiming& retiming);

/// The time of a recording by the time in which it is played. The playback speed goes over to that of a retimed part
/// smoothly, within 0.2 s about each end of it (less beside a short part, and at once at an end of the whole); a part
/// lasts exactly its factor times as long.
class PlaybackClock {
 public:
  /// @param start, end of what is played, in the time of the recording [s]
  /// @param scale factor on all durations
  /// @param name of the recording, for messages. Throws UsageError where a retimed part is not between start and end,
  /// or where two overlap.
  PlaybackClock(double start, double end, double scale, std::vector<Retiming> retimings, const std::string& name);

  /// Time of play at an instant of the recording, 0 at the start, below 0 before it [s].
  double PlayedTime(double recorded) const;
  /// The reverse [s].
  double RecordedTime(double played) const;
  /// Durations of play over those of the recording at an instant of the recording.
  double SlownessAt(double recorded) const;

 private:
  struct Part {
    Retiming retiming;
    double start_ramp = 0, end_ramp = 0;  // half widths [s]
  };
  double Retimed(double recorded) const;

  double start_, scale_;
  std::vector<Part> parts_;  // one after the other
};

}  // namespace retrace::character
