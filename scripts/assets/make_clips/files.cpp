#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

#include "clips.h"
#include "retrace/io/number.h"
#include "retrace/recordings/asf_amc.h"
#include "retrace/recordings/bvh.h"

namespace retrace::make_clips {

namespace {

constexpr int kDecimals = 6;

// The same text from `begin` on with every longer number cut to six decimals. A micrometer and a millionth of a degree
// are nothing in a motion; but the last bits of sines differ between mathematical libraries, and the files must not.
std::string Rounded(const std::string& text, size_t begin) {
  std::string result = text.substr(0, begin);
  for (size_t i = begin; i < text.size();) {
    const size_t space = text.find_first_not_of(" \t\n", i);
    const size_t start = space == std::string::npos ? text.size() : space;
    result.append(text, i, start - i);
    const size_t end = std::min(text.find_first_of(" \t\n", start), text.size());
    const std::string_view token = std::string_view(text).substr(start, end - start);
    double value;
    if (token.find_first_of(".e") == std::string_view::npos || !io::ParseNumber(token, value)) {
      result += token;
    } else {
      const double quantum = std::pow(10, -kDecimals);
      // Adding zero turns -0 into 0.
      io::AppendNumber(result, std::abs(value) < 0.5 * quantum ? 0.0 : std::stod(io::Fixed(value, kDecimals)) + 0.0);
    }
    i = end;
  }
  return result;
}

std::string Bvh(const motion::Clip& clip) {
  const std::string text = motion::FormatBvh(clip);
  const size_t frame_time = text.find("Frame Time:");
  return Rounded(text, text.find('\n', frame_time));
}

std::string Amc(const motion::Clip& clip) {
  const std::string text = motion::FormatAmc(clip);
  return Rounded(text, text.find("\n1\n"));
}

}  // namespace

std::vector<ClipText> MakeFiles() {
  const motion::Clip squat = MakeSquat();
  return {{"walk.bvh", Bvh(MakeWalk())}, {"roll_sideways.bvh", Bvh(MakeRoll())},  {"stand.bvh", Bvh(MakeStand())},
          {"squat.bvh", Bvh(squat)},     {"squat.asf", motion::FormatAsf(squat)}, {"squat.amc", Amc(squat)},
          {"trot.bvh", Bvh(MakeTrot())}};
}

ClipText MakeLongWalk(double duration) {
  return {"long_walk.bvh", Bvh(MakeWalk(duration))};
}

}  // namespace retrace::make_clips
