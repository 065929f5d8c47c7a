#include "retrace/motion_editing/balancing.h"

#include <Eigen/SparseCore>
#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <nlohmann/json.hpp>

#include "ground_points.h"
#include "retrace/character/kinematics.h"
#include "retrace/character/legs.h"
#include "retrace/io/number.h"
#include "retrace/math/convex_hull.h"
#include "retrace/metrics/gates.h"
#include "retrace/optimization/least_squares.h"

namespace retrace::task {
namespace {

using character::Character;
using character::Leg;
using character::Pose;
using character::State;
using Vec2 = Eigen::Vector2d;
using Polygon = std::vector<Vec2>;
using Path = Eigen::MatrixX2d;  // (poses x 2) along x and z

constexpr double kLeastLoad = 0.2;     // share of the weight under which a motion is in flight
constexpr double kMargin = 0.01;       // from the edge of what touches the ground [m]
constexpr double kMostWanted = 0.1;    // by which a center of pressure is to be moved at most: more is noise [m]
constexpr double kShiftWeight = 0.1;   // on squared shifts, against squared distances from the soles
constexpr double kDraggedWeight = 1;   // the same where more than feet touch the ground: it would be dragged along
constexpr double kSmoothness = 0.03;   // time over which a change of the center of pressure counts as much as it [s]
constexpr double kFlightWeight = 100;  // on the curvature of shifts in flight
constexpr double kFlightLever = 0.1;   // instead of Demand::lever in flight [s^2]
constexpr int kRounds = 3;             // legs that stay move the center of mass less than the root
constexpr int kHalvings = 3;           // of a round's shift, until it is an improvement
constexpr int kProjections = 60;
constexpr double kTiny = 1e-9;     // against division by zero [m]
constexpr size_t kLeastPoses = 7;  // that second differences of differences need

double Cross(const Vec2& a, const Vec2& b, const Vec2& c) {
  return (b - a).x() * (c - a).y() - (b - a).y() * (c - a).x();
}

/// The point of a convex polygon (a line, a point) that is nearest.
Vec2 Nearest(const Polygon& hull, const Vec2& point) {
  if (hull.size() == 1) return hull[0];
  bool inside = hull.size() > 2;
  Vec2 nearest = hull[0];
  for (size_t i = 0; i < hull.size(); ++i) {
    const Vec2 &a = hull[i], &b = hull[(i + 1) % hull.size()];
    if (Cross(a, b, point) < 0) inside = false;
    const double length2 = (b - a).squaredNorm();
    const double share = length2 > 0 ? std::clamp((point - a).dot(b - a) / length2, 0.0, 1.0) : 0.0;
    const Vec2 on_edge = a + share * (b - a);
    if ((point - on_edge).squaredNorm() < (point - nearest).squaredNorm()) nearest = on_edge;
  }
  return inside ? point : nearest;
}

/// What the ground has to do at an instant.
struct Demand {
  bool stands = false;
  bool on_feet = false;         ///< and on nothing else
  double weight = 1;            ///< share of the character's weight that is on the ground, at most 1
  Vec2 pressure{0, 0};          ///< center of pressure that is required [m]
  double lever = kFlightLever;  ///< it moves against the acceleration of the center of mass by this much [s^2]
  Polygon support;              ///< of what touches the ground, less a margin
};

class Balancer {
 public:
  Balancer(const character::ReferenceMotion& reference, const simulation::Environment& environment, double gravity)
      : character_(reference.character()),
        ground_(environment),
        gravity_(gravity),
        frame_time_(reference.frame_time()),
        size_(character_.height / metrics::kHumanHeight),
        feet_(character_.bodies.size(), false),
        legs_(character::LegsOf(character_)) {
    result_.poses = reference.poses();
    for (const Leg& leg : legs_) feet_[static_cast<size_t>(JointAt(leg.ankle).child)] = true;
  }

  Balancing Balance(const character::ReferenceMotion& reference) {
    const size_t count = result_.poses.size();
    if (legs_.empty() || count < kLeastPoses) {
      result_.notes.emplace_back(
          "the reference is not balanced: no ball joints hold legs at hip and ankle, or it is too short");
      return std::move(result_);
    }
    states_ = reference.StatesOfPoses();
    for (Leg& leg : legs_) leg.folding = character::FoldingOf(character_, leg, states_);
    const std::vector<State> recorded = states_;
    Path shift = Path::Zero(static_cast<Eigen::Index>(count), 2);
    std::vector<Demand> demands = Demands();
    result_.outside_before = result_.outside_after = Outside(demands);
    for (int round = 0; round < kRounds; ++round) {
      Path step = Shift(demands, shift);
      bool better = false;
      for (int halving = 0; halving < kHalvings && !better; ++halving, step *= 0.5) {
        Apply(reference, recorded, shift + step);
        demands = Demands();
        const double outside = Outside(demands);
        better = outside < result_.outside_after;
        if (!better) continue;
        result_.outside_after = outside;
        shift += step;
      }
      if (!better) break;
    }
    Apply(reference, recorded, shift);
    for (Eigen::Index i = 0; i < shift.rows(); ++i) {
      result_.largest_shift = std::max(result_.largest_shift, shift.row(i).norm());
    }
    Report();
    return std::move(result_);
  }

