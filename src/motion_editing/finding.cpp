#include "retrace/motion_editing/finding.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "retrace/io/number.h"

namespace retrace::repair {

const char* NameOf(Kind kind) {
  switch (kind) {
    case Kind::kFall:
      return "fall";
    case Kind::kSkim:
      return "skim";
    case Kind::kUnsupported:
      return "unsupported";
    case Kind::kTremble:
      return "tremble";
    case Kind::kDrift:
      return "drift";
    case Kind::kSlide:
      return "slide";
    case Kind::kStance:
      return "stance";
    case Kind::kFloat:
      return "float";
    case Kind::kPull:
      return "pull";
    case Kind::kPress:
      break;
  }
  return "press";
}

std::string Finding::Text() const {
  std::string text = "from " + io::Fixed(interval.start, 2);
  text.append(" to ").append(io::Fixed(interval.end, 2)).append(" s ");
  switch (kind) {
    case Kind::kFall:
      return text.append("the body falls at ").append(io::Fixed(value, 1)).append(" m/s2");
    case Kind::kSkim:
      return text.append("nothing stands on the floor, feet are next to it, and the body falls at ")
          .append(io::Fixed(value, 1))
          .append(" m/s2");
    case Kind::kUnsupported:
      return text.append("the body is in the air and falls at ").append(io::Fixed(value, 1)).append(" m/s2");
    case Kind::kTremble:
      return text.append("everything trembles: the moment that is missing is ")
          .append(io::Fixed(value, 2))
          .append(" m by the weight, and little of it remains where that is smoothed");
    case Kind::kDrift:
      return text.append("the floor under the feet drifts by up to ").append(io::Fixed(value, 2)).append(" m");
    case Kind::kSlide:
      return text.append("feet slide that carry the body, at ")
          .append(io::Fixed(value, 2))
          .append(" m/s in the median");
    case Kind::kStance:
      return text.append(body)
          .append(" stands ")
          .append(io::Fixed(std::abs(value), 3))
          .append(value > 0 ? " m over the floor" : " m under the floor");
    case Kind::kFloat:
      return text.append("nothing touches the floor and the body hardly falls, up to ")
          .append(io::Fixed(value, 3))
          .append(" m over it");
    case Kind::kPull:
      return text.append("the ground would have to pull by ").append(io::Fixed(-value, 1)).append(" of the weight");
    case Kind::kPress:
      break;
  }
  return text.append("the ground would have to press with ").append(io::Fixed(value, 1)).append(" times the weight");
}

io::Json Finding::ToJson() const {
  io::Json json = {
      {"kind", NameOf(kind)}, {"start", interval.start}, {"end", interval.end}, {"value", value}, {"text", Text()}};
  if (!body.empty()) json["body"] = body;
  return json;
}

}  // namespace retrace::repair
