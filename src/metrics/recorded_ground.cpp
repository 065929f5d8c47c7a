#include "retrace/metrics/recorded_ground.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "retrace/character/corners.h"
#include "retrace/character/kinematics.h"
#include "retrace/io/number.h"
#include "retrace/math/convex_hull.h"
#include "retrace/math/rotation.h"
#include "retrace/metrics/required_forces.h"

namespace retrace::metrics {
namespace {

using character::Body;
using character::BodyState;
using character::Character;
using character::ReferenceMotion;
using character::State;
using Point = Eigen::Vector2d;

constexpr double kOverFloor = 0.06;      // what is lower may be the floor [m]
constexpr double kMissing = 0.3;         // of the weight, which the floor cannot supply
constexpr double kMissingMoment = 0.15;  // the same about the center of mass, in weights times meters
constexpr double kUnderPressure = 0.35;  // a foot that bears is so near to the center of pressure [m]
constexpr double kOneLevel = 0.04;       // heights of one step [m]
constexpr double kOneStep = 1.0;         // soles that are nearer, and on one level, are on one step: a stride [m]
constexpr double kOnPlane = 0.035;       // soles of one slope are so near to its plane [m]
const double kLeastSlope = Radians(5);   // what is flatter is level
const double kSteepestSlope = Radians(35);
const double kAsSteep = Radians(8);  // soles are tilted as their slope is
constexpr double kLeastRun = 0.4;    // between soles that show a slope [m]
constexpr size_t kFewestOnSlope = 3;
constexpr double kSmoothed = 0.1;      // half of the time over which forces are averaged [s]
constexpr double kBorne = 0.3;         // of the weight: the body does not fall
constexpr double kAsideOfFeet = 0.08;  // from all that touches: there something else bears [m]
constexpr double kPelvisRests = 0.25;  // of a pelvis that rests [m/s]
constexpr double kBriefRest = 0.1;     // [s]
constexpr double kOneRest = 0.3;       // one of the rests on a seat is so long [s]
const double kSteepestSeat = Radians(20);
constexpr double kMostBeside = 0.25;     // of a seat beside the hips, where the center of pressure is [m]
constexpr double kOneSeat = 0.3;         // between rests on it [m]
const double kThighTilt = Radians(25);   // against the vertical, of a body that sits
constexpr double kHipsAside = 0.17;      // from the feet, of a body that sits: two thirds of a thigh, in heights
constexpr double kOnSurface = 0.04;      // corners that are so near to a surface touch it [m]
constexpr double kBesideSurface = 0.25;  // of the rectangle that was touched [m]
constexpr double kUnderBody = 0.1;       // what is so near is under a body [m]

constexpr double kFootRests = 0.3;       // of the foot's center [m/s]
constexpr double kFootSteady = 0.12;     // upward or downward [m/s]
constexpr double kShortestStance = 0.1;  // [s]
const double kSoleDown = std::cos(Radians(35));
const double kAsFlat = Radians(3);  // as where it is flattest

double MiddleOf(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Cosine of the tilt of a foot.
double UpOf(const BodyState& foot) {
  return (foot.orientation * Vec3(Vec3::UnitY())).y();
}

Vec3 SoleOf(const Body& foot, const BodyState& state, std::vector<Vec3>* corners) {
  Vec3 sum = Vec3::Zero();
  double count = 0;
  for (const character::Shape& shape : foot.shapes) {
    for (const Vec3& corner : character::CornersOf(shape)) {
      if (corner.y() > shape.offset.y()) continue;
      const Vec3 at = state.position + state.orientation * corner;
      sum += at;
      count += 1;
      if (corners != nullptr) corners->push_back(at);
    }
  }
  return count > 0 ? Vec3(sum / count) : state.position;
}

std::vector<FootStance> FindFootStances(const character::ReferenceMotion& reference, const std::vector<State>& states) {
  std::vector<FootStance> stances;
  const Character& character = reference.character();
  const double frame_time = reference.frame_time();
  for (size_t b = 0; b < character.bodies.size(); ++b) {
    const Body& foot = character.bodies[b];
    if (foot.part != character::Part::kFoot || foot.shapes.empty()) continue;
    std::vector<bool> rests(states.size(), false);
    for (size_t f = 1; f + 1 < states.size(); ++f) {
      const Vec3 velocity = (states[f + 1][b].position - states[f - 1][b].position) / (2 * frame_time);
      rests[f] = velocity.norm() < kFootRests && std::abs(velocity.y()) < kFootSteady && UpOf(states[f][b]) > kSoleDown;
    }
    for (const Interval& interval : Stretches(rests, frame_time)) {
      if (interval.end - interval.start < kShortestStance) continue;
      FootStance stance;
      stance.body = static_cast<int>(b);
      stance.first = static_cast<size_t>(std::lround(interval.start / frame_time));
      stance.last = std::min(states.size() - 1, static_cast<size_t>(std::lround(interval.end / frame_time)));
      // Where the sole is flattest: a foot that rolls over an edge has its toes under the surface.
      double flattest = 0;
      for (size_t f = stance.first; f <= stance.last; ++f) flattest = std::max(flattest, UpOf(states[f][b]));
      const double limit = std::cos(std::acos(std::min(flattest, 1.0)) + kAsFlat);
      std::vector<double> heights;
      for (size_t f = stance.first; f <= stance.last; ++f) {
        if (UpOf(states[f][b]) > limit) heights.push_back(character::LowestPoint(foot, states[f][b]));
      }
      stance.height = MiddleOf(std::move(heights));
      const BodyState& middle = states[(stance.first + stance.last) / 2][b];
      stance.sole = SoleOf(foot, middle, &stance.corners);
      stance.normal = middle.orientation * Vec3::UnitY();
      stances.push_back(std::move(stance));
    }
  }
  return stances;
}

/// What a pose requires from outside, in weights.
struct Requirement {
  Vec3 center = Vec3::Zero();  // of mass [m]
  Vec3 force = Vec3::Zero();
  Vec3 moment = Vec3::Zero();  // about the center of mass [m]
  bool missing = false;        // more than the floor can supply
  double borne = 0;            // share of the weight that the floor cannot supply

  /// Center of pressure in the plane at a height.
  Point PressureAt(double height) const {
    const double arm = height - center.y();
    return {center.x() + (moment.z() + arm * force.x()) / force.y(),
            center.z() + (arm * force.z() - moment.x()) / force.y()};
  }
};

/// What each pose requires. @param environment what is known to bear besides the floor
std::vector<Requirement> RequirementsOf(const ReferenceMotion& reference, size_t count,
                                        const simulation::Environment& environment = {}) {
  std::vector<Requirement> all(count);
  RequiredForcesOptions options;
  options.environment = environment;
  const std::vector<RequiredForces> required = RequiredForcesOf(reference, options);
  const double weight = reference.character().total_mass() * kStandardGravity;
  for (size_t i = 0; i < required.size(); ++i) {
    Requirement& at = all[i + 1];
    at.center = required[i].center_of_mass;
    at.force = required[i].force / weight;
    at.moment = required[i].moment / weight;
    at.borne = required[i].missing_force.norm() / weight;
    at.missing = at.borne > kMissing || required[i].missing_moment.norm() / weight > kMissingMoment;
  }
  if (count > 2) {
    all.front() = all[1];
    all.back() = all[count - 2];
  }
  return all;
}

/// Forces and moments in the mean about each pose: those of single poses have the noise of two derivatives.
std::vector<Requirement> Averaged(const std::vector<Requirement>& all, double frame_time) {
  std::vector<Requirement> averaged = all;
  const auto reach = static_cast<size_t>(std::lround(kSmoothed / frame_time));
  for (size_t i = 0; i < all.size(); ++i) {
    const size_t first = i - std::min(i, reach), last = std::min(i + reach, all.size() - 1);
    Vec3 force = Vec3::Zero(), moment = Vec3::Zero();
    for (size_t k = first; k <= last; ++k) {
      force += all[k].force;
      moment += all[k].moment;
    }
    const auto number = static_cast<double>(last - first + 1);
    averaged[i].force = force / number;
    averaged[i].moment = moment / number;
  }
  return averaged;
}

/// A stance over the floor that bears, and the poses in which it does.
struct BearingStance {
  const FootStance* stance = nullptr;
  std::vector<size_t> poses = {};
};

std::vector<BearingStance> BearingStances(const std::vector<FootStance>& stances,
                                          const std::vector<Requirement>& required) {
  std::vector<BearingStance> bearing;
  for (const FootStance& stance : stances) {
    BearingStance found{&stance};
    for (size_t f = stance.first; f <= stance.last; ++f) {
      const Requirement& at = required[f];
      if (!at.missing || at.force.y() < kBorne || stance.sole.y() > at.center.y()) continue;
      const Point pressure = at.PressureAt(stance.height);
      if ((pressure - Point(stance.sole.x(), stance.sole.z())).norm() > kUnderPressure) continue;
      found.poses.push_back(f);
    }
    if (!found.poses.empty()) bearing.push_back(found);
  }
  return bearing;
}

double TiltOf(const Vec3& normal) {
  return std::acos(std::clamp(normal.normalized().y(), -1.0, 1.0));
}

/// Horizontal distance.
double Apart(const Vec3& a, const Vec3& b) {
  return std::hypot(a.x() - b.x(), a.z() - b.z());
}

/// Puts the rectangle around corners of soles onto a plane through a point, along a horizontal direction.
void Surround(const std::vector<Vec3>& corners, const Vec3& normal, const Vec3& through, const Vec3& along,
              RecordedSurface& surface) {
  const Vec3 z = Vec3(along - along.dot(normal) * normal).normalized();
  Mat3 axes;
  axes.col(0) = normal.cross(z);
  axes.col(1) = normal;
  axes.col(2) = z;
  surface.orientation = Quat(axes).normalized();
  Vec3 least = Vec3::Constant(std::numeric_limits<double>::infinity()), most = -least;
  for (const Vec3& corner : corners) {
    const Vec3 local = axes.transpose() * (corner - through);
    least = least.cwiseMin(local);
    most = most.cwiseMax(local);
  }
  const Vec3 middle = 0.5 * (least + most);
  surface.center = through + axes * Vec3(middle.x(), 0, middle.z());
  surface.size_x = most.x() - least.x();
  surface.size_z = most.z() - least.z();
}

/// The plane that fits soles best, or one as steep as they are where they do not spread; nothing where they do not lie
/// on a slope.
std::optional<Vec3> SlopeNormal(const std::vector<const BearingStance*>& on, Vec3& center) {
  center = Vec3::Zero();
  for (const BearingStance* b : on) center += b->stance->sole / static_cast<double>(on.size());
  Eigen::Matrix2d m = Eigen::Matrix2d::Zero();
  Eigen::Vector2d rhs = Eigen::Vector2d::Zero();
  Vec3 mean = Vec3::Zero();
  double run = 0;
  for (const BearingStance* b : on) {
    const Vec3 from = b->stance->sole - center;
    const Eigen::Vector2d xz(from.x(), from.z());
    m += xz * xz.transpose();
    rhs += xz * from.y();
    mean += b->stance->normal;
    for (const BearingStance* other : on) run = std::max(run, Apart(b->stance->sole, other->stance->sole));
  }
  if (run < kLeastRun) return std::nullopt;
  // Soles that lie on a line across tell nothing of the slope along the other direction: that is level, or as the
  // soles.
  mean.normalize();
  const Eigen::Vector2d prior(-mean.x() / mean.y(), -mean.z() / mean.y());
  const double weight = 0.01 * static_cast<double>(on.size());
  m += weight * Eigen::Matrix2d::Identity();
  rhs += weight * prior;
  const Eigen::Vector2d slope = m.ldlt().solve(rhs);
  const Vec3 normal = Vec3(-slope.x(), 1, -slope.y()).normalized();
  const double tilt = TiltOf(normal);
  if (tilt < kLeastSlope || tilt > kSteepestSlope) return std::nullopt;
  if (std::acos(std::clamp(normal.dot(mean), -1.0, 1.0)) > kAsSteep) return std::nullopt;
  return normal;
}

void AddEvidence(const std::vector<const BearingStance*>& on, const std::vector<Requirement>& required,
                 double frame_time, RecordedSurface& surface) {
  std::set<size_t> poses;  // both feet bear in some
  size_t first = std::numeric_limits<size_t>::max(), last = 0;
  for (const BearingStance* b : on) {
    poses.insert(b->poses.begin(), b->poses.end());
    first = std::min(first, b->stance->first);
    last = std::max(last, b->stance->last);
  }
  surface.contacts = static_cast<int>(on.size());
  surface.interval = {static_cast<double>(first) * frame_time, static_cast<double>(last) * frame_time};
  double borne = 0;
  for (const size_t f : poses) borne += std::min(required[f].borne, 1.0);
  surface.seconds = static_cast<double>(poses.size()) * frame_time;
  surface.borne = borne / static_cast<double>(poses.size());
}

std::vector<Vec3> CornersOf(const std::vector<const BearingStance*>& on) {
  std::vector<Vec3> corners;
  for (const BearingStance* b : on) {
    corners.insert(corners.end(), b->stance->corners.begin(), b->stance->corners.end());
  }
  return corners;
}

/// Takes the stances that lie on a slope out of those that are left.
std::optional<RecordedSurface> TakeSlope(std::vector<const BearingStance*>& left,
                                         const std::vector<Requirement>& required, double frame_time) {
  std::vector<const BearingStance*> best;
  Vec3 best_normal = Vec3::UnitY(), best_center = Vec3::Zero();
  for (const BearingStance* seed : left) {
    Vec3 normal = seed->stance->normal, center = seed->stance->sole;
    std::vector<const BearingStance*> on;
    std::optional<Vec3> fitted;
    for (int round = 0; round < 3; ++round) {
      on.clear();
      for (const BearingStance* b : left) {
        const double away = std::abs(normal.dot(b->stance->sole - center));
        const double turned = std::acos(std::clamp(normal.dot(b->stance->normal), -1.0, 1.0));
        if (away < kOnPlane && turned < kAsSteep) on.push_back(b);
      }
      fitted = on.size() < kFewestOnSlope ? std::nullopt : SlopeNormal(on, center);
      if (!fitted) break;
      normal = *fitted;
    }
    if (!fitted || on.size() <= best.size()) continue;
    best = on;
    best_normal = normal;
    best_center = center;
  }
  if (best.empty()) return std::nullopt;
  RecordedSurface surface;
  surface.kind = SurfaceKind::kSlope;
  const Vec3 uphill(-best_normal.x(), 0, -best_normal.z());
  Surround(CornersOf(best), best_normal, best_center, uphill, surface);
  AddEvidence(best, required, frame_time, surface);
  std::erase_if(left, [&](const BearingStance* b) { return std::find(best.begin(), best.end(), b) != best.end(); });
  return surface;
}

/// Takes the stances of one step: from the first one on, whatever is on the level of those that it has and near to one.
RecordedSurface TakeStep(std::vector<const BearingStance*>& left, const std::vector<Requirement>& required,
                         double frame_time) {
  std::vector<const BearingStance*> on = {left.front()};
  left.erase(left.begin());
  for (bool grown = true; grown;) {
    grown = false;
    for (size_t i = 0; i < left.size(); ++i) {
      const bool joins = std::any_of(on.begin(), on.end(), [&](const BearingStance* b) {
        return std::abs(b->stance->height - left[i]->stance->height) < kOneLevel &&
               Apart(b->stance->sole, left[i]->stance->sole) < kOneStep;
      });
      if (!joins) continue;
      on.push_back(left[i]);
      left.erase(left.begin() + static_cast<std::ptrdiff_t>(i));
      grown = true;
      break;
    }
  }
  // Each stance counts by how long it bears.
  std::vector<double> heights;
  Vec3 along = Vec3::Zero();
  for (const BearingStance* b : on) {
    heights.insert(heights.end(), b->poses.size(), b->stance->height);
    const std::vector<Vec3>& corners = b->stance->corners;
    Vec3 longest = Vec3::Zero();
    for (const Vec3& corner : corners) {
      const Vec3 side = corner - corners.front();
      if (Vec3(side.x(), 0, side.z()).norm() > Vec3(longest.x(), 0, longest.z()).norm()) longest = side;
    }
    along += (longest.dot(along) < 0 ? -1.0 : 1.0) * Vec3(longest.x(), 0, longest.z());
  }
  RecordedSurface surface;
  surface.kind = SurfaceKind::kStep;
  Vec3 through = on.front()->stance->sole;
  through.y() = MiddleOf(std::move(heights));
  if (along.norm() < 1e-6) along = Vec3::UnitZ();
  Surround(CornersOf(on), Vec3::UnitY(), through, along, surface);
  AddEvidence(on, required, frame_time, surface);
  return surface;
}

/// Whether a point touches a surface.
bool Touches(const RecordedSurface& surface, const Vec3& point) {
  const Vec3 local = surface.orientation.conjugate() * Vec3(point - surface.center);
  return std::abs(local.y()) < kOnSurface && std::abs(local.x()) < 0.5 * surface.size_x + kBesideSurface &&
         std::abs(local.z()) < 0.5 * surface.size_z + kBesideSurface;
}

std::vector<Point> CornersThatTouch(const Character& character, const State& state,
                                    const std::vector<RecordedSurface>& surfaces) {
  std::vector<Point> points;
  for (size_t b = 0; b < state.size(); ++b) {
    for (const character::Shape& shape : character.bodies[b].shapes) {
      for (const Vec3& corner : character::CornersOf(shape)) {
        const Vec3 at = state[b].position + state[b].orientation * corner;
        const bool touches =
            at.y() < kOverFloor || std::any_of(surfaces.begin(), surfaces.end(),
                                               [&](const RecordedSurface& surface) { return Touches(surface, at); });
        if (touches) points.emplace_back(at.x(), at.z());
      }
    }
  }
  return points;
}

/// What the root and what is fastened to it sit on: balls of the root's body, and of thighs the ends at the hip.
template <typename Function>
void ForEachSeatBall(const Character& character, const State& state, const Function& visit) {
  const auto root = static_cast<size_t>(character.root);
  const auto balls = [&](size_t b, const Vec3* near) {
    for (const character::Shape& shape : character.bodies[b].shapes) {
      if (shape.kind != character::Shape::Kind::kCapsule) continue;
      const Vec3 half = 0.5 * shape.length * Vec3::Unit(shape.axis);
      for (const double end : {-1.0, 1.0}) {
        const Vec3 at = state[b].position + state[b].orientation * Vec3(shape.offset + end * half);
        const Vec3 other = state[b].position + state[b].orientation * Vec3(shape.offset - end * half);
        if (near == nullptr || (at - *near).norm() < (other - *near).norm()) visit(at, shape.radius);
      }
    }
  };
  balls(root, nullptr);
  for (const character::Joint& joint : character.joints) {
    if (joint.parent != character.root) continue;
    const size_t child = static_cast<size_t>(joint.child);
    const std::string& segment = character.bodies[child].segment;
    if (segment != "left_thigh" && segment != "right_thigh") continue;
    const Vec3 hip = character::JointPosition(character, joint, state);
    balls(child, &hip);
  }
}

/// Whether a thigh is as far from the vertical as that of a body that sits. One that leans with straight legs does not.
/// A robot's thighs are not known, and its motion may ask for a balance that its masses do not have: its hips have to
/// be aside from what touches. In a deep stance they are between the feet.
bool MaySit(const Character& character, const State& state, const std::vector<Point>& touching) {
  bool thighs = false, bent = false;
  for (const character::Joint& joint : character.joints) {
    const auto child = static_cast<size_t>(joint.child);
    const std::string& segment = character.bodies[child].segment;
    if (segment != "left_thigh" && segment != "right_thigh") continue;
    const Vec3 down = state[child].position - character::JointPosition(character, joint, state);
    thighs = true;
    bent = bent || std::acos(std::clamp(-down.normalized().y(), -1.0, 1.0)) > kThighTilt;
  }
  if (thighs) return bent;
  const Vec3& hips = state[static_cast<size_t>(character.root)].position;
  return HullDistance(touching, {hips.x(), hips.z()}) > kHipsAside * character.height;
}

/// How far along the normal of a seat the lowest of them is [m].
double SeatHeight(const Character& character, const State& state, const Vec3& normal) {
  double lowest = std::numeric_limits<double>::infinity();
  ForEachSeatBall(character, state,
                  [&](const Vec3& center, double radius) { lowest = std::min(lowest, center.dot(normal) - radius); });
  if (std::isfinite(lowest)) return lowest;
  const auto root = static_cast<size_t>(character.root);
  return character::LowestPoint(character.bodies[root], state[root]);
}

/// By how much the flatter one of the thighs goes down from hip to knee [rad].
double ThighSlope(const Character& character, const State& state) {
  double flattest = std::numeric_limits<double>::infinity();
  for (const character::Joint& joint : character.joints) {
    const auto child = static_cast<size_t>(joint.child);
    const std::string& segment = character.bodies[child].segment;
    if (segment != "left_thigh" && segment != "right_thigh") continue;
    const Vec3 way = state[child].position - character::JointPosition(character, joint, state);
    flattest = std::min(flattest, std::asin(std::clamp(-way.normalized().y(), -1.0, 1.0)));
  }
  return std::isfinite(flattest) ? flattest : 0;
}

struct Rest {
  size_t first = 0, last = 0;
  Vec3 place = Vec3::Zero();  // of the root
  size_t poses() const { return last - first + 1; }
};

class SeatSearch {
 public:
  SeatSearch(const ReferenceMotion& reference, const std::vector<State>& states,
             const std::vector<Requirement>& averaged, const std::vector<RecordedSurface>& surfaces)
      : character_(reference.character()), frame_time_(reference.frame_time()), states_(states), averaged_(averaged) {
    const auto root = static_cast<size_t>(character_.root);
    const auto reach = static_cast<size_t>(std::max(1L, std::lround(kSmoothed / frame_time_)));
    std::vector<bool> rests(states.size(), false);
    aside_.assign(states.size(), 0);
    for (size_t f = 0; f < states.size() && states.size() > 2 * reach; ++f) {
      if (averaged[f].force.y() < kBorne) continue;
      const size_t at = std::clamp(f, reach, states.size() - 1 - reach);
      const double moved = (states[at + reach][root].position - states[at - reach][root].position).norm();
      if (moved > kPelvisRests * 2 * static_cast<double>(reach) * frame_time_) continue;
      const Point pressure = averaged[f].PressureAt(0);
      const std::vector<Point> touching = CornersThatTouch(character_, states[f], surfaces);
      aside_[f] = HullDistance(touching, pressure);
      rests[f] = aside_[f] > kAsideOfFeet && MaySit(character_, states[f], touching);
    }
    for (const Interval& interval : Stretches(rests, frame_time_)) {
      if (interval.end - interval.start < kBriefRest) continue;
      Rest rest;
      rest.first = static_cast<size_t>(std::lround(interval.start / frame_time_));
      rest.last = static_cast<size_t>(std::lround(interval.end / frame_time_));
      for (size_t f = rest.first; f <= rest.last; ++f) {
        rest.place += states[f][root].position / static_cast<double>(rest.poses());
      }
      rests_.push_back(rest);
    }
  }

  std::vector<RecordedSurface> Seats() {
    std::vector<RecordedSurface> seats;
    std::vector<Rest> left = rests_;
    while (!left.empty()) {
      std::vector<Rest> on = {left.front()};
      for (size_t i = 1; i < left.size(); ++i) {
        if ((left[i].place - on.front().place).norm() < kOneSeat) on.push_back(left[i]);
      }
      std::erase_if(left, [&](const Rest& rest) { return (rest.place - on.front().place).norm() < kOneSeat; });
      const auto longest =
          std::max_element(on.begin(), on.end(), [](const Rest& a, const Rest& b) { return a.poses() < b.poses(); });
      if (static_cast<double>(longest->poses()) * frame_time_ < kOneRest) continue;
      seats.push_back(SeatOf(on, *longest));
    }
    return seats;
  }

 private:
  RecordedSurface SeatOf(const std::vector<Rest>& on, const Rest& longest) const {
    RecordedSurface seat;
    seat.kind = SurfaceKind::kSeat;
    seat.contacts = static_cast<int>(on.size());
    seat.interval = {static_cast<double>(on.front().first) * frame_time_,
                     static_cast<double>(on.back().last) * frame_time_};
    const State& state = states_[(longest.first + longest.last) / 2];
    const Quat heading = Heading(state[static_cast<size_t>(character_.root)].orientation);
    // Thighs that go down rest on an edge, or on a seat that slopes: the body would slide off an edge.
    const auto median = [&](const auto& of) {
      std::vector<double> values;
      for (const Rest& rest : on) {
        for (size_t f = rest.first; f <= rest.last; ++f) values.push_back(of(states_[f]));
      }
      seat.seconds = static_cast<double>(values.size()) * frame_time_;
      return MiddleOf(std::move(values));
    };
    const double slope = median([&](const State& s) { return ThighSlope(character_, s); });
    const Vec3 normal = heading * (AxisRotation(0, std::clamp(slope, 0.0, kSteepestSeat)) * Vec3::UnitY());
    const double height = median([&](const State& s) { return SeatHeight(character_, s, normal); });
    const auto on_seat = [&](const Vec3& point) -> Vec3 { return point + (height - point.dot(normal)) * normal; };
    std::vector<Vec3> corners;
    ForEachSeatBall(character_, state, [&](const Vec3& center, double) { corners.push_back(on_seat(center)); });
    const Vec3 root = on_seat(state[static_cast<size_t>(character_.root)].position);
    if (corners.empty()) corners.push_back(root);
    Surround(corners, normal, root, heading * Vec3::UnitZ(), seat);
    IncludePressure(on, seat);
    seat.borne = BorneBy(on, seat.center);
    return seat;
  }

  /// Widens a seat so that the centers of pressure are on it, those that are far from the others left out: a body that
  /// leans back bears behind its hips.
  void IncludePressure(const std::vector<Rest>& on, RecordedSurface& seat) const {
    std::vector<double> across, along;
    const Quat turned = seat.orientation.conjugate();
    for (const Rest& rest : on) {
      for (size_t f = rest.first; f <= rest.last; ++f) {
        const Point pressure = averaged_[f].PressureAt(seat.center.y());
        const Vec3 local = turned * Vec3(pressure.x() - seat.center.x(), 0, pressure.y() - seat.center.z());
        across.push_back(local.x());
        along.push_back(local.z());
      }
    }
    Vec3 middle = Vec3::Zero();
    const auto widen = [&](std::vector<double>& values, double& size, double& center) {
      std::sort(values.begin(), values.end());
      const auto tenth = values.size() / 10;
      const double low = std::clamp(values[tenth], -kMostBeside - 0.5 * size, -0.5 * size);
      const double high = std::clamp(values[values.size() - 1 - tenth], 0.5 * size, 0.5 * size + kMostBeside);
      size = high - low;
      center = 0.5 * (low + high);
    };
    widen(across, seat.size_x, middle.x());
    widen(along, seat.size_z, middle.z());
    seat.center += seat.orientation * middle;
  }

  /// Share of the weight that a seat bears: the center of pressure is so far from the feet towards it.
  double BorneBy(const std::vector<Rest>& on, const Vec3& seat) const {
    double sum = 0, count = 0;
    for (const Rest& rest : on) {
      for (size_t f = rest.first; f <= rest.last; ++f) {
        const std::vector<Point> touching = CornersThatTouch(character_, states_[f], {});
        const double whole = HullDistance(touching, {seat.x(), seat.z()});
        sum += std::isfinite(whole) && whole > 0 ? std::min(1.0, aside_[f] / whole) : 1.0;
        count += 1;
      }
    }
    return count > 0 ? sum / count : 0;
  }

  const Character& character_;
  double frame_time_;
  const std::vector<State>& states_;
  const std::vector<Requirement>& averaged_;
  std::vector<double> aside_;  // (poses) of the center of pressure from all that touches [m]
  std::vector<Rest> rests_;
};

/// Seats as boxes, wider than what was touched.
simulation::Environment BoxesOf(const std::vector<RecordedSurface>& seats) {
  simulation::Environment environment;
  for (const RecordedSurface& seat : seats) {
    if (!seat.strong()) continue;
    const Vec3 size(seat.size_x + 2 * kBesideSurface, seat.center.y(), seat.size_z + 2 * kBesideSurface);
    environment.boxes.push_back(
        {Name(seat.kind), size, seat.center - Vec3(0, 0.5 * seat.center.y(), 0), seat.orientation});
  }
  return environment;
}

/// Slopes and steps that feet stand on, from the lowest one up.
std::vector<RecordedSurface> StoodOn(const std::vector<FootStance>& stances, const std::vector<Requirement>& required,
                                     double frame_time) {
  std::vector<RecordedSurface> surfaces;
  const std::vector<BearingStance> bearing = BearingStances(stances, required);
  std::vector<const BearingStance*> left;
  for (const BearingStance& b : bearing) {
    if (b.stance->height > kOverFloor) left.push_back(&b);
  }
  while (std::optional<RecordedSurface> slope = TakeSlope(left, required, frame_time)) surfaces.push_back(*slope);
  while (!left.empty()) surfaces.push_back(TakeStep(left, required, frame_time));
  std::sort(surfaces.begin(), surfaces.end(),
            [](const RecordedSurface& a, const RecordedSurface& b) { return a.center.y() < b.center.y(); });
  return surfaces;
}

bool AnythingUnder(const Character& character, const State& state, const std::vector<RecordedSurface>& surfaces) {
  for (size_t b = 0; b < state.size(); ++b) {
    const double low = character::LowestPoint(character.bodies[b], state[b]);
    if (low < kUnderBody) return true;
    for (const RecordedSurface& surface : surfaces) {
      const Vec3 local = surface.orientation.conjugate() * Vec3(state[b].position - surface.center);
      const double away = low - surface.center.y();
      const bool over = std::abs(local.x()) < 0.5 * surface.size_x + kBesideSurface &&
                        std::abs(local.z()) < 0.5 * surface.size_z + kBesideSurface;
      const double reach = surface.kind == SurfaceKind::kSlope ? 0.5 * surface.size_z : kUnderBody;
      if (over && std::abs(away) < reach + kUnderBody) return true;
    }
  }
  return false;
}

/// Whether a foot stands over the floor or a pelvis rests: else nothing has to be looked for.
bool MayHaveSurfaces(const ReferenceMotion& reference, const std::vector<State>& states,
                     const std::vector<FootStance>& stances) {
  if (std::any_of(stances.begin(), stances.end(), [](const FootStance& s) { return s.height > kOverFloor; })) {
    return true;
  }
  const auto root = static_cast<size_t>(reference.character().root);
  const auto reach = static_cast<size_t>(std::max(1L, std::lround(kSmoothed / reference.frame_time())));
  for (size_t f = reach; f + reach < states.size(); ++f) {
    const double moved = (states[f + reach][root].position - states[f - reach][root].position).norm();
    if (moved < kPelvisRests * 2 * static_cast<double>(reach) * reference.frame_time()) return true;
    if (!AnythingUnder(reference.character(), states[f], {})) return true;
  }
  return false;
}

}  // namespace

std::string Name(SurfaceKind kind) {
  switch (kind) {
    case SurfaceKind::kStep:
      return "step";
    case SurfaceKind::kSlope:
      return "slope";
    case SurfaceKind::kSeat:
      return "seat";
  }
  return "";
}

double RecordedSurface::confidence() const {
  const double half = kind == SurfaceKind::kSeat ? kStrongRest : kStrongEvidence;
  return seconds / (seconds + half);
}

bool RecordedSurface::strong() const {
  return confidence() >= 0.5;
}

double RecordedSurface::tilt() const {
  return TiltOf(orientation * Vec3::UnitY());
}

io::Json RecordedSurface::ToJson() const {
  return {{"kind", Name(kind)},        {"center", io::ToJson(center)}, {"orientation", io::ToJson(orientation)},
          {"size", {size_x, size_z}},  {"contacts", contacts},         {"start", interval.start},
          {"end", interval.end},       {"seconds", seconds},           {"borne", borne},
          {"confidence", confidence()}};
}

bool RecordedGround::strong() const {
  return std::any_of(surfaces.begin(), surfaces.end(), [](const RecordedSurface& s) { return s.strong(); });
}

std::string RecordedGround::Phrase() const {
  std::string phrase;
  for (const RecordedSurface& surface : surfaces) {
    if (!surface.strong()) continue;
    phrase.append(phrase.empty() ? "" : ", ").append(Name(surface.kind)).append(" at ");
    phrase.append(io::Fixed(surface.center.y(), 2)).append(" m (bears for ");
    phrase.append(io::Fixed(surface.seconds, 1)).append(" s)");
  }
  return phrase;
}

RecordedGround FindRecordedGround(const ReferenceMotion& reference, const std::vector<State>& states) {
  RecordedGround ground;
  const Character& character = reference.character();
  if (character.planar || states.size() < 3) return ground;
  const double frame_time = reference.frame_time();
  ground.stances = FindFootStances(reference, states);
  if (!MayHaveSurfaces(reference, states, ground.stances)) return ground;
  const std::vector<Requirement> required = RequirementsOf(reference, states.size());
  ground.surfaces = StoodOn(ground.stances, required, frame_time);
  const std::vector<Requirement> averaged = Averaged(required, frame_time);
  const std::vector<RecordedSurface> seats = SeatSearch(reference, states, averaged, ground.surfaces).Seats();
  // The feet of a body that sits rest on a rung or hang in the air: what its seat bears is no evidence for a step.
  const simulation::Environment seated = BoxesOf(seats);
  if (!seated.boxes.empty() && !ground.surfaces.empty()) {
    ground.surfaces = StoodOn(ground.stances, RequirementsOf(reference, states.size(), seated), frame_time);
  }
  ground.surfaces.insert(ground.surfaces.end(), seats.begin(), seats.end());
  size_t unsupported = 0;
  for (size_t f = 0; f < states.size(); ++f) {
    const bool borne = averaged[f].force.y() > 1 - kBorne && required[f].missing;
    unsupported += borne && !AnythingUnder(character, states[f], ground.surfaces);
  }
  ground.unsupported = static_cast<double>(unsupported) / static_cast<double>(states.size());
  return ground;
}

}  // namespace retrace::metrics