 private:
  const character::Joint& JointAt(int joint) const { return character_.joints[static_cast<size_t>(joint)]; }

  void Report() {
    std::string note = "the root is moved by ";
    note.append(io::Fixed(result_.largest_shift, 3)).append(" m at most, while the feet stay: the center of pressure ");
    note.append("that the motion requires is ").append(io::Fixed(result_.outside_after, 3));
    note.append(" m beside the soles (RMS), ").append(io::Fixed(result_.outside_before, 3)).append(" m before");
    result_.notes.push_back(std::move(note));
  }

  /// Points on the ground, and their mean height.
  Polygon ContactEpisode(const State& state, double& height, bool& on_feet) const {
    Polygon points;
    height = 0;
    on_feet = true;
    ForEachCorner(character_, state, ground_, [&](size_t body, const Vec3& point, double ground) {
      if (point.y() - ground > kTouches * size_) return;
      points.emplace_back(point.x(), point.z());
      height += ground;
      on_feet = on_feet && feet_[body];
    });
    if (!points.empty()) height /= static_cast<double>(points.size());
    return points;
  }

  /// A planar character is held sideways: what counts is where it is along its path.
  void ProjectOnPlane(const State& state, Vec2& pressure, Polygon& points) const {
    const character::BodyState& root = state[static_cast<size_t>(character_.root)];
    const Vec3 left = root.orientation * Vec3::UnitX();
    const Vec2 across = Vec2(left.x(), left.z()), middle(root.position.x(), root.position.z());
    pressure -= across * across.dot(pressure - middle);
    for (Vec2& point : points) point -= across * across.dot(point - middle);
  }

  std::vector<Demand> Demands() const {
    const size_t count = states_.size();
    const double mass = character_.total_mass(), h = frame_time_;
    std::vector<Vec3> center(count), momentum(count);
    for (size_t i = 0; i < count; ++i) {
      const size_t before = i > 0 ? i - 1 : 0, after = std::min(i + 1, count - 1);
      State state = states_[i];
      character::DifferenceVelocities(states_[before], states_[after], static_cast<double>(after - before) * h, state);
      center[i] = character::CenterOfMass(character_, state);
      momentum[i] = character::AngularMomentum(character_, state);
    }
    std::vector<Demand> demands(count);
    for (size_t i = 0; i < count; ++i) {
      const size_t m = std::clamp<size_t>(i, 2, count - 3);
      Demand& demand = demands[i];
      const Vec3 force = mass * ((center[m + 1] - 2 * center[m] + center[m - 1]) / (h * h) + Vec3(0, gravity_, 0));
      const Vec3 moment = (momentum[m + 1] - momentum[m - 1]) / (2 * h);
      double height = 0;
      Polygon points = ContactEpisode(states_[i], height, demand.on_feet);
      if (points.empty() || force.y() < kLeastLoad * mass * gravity_) continue;
      demand.stands = true;
      const double above = center[i].y() - height;
      demand.lever = above * mass / force.y();
      demand.weight = std::min(1.0, force.y() / (mass * gravity_));
      demand.pressure = {center[i].x() + (moment.z() - above * force.x()) / force.y(),
                         center[i].z() - (moment.x() + above * force.z()) / force.y()};
      if (character_.planar) ProjectOnPlane(states_[i], demand.pressure, points);
      demand.support = ConvexHull(std::move(points));
      Vec2 middle = Vec2::Zero();
      for (const Vec2& corner : demand.support) middle += corner / static_cast<double>(demand.support.size());
      for (Vec2& corner : demand.support) {
        const Vec2 inwards = middle - corner;
        corner += inwards * std::min(1.0, kMargin * size_ / std::max(inwards.norm(), kTiny));
      }
    }
    return demands;
  }

  static double Outside(const std::vector<Demand>& demands) {
    double sum = 0, count = 0;
    for (const Demand& demand : demands) {
      if (!demand.stands) continue;
      const double weight = demand.weight * demand.weight;
      sum += weight * (demand.pressure - Nearest(demand.support, demand.pressure)).squaredNorm();
      count += weight;
    }
    return std::sqrt(sum / std::max(count, 1.0));
  }

