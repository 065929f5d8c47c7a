#include "belt.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "retrace/character/corners.h"
#include "retrace/character/kinematics.h"
#include "retrace/math/rotation.h"

namespace retrace::character {
namespace {

constexpr double kSlowestBelt = 0.25;    // [m/s]
constexpr double kOnBelt = 0.03;         // feet are so near to their lowest level [m]
constexpr double kFlatRate = 2.5;        // of a foot that lies on it, at most [rad/s]
constexpr double kNearby = 0.12;         // of the belt's speed: velocities that are its
constexpr double kNearbyAtLeast = 0.08;  // [m/s]
constexpr double kAgree = 0.6;           // so many of the feet on the belt have its velocity
constexpr double kStand = 0.15;          // and no more than these stand still
constexpr double kStays = 0.35;          // of the belt's speed: the body itself goes no faster
constexpr double kLeastTime = 0.15;      // of each foot on the belt [s]
constexpr double kHeldFor = 0.04;        // half of the time over which a foot's velocity is measured [s]

double MiddleValue(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// The velocity of a foot that lies on the floor at a pose.
struct FootVelocity {
  int foot = 0;
  Vec3 velocity = Vec3::Zero();
};

/// The lowest corner of a foot, in the foot's axes.
Vec3 LowestCorner(const Body& foot, const BodyState& state) {
  Vec3 lowest = Vec3::Zero();
  double height = std::numeric_limits<double>::infinity();
  for (const Shape& shape : foot.shapes) {
    for (const Vec3& corner : CornersOf(shape)) {
      const double at = (state.position + state.orientation * corner).y();
      if (at >= height) continue;
      height = at;
      lowest = corner;
    }
  }
  return lowest;
}

std::vector<FootVelocity> VelocitiesOnFloor(const Character& character, const std::vector<Pose>& poses, double rate) {
  std::vector<State> states(poses.size());
  for (size_t f = 0; f < poses.size(); ++f) ForwardKinematics(character, poses[f], states[f]);
  const auto reach = static_cast<size_t>(std::max(1L, std::lround(kHeldFor * rate)));
  const double span = 2 * static_cast<double>(reach) / rate;
  std::vector<FootVelocity> velocities;
  if (states.size() < 2 * reach + 1) return velocities;
  for (size_t b = 0; b < character.bodies.size(); ++b) {
    const Body& foot = character.bodies[b];
    if (foot.part != Part::kFoot || foot.shapes.empty()) continue;
    std::vector<double> lows;
    for (const State& state : states) lows.push_back(LowestPoint(foot, state[b]));
    std::vector<double> sorted = lows;
    std::sort(sorted.begin(), sorted.end());
    const double floor = sorted[sorted.size() / 20];
    for (size_t f = reach; f + reach < states.size(); ++f) {
      // On the floor before and after, too: what touches down or leaves has another velocity.
      if (std::max({lows[f - reach], lows[f], lows[f + reach]}) > floor + kOnBelt) continue;
      const BodyState& before = states[f - reach][b];
      const BodyState& after = states[f + reach][b];
      if (AngleBetween(before.orientation, after.orientation) > kFlatRate * span) continue;
      const Vec3 corner = LowestCorner(foot, states[f][b]);
      const Vec3 moved =
          Vec3(after.position + after.orientation * corner) - Vec3(before.position + before.orientation * corner);
      velocities.push_back({static_cast<int>(b), moved / span});
    }
  }
  return velocities;
}

Vec3 MiddleVelocity(const std::vector<FootVelocity>& velocities) {
  Vec3 middle;
  for (int axis = 0; axis < 3; ++axis) {
    std::vector<double> values;
    for (const FootVelocity& v : velocities) values.push_back(v.velocity[axis]);
    middle[axis] = MiddleValue(std::move(values));
  }
  return middle;
}

double Horizontal(const Vec3& v) {
  return std::hypot(v.x(), v.z());
}

}  // namespace

std::optional<Belt> FindBelt(const Character& character, const std::vector<Pose>& poses, double rate) {
  if (character.planar) return std::nullopt;
  const std::vector<FootVelocity> on_floor = VelocitiesOnFloor(character, poses, rate);
  if (on_floor.empty()) return std::nullopt;
  Vec3 middle = MiddleVelocity(on_floor);
  const double speed = Horizontal(middle);
  if (speed < kSlowestBelt) return std::nullopt;
  const double near = std::max(kNearby * speed, kNearbyAtLeast);
  std::vector<FootVelocity> agree;
  size_t stand = 0;
  for (const FootVelocity& v : on_floor) {
    if (Horizontal(v.velocity - middle) < near) agree.push_back(v);
    stand += Horizontal(v.velocity) < 0.5 * speed;
  }
  const auto count = static_cast<double>(on_floor.size());
  if (static_cast<double>(agree.size()) < kAgree * count || static_cast<double>(stand) > kStand * count) {
    return std::nullopt;
  }
  // Every foot that is ever on the floor is on the belt for some time.
  for (const FootVelocity& any : on_floor) {
    const auto of_foot =
        std::count_if(agree.begin(), agree.end(), [&](const FootVelocity& v) { return v.foot == any.foot; });
    if (static_cast<double>(of_foot) < kLeastTime * rate) return std::nullopt;
  }
  middle = MiddleVelocity(agree);
  const Vec3 along = Vec3(middle.x(), 0, middle.z()).normalized();
  const Vec3 gone = poses.back().root_position - poses.front().root_position;
  const double duration = static_cast<double>(poses.size() - 1) / rate;
  if (Horizontal(gone) > kStays * speed * duration) return std::nullopt;
  Belt belt;
  belt.velocity = middle.dot(along) * along;
  belt.slope = std::atan2(-middle.y(), belt.velocity.norm());
  belt.seconds = static_cast<double>(agree.size()) / rate;
  belt.agreement = static_cast<double>(agree.size()) / count;
  return belt;
}

void TakeOutBelt(const Vec3& velocity, double rate, std::vector<Pose>& poses) {
  for (size_t f = 0; f < poses.size(); ++f) poses[f].root_position -= velocity * (static_cast<double>(f) / rate);
}

}  // namespace retrace::character
