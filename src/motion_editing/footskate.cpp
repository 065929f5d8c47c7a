#include "retrace/motion_editing/footskate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "boxes.h"
#include "filters.h"
#include "leg_reach.h"
#include "retrace/character/kinematics.h"
#include "retrace/character/legs.h"
#include "retrace/io/number.h"
#include "retrace/math/rotation.h"
#include "retrace/math/smooth_step.h"
#include "retrace/metrics/gates.h"
#include "retrace/metrics/surface.h"

namespace retrace::task {
namespace {

using character::BodyState;
using character::Character;
using character::State;

// Lengths are those of the human, and follow the height of others.
constexpr double kHighest = 10;         // over nothing at all a foot is so high [m]
constexpr double kBeside = 0.05;        // from a foot's middle, at which the slope of its floor is measured [m]
constexpr double kUneven = 0.005;       // a floor that bends by more between these is an edge [m]
constexpr double kOnFloor = 0.025;      // an edge of a sole lower than this may stand [m]
constexpr double kOffFloor = 0.05;      // and one higher than this does not
constexpr double kLevel = 0.03;         // a sole whose edges are both lower than this is level [m]
constexpr double kTilted = 0.06;        // and one with an edge higher than this is not
constexpr double kStill = 0.4;          // an edge that moves slower than this over the floor may stand [m/s]
constexpr double kSliding = 1;          // and one that is faster does not
constexpr double kAtRest = 0.1;         // a foot that moves slower than this rests [m/s]
constexpr double kMoving = 0.3;         // and one that is faster does not
constexpr double kRestsOnFloor = 0.06;  // a foot at rest that is lower than this stands [m]
constexpr double kRestsOffFloor = 0.1;  // and one that is higher does not
constexpr double kUpright = 0.8;        // cosine of a foot's tilt from which on it stands on its sole
constexpr double kOnItsSide = 0.5;      // and under which it does not
constexpr double kClearance = 0.03;     // of a foot that does not stand [m]
constexpr double kBetweenLegs = 0.02;   // least distance of the shins and feet of two legs [m]
constexpr double kMostApart = 0.15;     // by which legs are moved apart at most [m]
constexpr double kEven = 0.001;         // added to the shares of legs, which might all be 0
constexpr double kShinShare = 0.7;      // of a foot's sideways displacement that its shin makes
// Standard deviations of filters [s].
constexpr double kSmoothSupport = 0.02;
constexpr double kSmoothShift = 0.03;
constexpr double kSmoothApart = 0.03;
// Reaches of the largest value around an instant [s].
constexpr double kAroundApart = 0.05;

/// 1 below `low`, 0 above `high`.
double Fade(double value, double low, double high) {
  return 1 - SmoothStep(std::clamp((value - low) / (high - low), 0.0, 1.0));
}

/// Corners of the bottom of a foot's box, in its axes.
struct Sole {
  Sole(const character::Body& foot) {
    Vec3 least = Vec3::Constant(std::numeric_limits<double>::infinity()), most = -least;
    for (const character::Shape& shape : foot.shapes) {
      least = least.cwiseMin(shape.offset - shape.HalfExtents());
      most = most.cwiseMax(shape.offset + shape.HalfExtents());
    }
    toes = {Vec3(least.x(), least.y(), most.z()), Vec3(most.x(), least.y(), most.z())};
    heel = {Vec3(least.x(), least.y(), least.z()), Vec3(most.x(), least.y(), least.z())};
  }

  static Vec3 Middle(const std::array<Vec3, 2>& edge, const BodyState& foot) {
    return foot.position + foot.orientation * Vec3(0.5 * (edge[0] + edge[1]));
  }
  /// Calls visit(corner) for its corners.
  template <typename Visit>
  void ForEachCorner(const Vec3& position, const Quat& orientation, const Visit& visit) const {
    for (const auto& edge : {toes, heel}) {
      for (const Vec3& corner : edge) visit(Vec3(position + orientation * corner));
    }
  }

  std::array<Vec3, 2> toes, heel;
};

/// What becomes of a leg (poses).
struct CleanedLeg {
  std::vector<double> support;  ///< from 0, in the air, to 1, standing
  std::vector<double> level;    ///< of these: on the whole sole
  std::vector<character::Footing> footing;
};

class FootCleaner {
 public:
  FootCleaner(const character::ReferenceMotion& reference, const simulation::Environment& ground)
      : character_(reference.character()),
        ground_(ground),
        frame_time_(reference.frame_time()),
        size_(reference.character().height / metrics::kHumanHeight),
        states_(reference.StatesOfPoses()) {
    result_.poses = reference.poses();
  }

