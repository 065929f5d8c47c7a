/// Something in a reference that no body can perform (findings.h).
#pragma once

#include <string>

#include "retrace/io/json.h"
#include "retrace/metrics/intervals.h"

namespace retrace::repair {

enum class Kind {
  kFall,         ///< a flight in which the body falls at another rate than gravity has
  kSkim,         ///< a body that does not fall over feet that move too fast to carry it: a flight that was cut off
  kUnsupported,  ///< nothing is near the floor and the body hardly falls, or far too fast: no repair is known
  kTremble,      ///< everything trembles: a short smoothing leaves little of the moment that is missing
  kDrift,        ///< the floor that the steps of a body show, whose feet slide, rises and sinks
  kSlide,        ///< feet slide that carry the body
  kStance,       ///< a foot stands over the floor or under it
  kFloat,        ///< an upright body is a little over the floor, hardly falls, and no foot stands
  kPull,         ///< the ground would have to pull a body that it carries
  kPress,        ///< the ground would have to press harder than legs can
};
const char* NameOf(Kind kind);

struct Finding {
  Kind kind = Kind::kFall;
  metrics::Interval interval;  ///< [s]
  double value = 0;  ///< fall and skim: downward acceleration [m/s^2]; tremble: moment that is missing, by the
                     ///< weight [m]; drift: height of the floor where it is farthest off [m]; slide: speed in the
                     ///< median [m/s]; stance: height of the sole [m]; float: that of the lowest point where it is
                     ///< highest [m]; pull and press: the worst force of the ground upwards as a share of the weight
  std::string body;  ///< of a stance

  bool repairable() const { return kind != Kind::kUnsupported; }
  /// "from 0.33 to 0.65 s the body falls at 56.7 m/s2".
  std::string Text() const;
  io::Json ToJson() const;
};

}  // namespace retrace::repair
