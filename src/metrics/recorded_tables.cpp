#include "recorded_tables.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

#include "retrace/character/approach.h"
#include "retrace/character/corners.h"
#include "retrace/character/kinematics.h"
#include "retrace/math/convex_hull.h"
#include "retrace/math/rotation.h"
#include "retrace/metrics/intervals.h"

namespace retrace::metrics {
namespace {

using character::Body;
using character::Character;
using character::Part;
using character::ReferenceMotion;
using character::State;
using Point = Eigen::Vector2d;

constexpr double kHandRests = 0.15;     // of a hand that rests [m/s]
constexpr double kShortestRest = 0.25;  // a hand that swings is slow for a shorter time where it turns back [s]
constexpr double kOffBody = 0.05;       // a hand that is nearer rests on the body itself [m]
constexpr double kOverCenter = 0.25;    // of a hand over the center of mass, at most: a higher one hangs [m]
constexpr double kExplained = 0.5;      // of how far the center of pressure is aside, where hands bear
constexpr double kAhead = 0.05;         // of the feet; a body that sits has its weight behind them [m]

/// What one hand does in the poses in which it bears.
struct HandRest {
  size_t body = 0;
  std::vector<size_t> poses = {};
  double height = 0;               // of its lowest point, in the median [m]
  Vec3 center = Vec3::Zero();      // in the pose in the middle [m]
  std::vector<Vec3> corners = {};  // then [m]
};

bool IsArm(Part part) {
  return part == Part::kHand || part == Part::kLowerArm;
}

class HandSearch {
 public:
  HandSearch(const ReferenceMotion& reference, const std::vector<State>& states,
             const std::vector<Requirement>& averaged, const std::vector<RecordedSurface>& surfaces)
      : character_(reference.character()),
        frame_time_(reference.frame_time()),
        states_(states),
        bears_(character_.bodies.size(), std::vector<bool>(states.size(), false)),
        share_(states.size(), 0) {
    for (size_t b = 0; b < character_.bodies.size(); ++b) {
      if (character_.bodies[b].part == Part::kHand && !character_.bodies[b].shapes.empty()) hands_.push_back(b);
    }
    for (size_t f = 0; f < states.size() && !hands_.empty(); ++f) Look(f, averaged[f], surfaces);
  }

  std::vector<bool> leans() const {
    std::vector<bool> any(states_.size(), false);
    for (size_t f = 0; f < states_.size(); ++f) {
      any[f] = std::any_of(hands_.begin(), hands_.end(), [&](size_t b) { return bears_[b][f]; });
    }
    return any;
  }

  std::vector<RecordedSurface> Tables() const {
    std::vector<HandRest> left = Rests();
    std::vector<RecordedSurface> tables;
    while (!left.empty()) {
      const HandRest first = left.front();
      const auto joins = [&](const HandRest& rest) {
        return std::abs(rest.height - first.height) < kOneLevel && (rest.center - first.center).norm() < kOneStep;
      };
      std::vector<HandRest> on;
      std::copy_if(left.begin(), left.end(), std::back_inserter(on), joins);
      std::erase_if(left, joins);
      const bool long_enough = std::any_of(on.begin(), on.end(), [&](const HandRest& rest) {
        return static_cast<double>(rest.poses.size()) * frame_time_ >= kOneRest;
      });
      if (long_enough) tables.push_back(TableOf(on));
    }
    return tables;
  }

 private:
  /// Which hands bear in a pose, and how much of the weight.
  void Look(size_t f, const Requirement& at, const std::vector<RecordedSurface>& surfaces) {
    if (at.force.y() < kBorne) return;
    std::vector<size_t> still;
    std::copy_if(hands_.begin(), hands_.end(), std::back_inserter(still),
                 [&](size_t b) { return Rests(b, f, at.center.y() + kOverCenter); });
    if (still.empty()) return;
    const std::vector<Point> touching = CornersThatTouch(character_, states_[f], surfaces);
    const Point pressure = at.PressureAt(0);
    const double aside = HullDistance(touching, pressure);
    if (!std::isfinite(aside) || aside < kAsideOfFeet || !IsAhead(f, pressure, touching)) return;
    std::vector<size_t> resting;
    std::vector<Point> with_hands = touching;
    double farthest = 0;
    for (const size_t b : still) {
      std::vector<Point> with = touching;
      for (const Vec3& corner : CornersOfHand(b, f)) {
        with.emplace_back(corner.x(), corner.z());
        with_hands.push_back(with.back());
        farthest = std::max(farthest, HullDistance(touching, with.back()));
      }
      if (HullDistance(with, pressure) < aside) resting.push_back(b);
    }
    if (resting.empty() || HullDistance(with_hands, pressure) > kExplained * aside) return;
    for (const size_t b : resting) bears_[b][f] = true;
    share_[f] = std::min(1.0, aside / farthest);
  }

