#include "retrace/kinetics/foot_model.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>

namespace retrace::kinetics {
namespace {

// Shares of the height. Lengths of feet: Winter 2009, figure 4.1; their widths: Drillis and Contini 1966.
constexpr double kFootOfHeight = 0.152;
constexpr double kHeelOfFoot = 0.21;  // what carries load behind the ankle
constexpr double kBallOfFoot = 0.48;  // before the ankle
constexpr double kToesOfFoot = 0.27;  // before the ball
constexpr double kShoe = 0.01;        // before the toes [m]
constexpr double kHeelWidthOfFoot = 0.22;
constexpr double kBallWidthOfFoot = 0.36;
// A recorded length over that of the height is believed between these.
constexpr double kShortest = 0.75;
constexpr double kLongest = 1.33;
constexpr size_t kMostFrames = 200;  // that are looked at

/// Where a foot has its joint and the lowest point of its shapes.
std::optional<FootModel> BareFoot(const character::Character& character, const std::string& segment) {
  for (const character::Joint& joint : character.joints) {
    const character::Body& body = character.bodies[static_cast<size_t>(joint.child)];
    if (body.segment != segment) continue;
    FootModel foot;
    foot.body = joint.child;
    foot.ankle = joint.anchor - body.rest_position;
    double lowest = std::numeric_limits<double>::infinity();
    for (const character::Shape& shape : body.shapes) {
      lowest = std::min(lowest, shape.offset.y() - shape.HalfExtents().y());
    }
    foot.sole = foot.ankle.y() - lowest;
    return foot;
  }
  return std::nullopt;
}

double MedianOf(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

bool Believed(double length, double usual) {
  return length > kShortest * usual && length < kLongest * usual;
}

/// Distance of the ball before the ankle, over the ground, of a foot whose joint of the toes is so far from the ankle.
double Ahead(double length, double ankle_height) {
  constexpr double kToeHeight = 0.35;  // of the joint of the toes, as a share of the ankle's
  const double drop = (1 - kToeHeight) * ankle_height;
  return std::sqrt(std::max(0.0, length * length - drop * drop));
}

}  // namespace

std::vector<FootModel> FootModelsOf(const character::Character& character) {
  std::vector<FootModel> feet;
  for (const char* segment : {"left_foot", "right_foot"}) {
    std::optional<FootModel> foot = BareFoot(character, segment);
    if (!foot) continue;
    const double length = kFootOfHeight * character.height;
    foot->heel = kHeelOfFoot * length;
    foot->ball = kBallOfFoot * length;
    foot->toes = kToesOfFoot * length + kShoe;
    foot->half_heel = 0.5 * kHeelWidthOfFoot * length;
    foot->half_ball = 0.5 * kBallWidthOfFoot * length;
    feet.push_back(*foot);
  }
  return feet;
}

std::vector<FootModel> FootModelsOf(const character::Character& character, const motion::Clip& clip,
                                    const character::ReferenceReport& report) {
  std::vector<FootModel> feet = FootModelsOf(character);
  const auto& segments = report.map.segments;
  motion::GlobalPose pose;
  std::vector<double> lengths;
  for (const std::string side : {"left_", "right_"}) {
    const auto foot = segments.find(side + "foot"), toe = segments.find(side + "toe");
    if (foot == segments.end() || toe == segments.end()) continue;
    const size_t stride = 1 + clip.frames.size() / kMostFrames;
    for (size_t f = 0; f < clip.frames.size(); f += stride) {
      motion::ForwardKinematics(clip.skeleton, clip.frames[f], pose);
      lengths.push_back(report.scale * (pose.positions[static_cast<size_t>(toe->second.position)] -
                                        pose.positions[static_cast<size_t>(foot->second.position)])
                                           .norm());
    }
  }
  if (lengths.empty()) return feet;
  const double recorded = MedianOf(lengths);  // both feet of a person are alike
  for (FootModel& foot : feet) {
    const double ball = Ahead(recorded, foot.sole);
    if (Believed(ball, foot.ball)) foot.ball = ball;
  }
  return feet;
}

}  // namespace retrace::kinetics