  FootCleaning Clean() {
    for (const character::Leg& leg : character::LegsOf(character_)) {
      if (FootOf(leg).shapes.empty()) continue;
      legs_.push_back(leg);
      legs_.back().folding = character::FoldingOf(character_, leg, states_);
    }
    for (const character::Leg& leg : legs_) PlaceFoot(leg);
    if (legs_.empty()) {
      result_.notes.emplace_back(
          "the reference's feet stay as they are: no ball joints hold the legs at hip and ankle");
      return std::move(result_);
    }
    ReachFeet();
    for (size_t l = 0; l < legs_.size(); ++l) {
      for (size_t i = 0; i < states_.size(); ++i) {
        character::BendLeg(character_, legs_[l], states_[i], cleaned_[l].footing[i], result_.poses[i]);
      }
    }
    KeepLegsApart();
    Report();
    return std::move(result_);
  }

 private:
  const character::Joint& JointAt(int joint) const { return character_.joints[static_cast<size_t>(joint)]; }
  const character::Body& FootOf(const character::Leg& leg) const {
    return character_.bodies[static_cast<size_t>(JointAt(leg.ankle).child)];
  }
  Vec3 PositionOf(int joint, size_t pose) const {
    return character::JointPosition(character_, JointAt(joint), states_[pose]);
  }

  /// The normal of the floor under a point; upwards where the floor has an edge.
  Vec3 NormalUnder(const Vec3& point) const {
    const double side = kBeside * size_;
    const auto height = [&](double x, double z) { return ground_.GroundUnder(point + Vec3(x, 0, z)); };
    const double middle = height(0, 0), right = height(side, 0), left = height(-side, 0);
    const double ahead = height(0, side), behind = height(0, -side);
    const double bend = std::max(std::abs(right + left - 2 * middle), std::abs(ahead + behind - 2 * middle));
    if (bend > kUneven * size_) return Vec3::UnitY();
    return Vec3(left - right, 2 * side, behind - ahead).normalized();
  }
  double LowestCorner(const Sole& sole, const Vec3& position, const Quat& orientation) const {
    double lowest = kHighest;
    sole.ForEachCorner(position, orientation,
                       [&](const Vec3& corner) { lowest = std::min(lowest, ground_.HeightOf(corner)); });
    return lowest;
  }

  /// Speed of the middle of a sole's edge around a pose [m/s].
  Vec3 VelocityOf(const std::array<Vec3, 2>& edge, size_t foot, size_t pose) const {
    const size_t before = pose > 0 ? pose - 1 : 0, after = std::min(pose + 1, states_.size() - 1);
    const Vec3 way = Sole::Middle(edge, states_[after][foot]) - Sole::Middle(edge, states_[before][foot]);
    return way / (static_cast<double>(after - before) * frame_time_ * size_);
  }

  /// Slowest speed over the floor of an edge of a sole that may stand [m/s].
  double SpeedOf(const Sole& sole, size_t foot, size_t pose) const {
    double slowest = std::numeric_limits<double>::infinity();
    for (const auto& edge : {sole.toes, sole.heel}) {
      if (ground_.HeightOf(Sole::Middle(edge, states_[pose][foot])) > kOffFloor * size_) continue;
      const Vec3 velocity = VelocityOf(edge, foot, pose);
      slowest = std::min(slowest, std::hypot(velocity.x(), velocity.z()));
    }
    return slowest;
  }

  void FindSupport(const Sole& sole, size_t foot, CleanedLeg& leg) const {
    for (size_t i = 0; i < states_.size(); ++i) {
      const BodyState& state = states_[i][foot];
      const double toes = ground_.HeightOf(Sole::Middle(sole.toes, state)) / size_;
      const double heel = ground_.HeightOf(Sole::Middle(sole.heel, state)) / size_;
      const double lower = std::min(toes, heel), higher = std::max(toes, heel);
      const double upright = 1 - Fade((state.orientation * Vec3::UnitY()).y(), kOnItsSide, kUpright);
      const double slow = upright * Fade(SpeedOf(sole, foot, i), kStill, kSliding);
      // A foot that rests where the floor almost is has been put there too high.
      const double faster = std::max(VelocityOf(sole.toes, foot, i).norm(), VelocityOf(sole.heel, foot, i).norm());
      const double rests = upright * Fade(faster, kAtRest, kMoving) * Fade(lower, kRestsOnFloor, kRestsOffFloor);
      leg.support.push_back(std::max(slow * Fade(lower, kOnFloor, kOffFloor), rests));
      leg.level.push_back(
          std::max(slow * Fade(higher, kLevel, kTilted), rests * Fade(higher - lower, kLevel, kTilted)));
    }
    leg.support = Smoothed(leg.support, kSmoothSupport / frame_time_);
    leg.level = Smoothed(leg.level, kSmoothSupport / frame_time_);
  }

