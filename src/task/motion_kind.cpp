#include "retrace/task/motion_kind.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "retrace/character/kinematics.h"
#include "retrace/metrics/surface.h"

namespace retrace::task {
namespace {

constexpr double kTouching = 0.03;     // [m] a body whose lowest point is below this rests on the floor
constexpr double kFlight = 0.05;       // [m] nothing below this: flight
constexpr double kShortFlight = 0.06;  // [s] shorter gaps are errors of capture

using character::Part;

bool IsArm(Part part) {
  return part == Part::kHand || part == Part::kLowerArm;
}
bool IsLowerLeg(Part part) {
  return part == Part::kFoot || part == Part::kLowerLeg;
}

}  // namespace

std::string Name(MotionKind kind) {
  switch (kind) {
    case MotionKind::kLocomotion:
      return "locomotion";
    case MotionKind::kFlight:
      return "flight";
    case MotionKind::kHands:
      return "hands";
    case MotionKind::kGetUp:
      return "get_up";
    case MotionKind::kRoll:
      return "roll";
  }
  return "";
}

io::Json MotionKindReport::ToJson() const {
  return {{"kind", Name(kind)},
          {"trunk_on_ground", trunk_on_ground},
          {"hands_on_ground", hands_on_ground},
          {"in_flight", in_flight},
          {"rise", rise}};
}

MotionKindReport ClassifyMotion(const character::ReferenceMotion& reference, const simulation::Environment* ground) {
  const character::Character& character = reference.character();
  const simulation::Environment plane;
  const metrics::Surface surface(ground == nullptr ? plane : *ground);
  const size_t n = reference.poses().size();
  size_t trunk = 0;
  size_t hands = 0;
  size_t flight = 0;
  size_t flight_run = 0;
  const auto end_flight = [&] {
    if (static_cast<double>(flight_run) * reference.frame_time() >= kShortFlight) flight += flight_run;
    flight_run = 0;
  };
  double lowest_root = std::numeric_limits<double>::infinity();
  character::State state;
  for (const character::Pose& pose : reference.poses()) {
    character::ForwardKinematics(character, pose, state);
    double low_trunk = std::numeric_limits<double>::infinity();
    double low_arm = low_trunk;
    double low_leg = low_trunk;
    double lowest = low_trunk;
    for (size_t b = 0; b < state.size(); ++b) {
      const double over = surface.HeightOf(character.bodies[b], state[b]);
      lowest = std::min(lowest, over);
      const bool limb = IsArm(character.bodies[b].part) || IsLowerLeg(character.bodies[b].part);
      const double low = limb ? over : character::LowestPoint(character.bodies[b], state[b]);
      double& group = IsArm(character.bodies[b].part)        ? low_arm
                      : IsLowerLeg(character.bodies[b].part) ? low_leg
                                                             : low_trunk;
      group = std::min(group, low);
    }
    trunk += low_trunk < kTouching;
    hands += low_arm < kTouching;
    if (lowest > kFlight) {
      ++flight_run;
    } else {
      end_flight();
    }
    lowest_root = std::min(lowest_root, pose.root_position.y());
  }
  end_flight();
  MotionKindReport report;
  const double total = static_cast<double>(n);
  report.trunk_on_ground = static_cast<double>(trunk) / total;
  report.hands_on_ground = static_cast<double>(hands) / total;
  report.in_flight = static_cast<double>(flight) / total;
  const double standing = character.bodies[static_cast<size_t>(character.root)].rest_position.y();
  report.rise = (reference.poses().back().root_position.y() - lowest_root) / standing;
  const bool turned_over = [&] {  // a roll that ends on its feet is still a roll: the head passes below the hips
    for (const character::Pose& pose : reference.poses()) {
      if ((pose.root_orientation * Vec3::UnitY()).y() < -0.5) return true;
    }
    return false;
  }();
  if (report.trunk_on_ground > 0.05) {
    report.kind = report.rise > 0.5 && !turned_over ? MotionKind::kGetUp : MotionKind::kRoll;
  } else if (report.hands_on_ground > 0.05) {
    report.kind = MotionKind::kHands;
  } else if (report.in_flight > 0) {
    report.kind = MotionKind::kFlight;
  }
  return report;
}

CostWeights PresetWeights(MotionKind kind) {
  switch (kind) {
    case MotionKind::kLocomotion:
      return {5, 3, 30, 10};
    case MotionKind::kFlight:
      return {8, 5, 30, 20};
    case MotionKind::kHands:
    case MotionKind::kGetUp:
      return {8, 5, 20, 20};
    case MotionKind::kRoll:
      return {8, 5, 0, 20};
  }
  return {};
}

std::string PresetContacts(MotionKind kind) {
  switch (kind) {
    case MotionKind::kFlight:
      return "flight";
    case MotionKind::kHands:
    case MotionKind::kGetUp:
      return "hands";
    case MotionKind::kLocomotion:
    case MotionKind::kRoll:
      return "none";
  }
  return "none";
}

}  // namespace retrace::task
