#include <nlohmann/json.hpp>

#include "feedback_numbers.h"
#include "retrace/character/limits.h"
#include "retrace/control/feedback.h"
#include "retrace/io/error.h"
#include "retrace/io/file.h"
#include "retrace/io/json.h"

namespace retrace::control {
namespace {

constexpr const char* kFormat = "retrace-feedback";
constexpr int kMostAxes = 3 * character::kMostBodies;
constexpr size_t kLongestHeader = 4096;

/// Sizes as the header has them.
struct Sizes {
  size_t nodes = 0, joints = 0, coordinates = 0, torques = 0;

  size_t NumDoubles() const { return (nodes + 1) * (3 + 4 + 4 * joints + coordinates) + torques; }
  size_t NumFloats() const { return nodes * 2 * coordinates * torques; }
  size_t NumBytes() const { return NumDoubles() * sizeof(double) + NumFloats() * sizeof(float); }
};

}  // namespace

std::string FormatFeedback(const Feedback& feedback) {
  std::string numbers;
  for (const dynamics::MotionPoint& point : feedback.nominal) AppendPoint(numbers, point);
  Append(numbers, feedback.largest_torque.data(), static_cast<size_t>(feedback.largest_torque.size()));
  Append(numbers, feedback.gains.data(), feedback.gains.size());
  const io::Json header = {{"format", kFormat},
                           {"version", 1},
                           {"control_sha256", feedback.control_sha256},
                           {"character_sha256", feedback.character_sha256},
                           {"first_step", feedback.first_step},
                           {"num_steps", feedback.num_steps},
                           {"interval", feedback.interval},
                           {"full_servos", feedback.full_servos},
                           {"nodes", feedback.num_nodes()},
                           {"joints", feedback.nominal.front().pose.joint_rotations.size()},
                           {"coordinates", feedback.num_differences() / 2},
                           {"torques", feedback.num_torques()},
                           {"numbers_sha256", io::Sha256(numbers)}};
  return io::Dump(header) + "\n" + numbers;
}

Feedback ParseFeedback(std::string_view bytes, const std::string& name) {
  const size_t end = bytes.substr(0, kLongestHeader).find('\n');
  if (end == std::string_view::npos || !bytes.starts_with('{')) {
    throw InputError(name, "another format", "feedback that stabilize wrote: a line of JSON, then numbers");
  }
  const io::Json json = io::ParseJson(std::string(bytes.substr(0, end)), name);
  const io::JsonView header(json, name);
  if (!header.Has("format") || header["format"].json() != kFormat) header.Fail("another format", "feedback");
  header["version"].Integer(1, 1);
  Feedback feedback;
  feedback.control_sha256 = header["control_sha256"].String();
  feedback.character_sha256 = header["character_sha256"].String();
  feedback.first_step = header["first_step"].Integer(0, character::kMostSteps);
  feedback.num_steps = header["num_steps"].Integer(1, character::kMostSteps);
  feedback.interval = header["interval"].Integer(1, character::kMostSteps);
  feedback.full_servos = header["full_servos"].Boolean();
  const auto count = [&](const char* key, int least, int most) {
    return static_cast<size_t>(header[key].Integer(least, most));
  };
  const Sizes sizes{count("nodes", 1, character::kMostSteps), count("joints", 0, character::kMostBodies),
                    count("coordinates", 6, 6 + kMostAxes), count("torques", 0, kMostAxes)};
  const int nodes = (feedback.num_steps + feedback.interval - 1) / feedback.interval;
  if (sizes.nodes != static_cast<size_t>(nodes)) {
    header["nodes"].Expect(std::to_string(nodes) + ", one for each interval of the steps");
  }
  if (sizes.coordinates != sizes.torques + 6) header["coordinates"].Expect("6 more than torques");
  const std::string_view numbers = bytes.substr(end + 1);
  if (numbers.size() != sizes.NumBytes()) {
    throw InputError(name, std::to_string(numbers.size()) + " bytes after the first line",
                     std::to_string(sizes.NumBytes()) + " by the sizes in it");
  }
  if (io::Sha256(numbers) != header["numbers_sha256"].String()) {
    throw InputError(name, "other numbers than were written", "the bytes that stabilize wrote");
  }
  Numbers reader(numbers, name);
  feedback.nominal.resize(sizes.nodes + 1);
  for (dynamics::MotionPoint& point : feedback.nominal) reader.Take(point, sizes.joints, sizes.coordinates);
  feedback.largest_torque.resize(static_cast<Eigen::Index>(sizes.torques));
  reader.Take(feedback.largest_torque.data(), sizes.torques);
  if ((feedback.largest_torque.array() < 0).any()) throw InputError(name, "a negative torque", "largest torques");
  feedback.gains.resize(sizes.NumFloats());
  reader.Take(feedback.gains.data(), feedback.gains.size());
  return feedback;
}

}  // namespace retrace::control