  /// The orientation of a foot with its roll and its pitch taken away, by these shares.
  static Quat Leveled(Quat orientation, double across, double along) {
    const Vec3 x = orientation * Vec3::UnitX(), y = orientation * Vec3::UnitY();
    orientation = FromRotationVector(-across * std::atan2(x.y(), y.y()) * (orientation * Vec3::UnitZ())) * orientation;
    const Vec3 z = orientation * Vec3::UnitZ();
    const Vec3 axis = Vec3::UnitY().cross(z);
    if (axis.norm() < 1e-6) return orientation;
    return FromRotationVector(along * std::asin(std::clamp(z.y(), -1.0, 1.0)) * axis.normalized()) * orientation;
  }

  /// The same on a slope.
  static Quat LeveledOn(const Vec3& normal, const Quat& orientation, double across, double along) {
    if (normal == Vec3::UnitY()) return Leveled(orientation, across, along);
    const Quat slope = ShortestArc(Vec3::UnitY(), normal);
    return slope * Leveled(slope.conjugate() * orientation, across, along);
  }

  void PlaceFoot(const character::Leg& leg) {
    const auto foot = static_cast<size_t>(JointAt(leg.ankle).child);
    const Sole sole(FootOf(leg));
    CleanedLeg& cleaned = cleaned_.emplace_back();
    FindSupport(sole, foot, cleaned);
    std::vector<double> shifts;
    for (size_t i = 0; i < states_.size(); ++i) {
      const BodyState& state = states_[i][foot];
      const double support = cleaned.support[i];
      const Vec3 ankle = PositionOf(leg.ankle, i);
      const Quat orientation = LeveledOn(NormalUnder(state.position), state.orientation, support, cleaned.level[i]);
      const Quat tilt = orientation * state.orientation.conjugate();
      const double low = LowestCorner(sole, ankle + tilt * Vec3(state.position - ankle), orientation);
      shifts.push_back(-support * low + (1 - support) * std::max(0.0, kClearance * size_ - low));
      cleaned.footing.push_back({ankle, tilt});
    }
    shifts = Smoothed(shifts, kSmoothShift / frame_time_);
    for (size_t i = 0; i < states_.size(); ++i) {
      cleaned.footing[i].ankle.y() += shifts[i];
      result_.largest_shift = std::max(result_.largest_shift, std::abs(shifts[i]));
      result_.largest_tilt = std::max(result_.largest_tilt, RotationVector(cleaned.footing[i].tilt).norm());
    }
  }

  /// Bend of a knee in a pose, negative where it is hyperextended [rad].
  double BendOf(const character::Leg& leg, size_t pose) const {
    const Vec3 thigh = PositionOf(leg.knee, pose) - PositionOf(leg.hip, pose);
    const Vec3 shin = PositionOf(leg.ankle, pose) - PositionOf(leg.knee, pose);
    const double bend = std::atan2(thigh.cross(shin).norm(), thigh.dot(shin));
    const bool hinge = JointAt(leg.knee).type == character::JointType::kHinge;
    return hinge && leg.folding * character::Folding(character_, leg, states_[pose]) < 0 ? -bend : bend;
  }

  /// Brings the root down and ankles nearer where legs would be stretched.
  void ReachFeet() {
    std::vector<ReachingLeg> reaching;
    for (size_t l = 0; l < legs_.size(); ++l) {
      const character::Leg& leg = legs_[l];
      ReachingLeg& one = reaching.emplace_back();
      one.upper = (JointAt(leg.knee).anchor - JointAt(leg.hip).anchor).norm();
      one.lower = (JointAt(leg.ankle).anchor - JointAt(leg.knee).anchor).norm();
      one.support = cleaned_[l].support;
      for (size_t i = 0; i < states_.size(); ++i) {
        one.wanted.push_back(cleaned_[l].footing[i].ankle - PositionOf(leg.hip, i));
        one.recorded.push_back(BendOf(leg, i));
      }
    }
    const LegReach found = ReachSmoothly(reaching, frame_time_, size_);
    for (size_t i = 0; i < states_.size(); ++i) {
      const Vec3 lowered(0, -found.lowering[i], 0);
      result_.poses[i].root_position += lowered;
      character::Translate(states_[i], lowered);
      result_.largest_lowering = std::max(result_.largest_lowering, found.lowering[i]);
      for (size_t l = 0; l < legs_.size(); ++l) {
        const Vec3 hip = PositionOf(legs_[l].hip, i);
        Vec3& ankle = cleaned_[l].footing[i].ankle;
        ankle = hip + found.reach[l][i] * Vec3(ankle - hip).normalized();
      }
    }
  }

