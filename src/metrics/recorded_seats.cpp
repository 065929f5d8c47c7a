#include "recorded_seats.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "retrace/character/kinematics.h"
#include "retrace/math/convex_hull.h"
#include "retrace/math/rotation.h"

namespace retrace::metrics {
namespace {

using character::Character;
using character::ReferenceMotion;
using character::State;
using Point = Eigen::Vector2d;

const double kSteepestSeat = Radians(20);
constexpr double kMostBeside = 0.25;    // of a seat beside the hips, where the center of pressure is [m]
constexpr double kOneSeat = 0.3;        // between rests on it [m]
const double kThighTilt = Radians(25);  // against the vertical, of a body that sits
constexpr double kHipsAside = 0.17;     // from the feet, of a body that sits: two thirds of a thigh, in heights

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
             const std::vector<Requirement>& averaged, const std::vector<RecordedSurface>& surfaces,
             const std::vector<bool>& leans)
      : character_(reference.character()), frame_time_(reference.frame_time()), states_(states), averaged_(averaged) {
    const auto root = static_cast<size_t>(character_.root);
    std::vector<bool> rests(states.size(), false);
    aside_.assign(states.size(), 0);
    for (size_t f = 0; f < states.size(); ++f) {
      if (averaged[f].force.y() < kBorne || leans[f]) continue;
      if (MeanSpeed(states, f, root, frame_time_) > kPelvisRests) continue;
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

}  // namespace

std::vector<RecordedSurface> FindSeats(const ReferenceMotion& reference, const std::vector<State>& states,
                                       const std::vector<Requirement>& averaged,
                                       const std::vector<RecordedSurface>& surfaces, const std::vector<bool>& leans) {
  return SeatSearch(reference, states, averaged, surfaces, leans).Seats();
}

}  // namespace retrace::metrics
