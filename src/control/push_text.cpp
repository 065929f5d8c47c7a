#include "retrace/control/push_text.h"

#include <vector>

#include "retrace/io/error.h"
#include "retrace/io/number.h"
#include "retrace/io/split_text.h"

namespace retrace::control {
namespace {

constexpr const char* kSyntax = "BODY,FX:FY:FZ,START,DURATION, e.g. trunk,0:0:100,1.5,0.2 (N in world axes, s)";

[[noreturn]] void Refuse(const std::string& text, const std::string& found, const std::string& expected) {
  std::string message = "push " + text;
  message += ": found " + found;
  message += ", expected " + expected;
  throw UsageError(message);
}

bool InMotion(double time, double motion_duration) {
  return time >= 0 && time < motion_duration;
}

std::string InstantsOf(double motion_duration) {
  return "an instant of the motion, 0 to " + io::Fixed(motion_duration, 2) + " s";
}

}  // namespace

Push ParsePush(const std::string& text, const Scene& scene) {
  return ParsePush(text, scene, scene.duration());
}

Push ParsePush(const std::string& text, const Scene& scene, double motion_duration) {
  const std::vector<std::string> parts = io::Split(text, ',');
  if (parts.size() != 4) Refuse(text, std::to_string(parts.size()) + " parts between commas", kSyntax);
  Push push;
  push.body = FindBody(scene, parts[0]);
  if (push.body < 0) Refuse(text, "the body \"" + parts[0] + "\"", "one of " + NamesOfBodies(scene));
  const std::vector<std::string> force = io::Split(parts[1], ':');
  bool good = force.size() == 3;
  for (size_t k = 0; good && k < 3; ++k) {
    double& component = push.force[static_cast<int>(k)];
    good = io::ParseNumber(force[k], component) && kPushForces.Contains(component);
  }
  if (!good || push.force.isZero(0)) {
    Refuse(text, "the force \"" + parts[1] + "\"", "three numbers FX:FY:FZ from -1e+06 to 1e+06, not all 0");
  }
  if (!io::ParseNumber(parts[2], push.start) || !InMotion(push.start, motion_duration)) {
    Refuse(text, "the start \"" + parts[2] + "\"", InstantsOf(motion_duration));
  }
  if (!io::ParseNumber(parts[3], push.duration) || !kPushDurations.Contains(push.duration)) {
    Refuse(text, "the duration \"" + parts[3] + "\"", "a number of seconds above 0, at most 1e+05");
  }
  return push;
}

std::string Describe(const Scene& scene, const Push& push) {
  std::string text = BodyName(scene, push.body) + " by ";
  for (int k = 0; k < 3; ++k) text.append(k > 0 ? ":" : "").append(io::Number(push.force[k]));
  return text + " N from " + io::Fixed(push.start, 2) + " to " + io::Fixed(push.end(), 2) + " s";
}

}  // namespace retrace::control
