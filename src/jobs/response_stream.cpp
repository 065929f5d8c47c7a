#include "retrace/jobs/response_stream.h"

#include <algorithm>
#include <stdexcept>

#include "retrace/io/error.h"
#include "retrace/io/nearest_words.h"
#include "retrace/io/number.h"
#include "retrace/io/split_text.h"
#include "retrace/jobs/learned_response.h"
#include "retrace/jobs/response_examples.h"

namespace retrace::runs {
namespace {

constexpr double kMostForce = 1e5;   // [N]
constexpr double kLongestPush = 60;  // [s]
constexpr double kMostPoses = 1e6;   // that one line asks for

response_model::ResponsePlayer PlayerOf(const std::vector<const response_model::ResponseModel*>& models,
                                        const response_model::SynthesisOptions& options) {
  try {
    return response_model::ResponsePlayer(models, options);
  } catch (const std::invalid_argument& error) {
    throw InputError("models", error.what(), "models of one character that were learned with one normal motion");
  }
}

void AppendNumbers(std::initializer_list<double> numbers, std::string& line) {
  for (const double number : numbers) line.append(",").append(io::Number(number));
}

void AppendQuaternion(const Quat& q, std::string& line) {
  AppendNumbers({q.w(), q.x(), q.y(), q.z()}, line);
}

}  // namespace

ResponseStream::ResponseStream(const std::vector<const response_model::ResponseModel*>& models,
                               const response_model::SynthesisOptions& options)
    : player_(PlayerOf(models, options)), model_(*models.front()) {
  response_model::Example beginning = model_.examples.front();
  beginning.poses.resize(4);
  player_.Start(beginning, 3);
}

std::string ResponseStream::Header() const {
  std::string header = "time,deviation,root_x,root_y,root_z";
  const auto rotation = [&](const std::string& name) {
    for (const char* part : {"_qw", "_qx", "_qy", "_qz"}) header.append(",").append(name).append(part);
  };
  rotation("root");
  for (const character::Joint& joint : model_.character->joints) rotation(joint.name);
  return header + "\n";
}

void ResponseStream::Fail(const std::string& found, const std::string& expected) const {
  throw InputError("standard input:" + std::to_string(lines_), found, expected);
}

response_model::Push ResponseStream::ParsePush(std::string_view line) const {
  const std::vector<std::string> parts = io::Split(std::string(line), ',');
  if (parts.size() != 3 && parts.size() != 4) {
    Fail("\"" + std::string(line) + "\"",
         "an empty line for the next pose, a number of poses, or a push BODY,FX:FY:FZ,DURATION[,X:Y:Z]");
  }
  response_model::Push push;
  const character::Character& character = *model_.character;
  push.body = character.FindBody(parts[0]);
  if (push.body < 0) {
    std::vector<std::string> names;
    for (const character::Body& body : character.bodies) names.push_back(body.name);
    const std::string meant = io::DidYouMean(parts[0], names);
    Fail("no body \"" + parts[0] + "\"", "one of " + character.name + (meant.empty() ? "" : "; " + meant));
  }
  const auto number = [&](const std::string& text, double least, double most) {
    double value = 0;
    if (!io::ParseNumber(text, value) || !(value >= least && value <= most)) {
      Fail("\"" + text + "\"", "a number from " + io::Number(least) + " to " + io::Number(most));
    }
    return value;
  };
  const auto vector = [&](const std::string& text, double most) {
    const std::vector<std::string> axes = io::Split(text, ':');
    if (axes.size() != 3) Fail("\"" + text + "\"", "three numbers with colons between");
    return Vec3(number(axes[0], -most, most), number(axes[1], -most, most), number(axes[2], -most, most));
  };
  push.force = vector(parts[1], kMostForce);
  // A push acts on the poses around it, too (ShareOf): from the present one on a part of it would be lost.
  push.start = player_.time() + model_.options.features.frame_time;
  push.duration = number(parts[2], 0, kLongestPush);
  if (parts.size() == 4) push.point = vector(parts[3], kFarthestPushPoint);
  return push;
}

std::string ResponseStream::Pose() {
  const Vec3 before = player_.pose().root_position;
  const response_model::SynthesisRecord& record = player_.Step(pushes_);
  most_deviation_ = std::max(most_deviation_, record.deviation);
  const double now = player_.time();
  const double dt = model_.options.features.frame_time;
  std::erase_if(pushes_, [&](const response_model::Push& push) { return push.end() + dt <= now; });
  const character::Pose& pose = player_.pose();
  const double speed = (pose.root_position - before).norm() / dt;
  if (!(speed <= kFastestSynthesis)) {
    Fail("pushes under which the root moves at " + io::Number(speed) + " m/s",
         "pushes like those of the model's examples");
  }
  std::string line = io::Number(now);
  AppendNumbers({record.deviation, pose.root_position.x(), pose.root_position.y(), pose.root_position.z()}, line);
  AppendQuaternion(pose.root_orientation, line);
  for (const Quat& rotation : pose.joint_rotations) AppendQuaternion(rotation, line);
  return line + "\n";
}

std::string ResponseStream::Answer(std::string_view line) {
  ++lines_;
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  if (line.empty()) return Pose();
  double count = 0;
  if (!io::ParseNumber(line, count)) {
    pushes_.push_back(ParsePush(line));
    return "";
  }
  if (!(count >= 1 && count <= kMostPoses) || count != static_cast<double>(static_cast<size_t>(count))) {
    Fail("\"" + std::string(line) + "\"", "a whole number of poses from 1 to " + io::Number(kMostPoses));
  }
  std::string poses;
  for (auto k = static_cast<size_t>(count); k > 0; --k) poses += Pose();
  return poses;
}

bool ResponseStream::doubtful() const {
  return most_deviation_ > kFarDeviation;
}

}  // namespace retrace::runs