  /// Boxes about the shin and the foot of a leg, wider by half of the clearance, moved sideways as a leg that is turned
  /// about its hip moves them.
  std::vector<Box> BoxesOf(const character::Leg& leg, const State& state, const Vec3& shift) const {
    std::vector<Box> boxes;
    for (const auto& [joint, share] : {std::pair{leg.knee, kShinShare}, std::pair{leg.ankle, 1.0}}) {
      const auto body = static_cast<size_t>(JointAt(joint).child);
      const Eigen::Matrix3d axes = state[body].orientation.toRotationMatrix();
      for (const character::Shape& shape : character_.bodies[body].shapes) {
        boxes.push_back({state[body].position + axes * shape.offset + share * shift, axes,
                         shape.HalfExtents() + Vec3::Constant(0.5 * kBetweenLegs * size_)});
      }
    }
    return boxes;
  }

  /// By how much two legs must be moved apart, along their sides, so that they do not touch [m].
  double Separation(const character::Leg& a, const character::Leg& b, const State& state) const {
    const Vec3 sideways = Heading(state[static_cast<size_t>(character_.root)].orientation) * Vec3(a.side, 0, 0);
    const auto touch = [&](double distance) {
      for (const Box& one : BoxesOf(a, state, distance * sideways)) {
        for (const Box& other : BoxesOf(b, state, Vec3::Zero())) {
          if (Overlap(one, other)) return true;
        }
      }
      return false;
    };
    const double most = kMostApart * size_;
    if (!touch(0) || touch(most)) return 0;  // legs that are crossed stay so
    double low = 0, high = most;
    for (int k = 0; k < 8; ++k) {
      const double middle = 0.5 * (low + high);
      (touch(middle) ? low : high) = middle;
    }
    return high;
  }

  void KeepLegsApart() {
    if (character_.planar || legs_.size() != 2 || legs_[0].side * legs_[1].side > 0) return;
    std::vector<State> states(states_.size());
    std::vector<double> apart;
    for (size_t i = 0; i < states.size(); ++i) {
      character::ForwardKinematics(character_, result_.poses[i], states[i]);
      apart.push_back(Separation(legs_[0], legs_[1], states[i]));
    }
    apart = LargestAround(apart, static_cast<int>(std::lround(kAroundApart / frame_time_)));
    apart = Smoothed(apart, kSmoothApart / frame_time_);
    for (size_t i = 0; i < states.size(); ++i) {
      if (apart[i] == 0) continue;
      // The swinging leg moves aside; legs that both stand share the displacement.
      const double swings[2] = {1 + kEven - cleaned_[0].support[i], 1 + kEven - cleaned_[1].support[i]};
      for (size_t l = 0; l < 2; ++l) {
        const character::Leg& leg = legs_[l];
        const double share = swings[l] / (swings[0] + swings[1]);
        const Vec3 sideways =
            Heading(states[i][static_cast<size_t>(character_.root)].orientation) * Vec3(leg.side, 0, 0);
        const Vec3 ankle = character::JointPosition(character_, JointAt(leg.ankle), states[i]);
        character::BendLeg(character_, leg, states[i], {ankle + share * apart[i] * sideways, Quat::Identity()},
                           result_.poses[i]);
      }
      result_.largest_separation = std::max(result_.largest_separation, apart[i]);
    }
  }

  void Report() {
    size_t standing = 0;
    for (size_t i = 0; i < states_.size(); ++i) {
      double support = 0;
      for (const CleanedLeg& leg : cleaned_) support = std::max(support, leg.support[i]);
      standing += support > 0.5 ? 1 : 0;
    }
    result_.supported = static_cast<double>(standing) / static_cast<double>(states_.size());
    std::string note = "the reference's feet are put on the floor: ankles moved by ";
    note.append(io::Fixed(result_.largest_shift, 3)).append(" m in height at most, feet turned by ");
    note.append(io::Fixed(Degrees(result_.largest_tilt), 1)).append(" degrees, the root lowered by ");
    note.append(io::Fixed(result_.largest_lowering, 3)).append(" m, legs moved apart by ");
    note.append(io::Fixed(result_.largest_separation, 3)).append(" m; a foot stands in ");
    result_.notes.push_back(note.append(io::Fixed(100 * result_.supported, 0)).append(" % of the time"));
  }

  const Character& character_;
  metrics::Surface ground_;
  double frame_time_;
  double size_;                // as a share of the human's
  std::vector<State> states_;  // (poses)
  std::vector<character::Leg> legs_;
  std::vector<CleanedLeg> cleaned_;  // (legs)
  FootCleaning result_;
};

}  // namespace

io::Json FootCleaning::ToJson() const {
  return {{"largest_shift", largest_shift},
          {"largest_tilt", largest_tilt},
          {"largest_lowering", largest_lowering},
          {"largest_separation", largest_separation},
          {"supported", supported},
          {"notes", notes}};
}

FootCleaning CleanFeet(const character::ReferenceMotion& reference, const simulation::Environment& ground) {
  return FootCleaner(reference, ground).Clean();
}

}  // namespace retrace::task