  /// Whether the center of pressure is ahead of all that touches, as the body faces.
  bool IsAhead(size_t f, const Point& pressure, const std::vector<Point>& touching) const {
    const Vec3 facing = Heading(states_[f][static_cast<size_t>(character_.root)].orientation) * Vec3::UnitZ();
    const Point along(facing.x(), facing.z());
    return std::all_of(touching.begin(), touching.end(),
                       [&](const Point& point) { return along.dot(pressure - point) > kAhead; });
  }

  bool Rests(size_t b, size_t f, double highest) const {
    const State& state = states_[f];
    const Body& hand = character_.bodies[b];
    const double low = character::LowestPoint(hand, state[b]);
    if (low < kOverFloor || low > highest || MeanSpeed(states_, f, b, frame_time_) > kHandRests) return false;
    for (size_t other = 0; other < state.size(); ++other) {
      const Body& body = character_.bodies[other];
      if (body.shapes.empty() || IsArm(body.part) || IsUpperArmOf(other, b)) continue;
      if (character::BodyDistance(hand, state[b], body, state[other]) < kOffBody) return false;
    }
    return true;
  }

  bool IsUpperArmOf(size_t body, size_t hand) const {
    int at = static_cast<int>(hand);
    for (int up = 0; up < 2 && at != character_.root; ++up) at = ParentOf(at);
    return static_cast<int>(body) == at;
  }

  int ParentOf(int body) const {
    for (const character::Joint& joint : character_.joints) {
      if (joint.child == body) return joint.parent;
    }
    return character_.root;
  }

  std::vector<Vec3> CornersOfHand(size_t b, size_t f) const {
    std::vector<Vec3> corners;
    for (const character::Shape& shape : character_.bodies[b].shapes) {
      for (const Vec3& corner : character::CornersOf(shape)) {
        corners.push_back(states_[f][b].position + states_[f][b].orientation * corner);
      }
    }
    return corners;
  }

  std::vector<HandRest> Rests() const {
    std::vector<HandRest> rests;
    for (const size_t b : hands_) {
      for (const Interval& interval : Stretches(bears_[b], frame_time_)) {
        if (interval.end - interval.start < kShortestRest) continue;
        HandRest rest;
        rest.body = b;
        const auto first = static_cast<size_t>(std::lround(interval.start / frame_time_));
        const auto last = std::min(states_.size() - 1, static_cast<size_t>(std::lround(interval.end / frame_time_)));
        std::vector<double> heights;
        for (size_t f = first; f <= last; ++f) {
          rest.poses.push_back(f);
          heights.push_back(character::LowestPoint(character_.bodies[b], states_[f][b]));
        }
        rest.height = MiddleOf(std::move(heights));
        rest.center = states_[(first + last) / 2][b].position;
        rest.corners = CornersOfHand(b, (first + last) / 2);
        rests.push_back(std::move(rest));
      }
    }
    return rests;
  }

  RecordedSurface TableOf(const std::vector<HandRest>& on) const {
    RecordedSurface table;
    table.kind = SurfaceKind::kTable;
    table.contacts = static_cast<int>(on.size());
    std::set<size_t> poses;  // both hands bear in some
    std::vector<double> heights;
    std::vector<Vec3> corners;
    for (const HandRest& rest : on) {
      poses.insert(rest.poses.begin(), rest.poses.end());
      heights.insert(heights.end(), rest.poses.size(), rest.height);
      corners.insert(corners.end(), rest.corners.begin(), rest.corners.end());
    }
    table.interval = {static_cast<double>(*poses.begin()) * frame_time_,
                      static_cast<double>(*poses.rbegin()) * frame_time_};
    table.seconds = static_cast<double>(poses.size()) * frame_time_;
    for (const size_t f : poses) table.borne += share_[f] / static_cast<double>(poses.size());
    const State& middle = states_[on.front().poses[on.front().poses.size() / 2]];
    const Vec3 ahead = Heading(middle[static_cast<size_t>(character_.root)].orientation) * Vec3::UnitZ();
    Vec3 through = on.front().center;
    through.y() = MiddleOf(std::move(heights));
    Surround(corners, Vec3::UnitY(), through, ahead, table);
    return table;
  }

  const Character& character_;
  double frame_time_;
  const std::vector<State>& states_;
  std::vector<size_t> hands_;
  std::vector<std::vector<bool>> bears_;  // (bodies, poses)
  std::vector<double> share_;             // (poses) of the weight
};

}  // namespace

std::vector<bool> LeansOnHands(const ReferenceMotion& reference, const std::vector<State>& states,
                               const std::vector<Requirement>& averaged, const std::vector<RecordedSurface>& surfaces) {
  return HandSearch(reference, states, averaged, surfaces).leans();
}

std::vector<RecordedSurface> FindTables(const ReferenceMotion& reference, const std::vector<State>& states,
                                        const std::vector<Requirement>& averaged,
                                        const std::vector<RecordedSurface>& surfaces) {
  return HandSearch(reference, states, averaged, surfaces).Tables();
}

}  // namespace retrace::metrics