  /// Weight on the square of a shift at an instant.
  static double ShiftWeight(const Demand& demand) {
    return demand.stands && !demand.on_feet ? kDraggedWeight : kShiftWeight;
  }

  /// The rows of the least squares problem (3 times poses x poses): for each instant how a shift of the center of mass
  /// moves the center of pressure (in flight, its curvature), the shift itself, and a change of that pressure by time.
  Eigen::SparseMatrix<double> Rows(const std::vector<Demand>& demands) const {
    const auto count = static_cast<Eigen::Index>(demands.size());
    const double h = frame_time_;
    std::vector<Eigen::Triplet<double>> entries;
    const auto add = [&](Eigen::Index row, Eigen::Index first, double factor, std::initializer_list<double> values) {
      for (const double value : values) entries.emplace_back(row, first++, factor * value);
    };
    for (Eigen::Index i = 0; i < count; ++i) {
      const Demand& demand = demands[static_cast<size_t>(i)];
      const double weight = demand.stands ? demand.weight : kFlightWeight;
      add(i, std::clamp<Eigen::Index>(i, 1, count - 2) - 1, -weight * demand.lever / (h * h), {1, -2, 1});
      if (demand.stands) add(i, i, weight, {1});
      add(count + i, i, std::sqrt(ShiftWeight(demand)), {1});
      add(2 * count + i, std::clamp<Eigen::Index>(i, 1, count - 3) - 1, kSmoothness * demand.lever / (h * h * h),
          {-1, 3, -3, 1});
    }
    Eigen::SparseMatrix<double> rows(3 * count, count);
    rows.setFromTriplets(entries.begin(), entries.end());
    return rows;
  }

  /// What is to be added to the path of the center of mass, by least squares. What is inside the soles is right: each
  /// pass wants the nearest such position.
  Path Shift(const std::vector<Demand>& demands, const Path& already) const {
    const auto count = static_cast<Eigen::Index>(demands.size());
    const Eigen::SparseMatrix<double> rows = Rows(demands);
    const optimization::LinearSquares squares(rows);
    Path shift = Path::Zero(count, 2), wanted = Path::Zero(3 * count, 2);
    for (Eigen::Index i = 0; i < count; ++i) {
      wanted.row(count + i) = -std::sqrt(ShiftWeight(demands[static_cast<size_t>(i)])) * already.row(i);
    }
    for (int projection = 0; projection < kProjections; ++projection) {
      const Path change = rows.topRows(count) * shift;
      for (Eigen::Index i = 0; i < count; ++i) {
        const Demand& demand = demands[static_cast<size_t>(i)];
        if (!demand.stands) continue;
        const Vec2 now = demand.pressure + change.row(i).transpose() / demand.weight;
        Vec2 step = Nearest(demand.support, now) - now;
        step *= std::min(1.0, kMostWanted * size_ / std::max(step.norm(), kTiny));
        wanted.row(i) = demand.weight * (now + step - demand.pressure).transpose();
      }
      shift = squares.Solve(wanted);
    }
    return shift;
  }

  void Apply(const character::ReferenceMotion& reference, const std::vector<State>& recorded, const Path& shift) {
    result_.poses = reference.poses();
    for (size_t i = 0; i < recorded.size(); ++i) {
      Pose& pose = result_.poses[i];
      const Vec3 offset(shift(static_cast<Eigen::Index>(i), 0), 0, shift(static_cast<Eigen::Index>(i), 1));
      pose.root_position += offset;
      State moved = recorded[i];
      character::Translate(moved, offset);
      for (const Leg& leg : legs_) {
        const Vec3 ankle = character::JointPosition(character_, JointAt(leg.ankle), recorded[i]);
        character::BendLeg(character_, leg, moved, {ankle, Quat::Identity()}, pose);
      }
      character::ForwardKinematics(character_, pose, states_[i]);
    }
  }

  const Character& character_;
  metrics::Surface ground_;
  double gravity_;
  double frame_time_;
  double size_;             // as a share of the human's
  std::vector<bool> feet_;  // (bodies)
  std::vector<Leg> legs_;
  std::vector<State> states_;  // (poses)
  Balancing result_;
};

}  // namespace

io::Json Balancing::ToJson() const {
  return {{"largest_shift", largest_shift},
          {"outside_before", outside_before},
          {"outside_after", outside_after},
          {"notes", notes}};
}

Balancing BalanceMotion(const character::ReferenceMotion& reference, const simulation::Environment& environment,
                        double gravity) {
  return Balancer(reference, environment, gravity).Balance(reference);
}

}  // namespace retrace::task
