#include "leg_reach.h"

#include <Eigen/SparseCore>
#include <algorithm>
#include <cmath>

#include "retrace/math/rotation.h"
#include "retrace/optimization/least_squares.h"

namespace retrace::task {
namespace {

// What counts as much as each other in the least squares.
constexpr double kStanding = 0.001;     // of a standing foot, along its leg [m]
constexpr double kInAir = 0.01;         // of a foot in the air [m]
constexpr double kBendRate = 40;        // change of a knee's angular acceleration [rad/s^2]
constexpr double kStraight = 0.05;      // of a knee that is less bent than it should be [rad]
constexpr double kLowering = 0.03;      // of the hips [m]
constexpr double kLoweringRate = 1;     // their acceleration by it [m/s^2]
constexpr double kBentStanding = 0.25;  // a knee over a standing foot should be bent so much [rad]
constexpr double kBentInAir = 0.1;      // and any other one [rad]
constexpr double kLeastBend = 0.02;     // that any has [rad]
constexpr int kReachRounds = 12;

class Reaching {
 public:
  Reaching(const std::vector<ReachingLeg>& legs, double frame_time, double size)
      : legs_(legs),
        poses_(static_cast<Eigen::Index>(legs.front().wanted.size())),
        per_pose_(static_cast<Eigen::Index>(legs.size()) + 1),
        rate_(1 / (frame_time * frame_time)),
        size_(size),
        values_(Eigen::VectorXd::Zero(poses_ * per_pose_)) {
    for (Eigen::Index i = 0; i < poses_; ++i) {
      for (size_t l = 0; l < legs_.size(); ++l)
        values_[BendOf(l, i)] = std::max(legs_[l].recorded[static_cast<size_t>(i)], kBentInAir);
    }
  }

  LegReach Solve() {
    optimization::LinearSquares squares;
    for (int round = 0; round < kReachRounds; ++round) {
      SetRows();
      Eigen::SparseMatrix<double> rows(static_cast<Eigen::Index>(errors_.size()), values_.size());
      rows.setFromTriplets(entries_.begin(), entries_.end());
      squares.SetRows(rows);
      const Eigen::Map<const Eigen::VectorXd> errors(errors_.data(), static_cast<Eigen::Index>(errors_.size()));
      values_ -= squares.Solve(errors);
      for (Eigen::Index i = 0; i < poses_; ++i) {
        for (size_t l = 0; l < legs_.size(); ++l)
          values_[BendOf(l, i)] = std::clamp(values_[BendOf(l, i)], kLeastBend, kPi - kLeastBend);
      }
    }
    LegReach result;
    for (Eigen::Index i = 0; i < poses_; ++i) result.lowering.push_back(values_[LoweringOf(i)]);
    for (size_t l = 0; l < legs_.size(); ++l) {
      std::vector<double>& reach = result.reach.emplace_back();
      for (Eigen::Index i = 0; i < poses_; ++i) reach.push_back(Reach(l, values_[BendOf(l, i)]));
    }
    return result;
  }

 private:
  Eigen::Index LoweringOf(Eigen::Index pose) const { return pose * per_pose_; }
  Eigen::Index BendOf(size_t leg, Eigen::Index pose) const {
    return pose * per_pose_ + 1 + static_cast<Eigen::Index>(leg);
  }
  double Reach(size_t leg, double bend) const {
    const double a = legs_[leg].upper, b = legs_[leg].lower;
    return std::sqrt(a * a + b * b + 2 * a * b * std::cos(bend));
  }

  void Add(Eigen::Index column, double weight) {
    entries_.emplace_back(static_cast<int>(errors_.size()), static_cast<int>(column), weight);
  }
  /// The second difference about a pose of what `column` gives, weighted.
  template <typename Column>
  double AddCurvature(Eigen::Index pose, double weight, const Column& column) {
    Add(column(pose - 1), weight);
    Add(column(pose), -2 * weight);
    Add(column(pose + 1), weight);
    return weight * (values_[column(pose - 1)] - 2 * values_[column(pose)] + values_[column(pose + 1)]);
  }

  /// Errors at the present values, and their derivatives. The pattern is the same in each round.
  void SetRows() {
    entries_.clear();
    errors_.clear();
    for (Eigen::Index i = 0; i < poses_; ++i) {
      const double lowering = values_[LoweringOf(i)];
      Add(LoweringOf(i), 1 / (kLowering * size_));
      errors_.push_back(lowering / (kLowering * size_));
      const bool inside = i > 0 && i + 1 < poses_;
      if (inside) {
        const double error = AddCurvature(i, rate_ / (kLoweringRate * size_), [&](auto p) { return LoweringOf(p); });
        errors_.push_back(error);
      }
      for (size_t l = 0; l < legs_.size(); ++l) AddLeg(l, i, inside);
    }
  }

  void AddLeg(size_t l, Eigen::Index i, bool inside) {
    const ReachingLeg& leg = legs_[l];
    const auto pose = static_cast<size_t>(i);
    const double support = leg.support[pose], bend = values_[BendOf(l, i)], lowering = values_[LoweringOf(i)];
    // The foot, along the leg.
    const Vec3 wanted = leg.wanted[pose] + lowering * Vec3::UnitY();
    const double reach = Reach(l, bend), distance = wanted.norm();
    const double foot = 1 / (size_ * (kInAir + support * (kStanding - kInAir)));
    Add(BendOf(l, i), -foot * leg.upper * leg.lower * std::sin(bend) / reach);
    Add(LoweringOf(i), -foot * wanted.y() / std::max(distance, 1e-6));
    errors_.push_back(foot * (reach - distance));
    // The knee.
    const double least = kBentInAir + support * (kBentStanding - kBentInAir);
    const double straight = bend < least ? 1 / kStraight : 0;
    Add(BendOf(l, i), straight);
    errors_.push_back(straight * (bend - least));
    if (!inside) return;
    const double weight = rate_ / kBendRate;
    const double recorded = leg.recorded[pose - 1] - 2 * leg.recorded[pose] + leg.recorded[pose + 1];
    const double error = AddCurvature(i, weight, [&](auto p) { return BendOf(l, p); });
    errors_.push_back(error - weight * recorded);
  }

  const std::vector<ReachingLeg>& legs_;
  Eigen::Index poses_, per_pose_;
  double rate_;  // [1/s^2]
  double size_;
  Eigen::VectorXd values_;  // (poses x (lowering, bends))
  std::vector<Eigen::Triplet<double>> entries_;
  std::vector<double> errors_;
};

}  // namespace

LegReach ReachSmoothly(const std::vector<ReachingLeg>& legs, double frame_time, double size) {
  if (legs.empty() || legs.front().wanted.empty()) return {};
  return Reaching(legs, frame_time, size).Solve();
}

}  // namespace retrace::task
