#include "floor_fit.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "retrace/character/kinematics.h"
#include "retrace/math/rotation.h"
#include "retrace/math/types.h"

namespace retrace::character {
namespace {

constexpr double kUprightRoot = 0.55;   // height of the root over the feet, as a share of that at rest
constexpr double kPlantedSpeed = 0.35;  // [m/s]
constexpr double kBeside = 0.03;        // of the lower foot: the other one stands as well [m]
constexpr double kReach = 0.10;         // of heights that are of one floor, however it is tilted [m]
constexpr double kStepReach = 0.05;     // the same where steps were found [m]
constexpr double kUnder = 0.05;         // from here on feet are under a floor [m]
constexpr double kShowsFloor = 0.15;    // feet that stand so long under a floor show that it is none [s]
constexpr double kShowsLevel = 0.25;    // and over it that there is something to stand on [s]
constexpr double kSameLevel = 0.06;     // heights within it are one level [m]
const double kFlat = std::cos(Radians(15));
constexpr double kFarthest = 1e9;  // [m]
const double kLargestTilt = Radians(6);
constexpr double kUneven = 0.12;      // ground that is walked along is one floor in spite of so much [m]
constexpr double kWalkedAlong = 0.5;  // standard deviation of positions on it [m]
constexpr int kMostLevels = 16;
constexpr std::ptrdiff_t kFewest = 20;  // planted feet that show a floor
constexpr double kFlightWindow = 0.05;  // half of the time over which the fall of the body is measured [s]
constexpr double kFalls = 0.7;          // a body that falls with this share of gravity is not carried
constexpr double kFarUnder = 0.12;      // a body that is carried so far under a floor stands on another one [m]
constexpr double kSteady = 0.15;        // and its lowest foot then neither rises nor sinks faster [m/s]
constexpr double kOftenOver = 0.5;      // feet that stand so long over a floor show that not all is one floor [s]
const double kLevelSole = std::cos(Radians(8));

bool IsFoot(const Body& body) {
  return body.part == Part::kFoot;
}

double LowestFoot(const Character& character, const State& state) {
  double lowest = std::numeric_limits<double>::infinity();
  for (size_t b = 0; b < state.size(); ++b) {
    if (IsFoot(character.bodies[b])) lowest = std::min(lowest, LowestPoint(character.bodies[b], state[b]));
  }
  return lowest;
}

double MedianHeight(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// The lowest level at which many of the heights are; nothing where they are few or scattered.
std::optional<double> LowestLevel(std::vector<double> heights, size_t many) {
  std::sort(heights.begin(), heights.end());
  size_t end = 0;
  for (size_t first = 0; first < heights.size(); ++first) {
    while (end < heights.size() && heights[end] <= heights[first] + kSameLevel) ++end;
    if (end - first >= many) return heights[first + (end - first) / 2];
  }
  return std::nullopt;
}

/// In which poses the body falls freely.
std::vector<bool> FallingFreely(const std::vector<double>& heights, double rate) {
  std::vector<bool> falls(heights.size(), false);
  const auto reach = static_cast<size_t>(std::max(1L, std::lround(kFlightWindow * rate)));
  const double span = static_cast<double>(reach) / rate;
  for (size_t f = 0; f < heights.size(); ++f) {
    if (heights.size() < 2 * reach + 1) break;
    const size_t at = std::clamp(f, reach, heights.size() - 1 - reach);
    const double acceleration = (heights[at + reach] - 2 * heights[at] + heights[at - reach]) / (span * span);
    falls[f] = acceleration < -kFalls * kStandardGravity;
  }
  return falls;
}

}  // namespace

FloorFit::FloorFit(const Character& character, const std::vector<Pose>& poses, double rate)
    : rate_(rate), planar_(character.planar) {
  std::vector<State> states(poses.size());
  std::vector<double> centers;
  for (size_t f = 0; f < poses.size(); ++f) {
    ForwardKinematics(character, poses[f], states[f]);
    centers.push_back(CenterOfMass(character, states[f]).y());
  }
  const std::vector<bool> falls = FallingFreely(centers, rate);
  const double upright = character.bodies[static_cast<size_t>(character.root)].rest_position.y();
  std::vector<double> lows;
  for (size_t f = 1; f + 1 < poses.size(); ++f) {
    const double lowest = LowestFoot(character, states[f]);
    lows.push_back(lowest);
    if (std::isfinite(lowest) && !falls[f] && poses[f].root_position.y() - lowest > kUprightRoot * upright) {
      const double rate_of_low =
          (LowestFoot(character, states[f + 1]) - LowestFoot(character, states[f - 1])) * 0.5 * rate;
      if (std::abs(rate_of_low) < kSteady) carried_lows_.push_back(lowest);
    }
    // Feet of a body that lies or rolls give little information about the floor.
    if (poses[f].root_position.y() - lowest < kUprightRoot * upright) continue;
    for (size_t b = 0; b < states[f].size(); ++b) {
      if (!IsFoot(character.bodies[b])) continue;
      const double speed = (states[f + 1][b].position - states[f - 1][b].position).norm() * (0.5 * rate);
      const double low = LowestPoint(character.bodies[b], states[f][b]);
      if (speed < kPlantedSpeed && low < lowest + kBeside) {
        planted_.push_back({{states[f][b].position.x(), low, states[f][b].position.z()},
                            (states[f][b].orientation * Vec3(Vec3::UnitY())).y() > kFlat,
                            (states[f][b].orientation * Vec3(Vec3::UnitY())).y() > kLevelSole,
                            !falls[f]});
      }
    }
  }
  std::sort(lows.begin(), lows.end());
  fallback_height_ = lows.empty() ? 0 : lows[lows.size() / 10];
}

bool FloorFit::has_stance() const {
  return std::count_if(planted_.begin(), planted_.end(), [](const Planted& p) { return p.carries; }) > kFewest;
}

Plane FloorFit::FitAround(double height, double reach, bool tilted) const {
  Plane plane;
  Vec3 center = Vec3::Zero();
  double count = 0;
  for (const Planted& p : planted_) {
    if (std::abs(p.point.y() - height) > reach) continue;
    center += p.point;
    count += 1;
  }
  center /= count;
  Eigen::Matrix2d m = Eigen::Matrix2d::Identity() * (0.05 * count);
  Eigen::Vector2d rhs = Eigen::Vector2d::Zero();
  for (const Planted& p : planted_) {
    if (std::abs(p.point.y() - height) > reach) continue;
    Eigen::Vector2d xz(p.point.x() - center.x(), p.point.z() - center.z());
    if (planar_) xz.x() = 0;  // its floor has no slope sideways
    m += xz * xz.transpose();
    rhs += xz * (p.point.y() - center.y());
  }
  if (tilted) {
    const Eigen::Vector2d slope = m.ldlt().solve(rhs);
    plane.slope_x = slope.x();
    plane.slope_z = slope.y();
  }
  plane.height = center.y() - plane.slope_x * center.x() - plane.slope_z * center.z();
  return plane;
}

std::optional<double> FloorFit::LevelUnder(const Plane& plane, double depth) const {
  std::vector<double> under;
  for (const Planted& p : planted_) {
    if (p.carries && p.flat && p.point.y() < plane.At(p.point) - depth) under.push_back(p.point.y());
  }
  return LowestLevel(std::move(under), Enough(kShowsFloor));
}

bool FloorFit::FallsEvenly() const {
  const Plane all = FitAround(0, kFarthest, true);
  Eigen::Vector2d sum = Eigen::Vector2d::Zero();
  double squares = 0;
  for (const Planted& p : planted_) {
    const Eigen::Vector2d at(p.point.x(), p.point.z());
    sum += at;
    squares += at.squaredNorm();
  }
  const auto count = static_cast<double>(planted_.size());
  const double spread = std::sqrt(std::max(0.0, squares / count - (sum / count).squaredNorm()));
  return spread > kWalkedAlong && all.Tilt() < kLargestTilt && !LevelUnder(all, kUneven);
}

Plane FloorFit::Fit(bool tilted) const {
  Plane plane;
  plane.height = fallback_height_;
  if (!has_stance()) return plane;
  std::vector<double> heights;
  for (const Planted& p : planted_) {
    if (p.carries) heights.push_back(p.point.y());
  }
  const double median = MedianHeight(heights);
  plane = FitAround(median, kReach, tilted);
  if (FallsEvenly()) return plane;
  for (int round = 0; round < kMostLevels; ++round) {
    const std::optional<double> level = LevelUnder(plane, kUnder);
    if (!level) break;
    plane = FitAround(*level, kStepReach, tilted);
  }
  if (const std::optional<double> level = CarriedUnder(plane)) {
    plane = Plane();
    plane.height = *level;
  } else if (tilted && StandsOver(plane)) {
    plane = LevelThrough(plane);
  }
  return plane;
}

std::optional<double> FloorFit::CarriedUnder(const Plane& plane) const {
  Vec3 center = Vec3::Zero();
  for (const Planted& p : planted_) center += p.point / static_cast<double>(planted_.size());
  std::vector<double> under;
  for (const double low : carried_lows_) {
    if (low < plane.At(center) - kFarUnder) under.push_back(low);
  }
  return LowestLevel(std::move(under), Enough(kShowsFloor));
}

bool FloorFit::StandsOver(const Plane& plane) const {
  const auto over = std::count_if(planted_.begin(), planted_.end(), [&](const Planted& p) {
    return p.carries && p.point.y() > plane.At(p.point) + kReach;
  });
  return static_cast<size_t>(over) > Enough(kOftenOver);
}

Plane FloorFit::LevelThrough(const Plane& plane) const {
  std::vector<double> level, any;
  for (const Planted& p : planted_) {
    if (!p.carries || std::abs(p.point.y() - plane.At(p.point)) > kStepReach) continue;
    any.push_back(p.point.y());
    if (p.level) level.push_back(p.point.y());
  }
  if (level.size() < Enough(kShowsFloor)) level = any;
  if (level.empty()) return plane;
  Plane flat;
  flat.height = MedianHeight(std::move(level));
  return flat;
}

std::vector<StandingLevel> FloorFit::LevelsOver(const Plane& plane) const {
  std::vector<double> over;
  for (const Planted& p : planted_) {
    const double height = p.point.y() - plane.At(p.point);
    if (p.carries && p.flat && height > kUnder) over.push_back(height);
  }
  std::vector<StandingLevel> levels;
  while (const std::optional<double> level = LowestLevel(over, Enough(kShowsLevel))) {
    const auto beyond = std::partition(over.begin(), over.end(), [&](double h) { return h > *level + kSameLevel / 2; });
    const auto on_it = std::count_if(beyond, over.end(), [&](double h) { return h > *level - kSameLevel / 2; });
    levels.push_back({*level, static_cast<double>(on_it) / rate_});
    over.erase(beyond, over.end());
  }
  return levels;
}

size_t FloorFit::Enough(double seconds) const {
  return static_cast<size_t>(std::ceil(seconds * rate_));
}

}  // namespace retrace::character
