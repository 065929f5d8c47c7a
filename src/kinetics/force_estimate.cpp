#include "retrace/kinetics/force_estimate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "retrace/character/body_points.h"
#include "retrace/dynamics/character_dynamics.h"
#include "retrace/math/filter.h"
#include "retrace/math/smooth_step.h"
#include "retrace/optimization/quadratic_program.h"

namespace retrace::kinetics {
namespace {

using metrics::RequiredForces;
using metrics::SupportForce;

// A point carries force fully up to the first of these, and none from the second on: references have soles that are up
// to 40 mm over the floor while a plate still measures load.
constexpr std::array kHeights = {0.025, 0.05};  // over the ground [m]

// A point that moves so fast may carry half as much. A foot that comes down is not yet loaded, although smoothed
// kinematics have it near the ground 25 ms before it strikes.
constexpr double kSlidingSpeed = 0.5;  // along the ground [m/s]
constexpr double kFallingSpeed = 0.1;  // downwards [m/s]

// Toes carry less than heel and ball (Hughes, Clark and Klenerman 1990).
constexpr double kShareOfToes = 0.3;

// Standard deviations of the Gaussians over what is required [s]: forces to the left, up and to the front, and moments
// about these axes. Lateral forces of people change slowly, and what a recording has of fast ones is error.
constexpr std::array kSmoothing = {0.048, 0.0, 0.016, 0.037, 0.048, 0.048};
constexpr double kHeadingSmoothing = 0.1;  // of the front [s]

// A point that may carry less is left out.
constexpr double kSmallestWeight = 1e-4;

/// Where a body may be pressed on.
struct SupportPoint {
  int body = 0;
  Vec3 place = Vec3::Zero();  // [m]
  double weight = 0;          // 0 to 1: how much force it may well carry
};

/// 1 up to the first limit, 0 from the second on.
double Fade(double value, const std::array<double, 2>& limits) {
  return SmoothStep(std::clamp((limits[1] - value) / (limits[1] - limits[0]), 0.0, 1.0));
}

/// 1 at rest, half at the speed, never 0: the foot that alone is on the ground carries all, however it moves.
double Slow(double value, double speed) {
  const double ratio = value / speed;
  return 1 / (1 + ratio * ratio * ratio * ratio);
}

class Estimator {
 public:
  Estimator(const character::ReferenceMotion& reference, const std::vector<FootModel>& feet,
            const ForceEstimateOptions& options)
      : reference_(reference),
        character_(reference.character()),
        feet_(feet),
        options_(options),
        dynamics_(character_, options.gravity),
        before_(dynamics_.size()),
        after_(dynamics_.size()),
        velocity_(dynamics_.size()),
        acceleration_(dynamics_.size()),
        forces_(dynamics_.size()),
        wrenches_(character_.bodies.size()) {}

  std::vector<RequiredForces> All() {
    const size_t count = reference_.poses().size() - 2;
    std::vector<RequiredForces> results(count);
    for (size_t k = 0; k < count; ++k) Require(k + 1, results[k]);
    Smooth(results);
    for (size_t k = 0; k < count; ++k) Support(k + 1, results[k]);
    return results;
  }

  /// With given forces. @param measured (poses, feet)
  std::vector<RequiredForces> With(const std::vector<std::vector<MeasuredSupport>>& measured) {
    std::vector<RequiredForces> results(reference_.poses().size() - 2);
    for (size_t k = 0; k < results.size(); ++k) {
      Require(k + 1, results[k]);
      std::fill(wrenches_.begin(), wrenches_.end(), dynamics::Wrench());
      for (const MeasuredSupport& foot : measured.at(k + 1)) {
        if (!foot.loaded) continue;
        results[k].support.push_back(foot.support);
        dynamics_.AddForce(foot.body, foot.support.center, foot.support.force, wrenches_);
        wrenches_[static_cast<size_t>(foot.body)].torque.y() += foot.support.free_moment;
      }
      FindTorques(results[k]);
    }
    return results;
  }

 private:
  /// What is needed from outside at a pose.
  void Require(size_t i, RequiredForces& result) {
    result.time = static_cast<double>(i) * reference_.frame_time();
    SetMotion(i);
    dynamics_.InverseDynamics(acceleration_, {}, forces_);
    RemoveHeld(forces_.head<6>());
    result.center_of_mass = dynamics_.CenterOfMass();
    result.force = forces_.head<3>();
    result.moment = AboutCenterOfMass(result.center_of_mass);
  }

  /// Axes to the left, up and to the front at each result, without the sway of the pelvis.
  std::vector<Mat3> Axes(size_t count) const {
    Eigen::MatrixXd fronts(static_cast<Eigen::Index>(count), 2);
    for (size_t k = 0; k < count; ++k) {
      const Vec3 left = reference_.poses()[k + 1].root_orientation * Vec3::UnitX();
      fronts.row(static_cast<Eigen::Index>(k)) << -left.z(), left.x();
    }
    fronts = GaussianSmooth(fronts, kHeadingSmoothing / reference_.frame_time());
    std::vector<Mat3> axes;
    for (Eigen::Index k = 0; k < fronts.rows(); ++k) {
      const Vec3 front(fronts(k, 0), 0, fronts(k, 1));
      const Vec3 ahead = front.norm() > 1e-6 ? Vec3(front.normalized()) : Vec3(Vec3::UnitZ());
      axes.emplace_back() << Vec3::UnitY().cross(ahead), Vec3::UnitY(), ahead;
    }
    return axes;
  }

  /// Smooths what is required, as little or as much as each component is known.
  void Smooth(std::vector<RequiredForces>& results) const {
    const std::vector<Mat3> axes = Axes(results.size());
    Eigen::MatrixXd signals(static_cast<Eigen::Index>(results.size()), 6);
    for (size_t k = 0; k < results.size(); ++k) {
      signals.row(static_cast<Eigen::Index>(k)) << (axes[k].transpose() * results[k].force).transpose(),
          (axes[k].transpose() * results[k].moment).transpose();
    }
    for (Eigen::Index c = 0; c < 6; ++c) {
      const double deviation = kSmoothing[static_cast<size_t>(c)] / reference_.frame_time();
      if (deviation > 0) signals.col(c) = GaussianSmooth(signals.col(c), deviation);
    }
    for (size_t k = 0; k < results.size(); ++k) {
      const auto row = signals.row(static_cast<Eigen::Index>(k));
      results[k].force = axes[k] * row.head<3>().transpose();
      results[k].moment = axes[k] * row.tail<3>().transpose();
    }
  }

  void Support(size_t i, RequiredForces& result) {
    SetMotion(i);
    FindPoints();
    Divide(result);
    FindTorques(result);
  }

  void FindTorques(RequiredForces& result) {
    dynamics_.InverseDynamics(acceleration_, wrenches_, forces_);
    RemoveHeld(forces_.head<6>());
    result.missing_force = forces_.head<3>();
    result.missing_moment = AboutCenterOfMass(result.center_of_mass);
    for (size_t j = 0; j < character_.joints.size(); ++j) {
      const character::Joint& joint = character_.joints[j];
      Vec3 torque = Vec3::Zero(), rate = Vec3::Zero();
      int next = dynamics_.coordinates().FirstOf(static_cast<int>(j));
      for (int axis = 0; axis < 3; ++axis) {
        if (!joint.UsesAxis(axis)) continue;
        torque[axis] = forces_[next];
        rate[axis] = velocity_[next++];
      }
      result.torques.push_back(torque);
      result.powers.push_back(torque.dot(rate));
    }
  }

  void SetMotion(size_t i) {
    const std::vector<character::Pose>& poses = reference_.poses();
    const double step = reference_.frame_time();
    dynamics_.coordinates().Difference(poses[i - 1], poses[i], before_);
    dynamics_.coordinates().Difference(poses[i], poses[i + 1], after_);
    velocity_ = (before_ + after_) / (2 * step);
    acceleration_ = (after_ - before_) / (step * step);
    dynamics_.SetMotion(poses[i], velocity_);
  }

  /// Takes away, from forces and moments, what holds a planar character in its plane: no ground has to supply it.
  template <typename Wrench>
  void RemoveHeld(Wrench&& wrench) const {
    if (dynamics_.num_held() == 0) return;
    const auto held = dynamics_.RootAxes().rightCols<3>().eval();
    wrench -= (held * (held.transpose() * wrench)).eval();
  }

  /// The moment of the forces on the root, which act at its center.
  Vec3 AboutCenterOfMass(const Vec3& center) const {
    const Vec3 force = forces_.head<3>();
    return forces_.segment<3>(3) + (dynamics_.CenterOf(character_.root) - center).cross(force);
  }

  void AddPoint(int body, const Vec3& place, const Vec3& velocity, double share = 1) {
    const double weight = share * Fade(place.y(), kHeights) *
                          Slow(std::hypot(velocity.x(), velocity.z()), kSlidingSpeed) *
                          Slow(std::max(0.0, -velocity.y()), kFallingSpeed);
    if (weight >= kSmallestWeight) points_.push_back({body, Vec3(place.x(), 0, place.z()), weight});
  }

  void FindPoints() {
    points_.clear();
    for (size_t b = 0; b < character_.bodies.size(); ++b) {
      const int body = static_cast<int>(b);
      const auto foot =
          std::find_if(feet_.begin(), feet_.end(), [&](const FootModel& model) { return model.body == body; });
      if (foot != feet_.end()) {
        FindPointsOf(*foot);
        continue;
      }
      character::BodyState state;
      state.position = dynamics_.CenterOf(body);
      state.orientation = Quat(dynamics_.RotationOf(body));
      character::ForEachPoint(character_.bodies[b], state, [&](const Vec3& center, double radius) {
        const Vec3 place = center - radius * Vec3::UnitY();
        if (place.y() < kHeights[1]) AddPoint(body, place, dynamics_.VelocityOf(body, place));
      });
    }
  }

  void FindPointsOf(const FootModel& foot) {
    const Vec3 center = dynamics_.CenterOf(foot.body);
    const Mat3 turn = dynamics_.RotationOf(foot.body);
    const auto at = [&](double aside, double ahead) {
      return Vec3(center + turn * (foot.ankle + Vec3(aside, -foot.sole, ahead)));
    };
    const auto velocity = [&](const Vec3& place) { return dynamics_.VelocityOf(foot.body, place); };
    for (const double side : {-1.0, 1.0}) {
      const Vec3 heel = at(side * foot.half_heel, -foot.heel), ball = at(side * foot.half_ball, foot.ball);
      AddPoint(foot.body, heel, velocity(heel));
      AddPoint(foot.body, ball, velocity(ball));
      // Toes are level where the heel is up, and go on straight where it is down.
      Vec3 ahead = turn * Vec3::UnitZ();
      const bool bent = ahead.y() < 0;
      if (bent) ahead.y() = 0;
      if (!(ahead.norm() > 1e-6)) continue;
      const Vec3 middle = at(side * 0.5 * foot.half_ball, foot.ball);
      const Vec3 toes = middle + foot.toes * ahead.normalized();
      AddPoint(foot.body, toes, velocity(bent ? middle : toes), kShareOfToes);
    }
  }

  /// Divides what is required among the points, and sets the wrenches.
  void Divide(RequiredForces& result) {
    std::fill(wrenches_.begin(), wrenches_.end(), dynamics::Wrench());
    if (points_.empty()) return;
    double most = 0;
    for (const SupportPoint& point : points_) most = std::max(most, point.weight);
    for (SupportPoint& point : points_) point.weight /= most;
    const double weight = character_.total_mass() * (options_.gravity > 0 ? options_.gravity : kStandardGravity);
    const auto n = static_cast<int>(3 * points_.size());
    program_.Resize(n, 0, static_cast<int>(5 * points_.size()));
    // Forces in body weights: supplied = A f, of it the moments about the center of mass; each over its error.
    supply_.setZero(6, n);
    Eigen::Matrix<double, 6, 1> required, error;
    required << result.force / weight, result.moment / weight;
    error << options_.force_error, options_.moment_error;
    const Vec3 pivot = result.center_of_mass + options_.pivot_height * Vec3::UnitY();
    program_.hessian.setZero();
    for (size_t p = 0; p < points_.size(); ++p) {
      const auto column = static_cast<Eigen::Index>(3 * p);
      const Vec3 arm = points_[p].place - result.center_of_mass;
      for (int axis = 0; axis < 3; ++axis) {
        const Vec3 unit = Vec3::Unit(axis);
        supply_.block<3, 1>(0, column + axis) = unit;
        supply_.block<3, 1>(3, column + axis) = arm.cross(unit);
      }
      const auto row = static_cast<Eigen::Index>(5 * p);
      program_.inequality_matrix(row, column + 1) = 1;
      int next = 1;
      for (const int axis : {0, 2}) {
        for (const double sign : {-1.0, 1.0}) {
          program_.inequality_matrix(row + next, column + 1) = options_.friction;
          program_.inequality_matrix(row + next++, column + axis) = sign;
        }
      }
      const Vec3 line = (pivot - points_[p].place).normalized();
      const Mat3 cost = options_.across * Mat3::Identity() + (1 - options_.across) * line * line.transpose();
      program_.hessian.block<3, 3>(column, column) = 2 * options_.load / points_[p].weight * cost;
    }
    RemoveHeld(supply_);
    supply_ = error.cwiseInverse().asDiagonal() * supply_;
    required = required.cwiseQuotient(error).eval();
    program_.hessian += 2 * supply_.transpose() * supply_;
    program_.gradient = -2 * supply_.transpose() * required;
    const optimization::Summary& found = solver_.Solve(program_);
    if (found.status != optimization::Status::kOptimal) return;  // all is missing then, which the result shows
    for (size_t p = 0; p < points_.size(); ++p) {
      const Vec3 force = weight * found.x.segment<3>(static_cast<Eigen::Index>(3 * p));
      AddSupport(p, force, result);
      dynamics_.AddForce(points_[p].body, points_[p].place, force, wrenches_);
    }
    for (SupportForce& support : result.support) Finish(support);
  }

  /// Until Finish, `center` is the moment of the normal forces' positions.
  void AddSupport(size_t p, const Vec3& force, RequiredForces& result) {
    const SupportPoint& point = points_[p];
    if (result.support.empty() || result.support.back().body != point.body) {
      result.support.push_back({point.body, Vec3::Zero(), Vec3::Zero(), 0});
    }
    SupportForce& support = result.support.back();
    support.force += force;
    support.center += force.y() * point.place;
    support.free_moment += point.place.cross(force).y();
  }

  static void Finish(SupportForce& support) {
    if (support.force.y() > 0) support.center /= support.force.y();
    support.center.y() = 0;
    support.free_moment -= support.center.cross(support.force).y();
  }

  const character::ReferenceMotion& reference_;
  const character::Character& character_;
  std::vector<FootModel> feet_;
  ForceEstimateOptions options_;
  dynamics::CharacterDynamics dynamics_;
  Eigen::VectorXd before_;
  Eigen::VectorXd after_;
  Eigen::VectorXd velocity_;
  Eigen::VectorXd acceleration_;
  Eigen::VectorXd forces_;
  std::vector<dynamics::Wrench> wrenches_;
  std::vector<SupportPoint> points_;
  Eigen::MatrixXd supply_;
  optimization::QuadraticProgram program_;
  optimization::QuadraticProgramSolver solver_;
};

}  // namespace

std::vector<RequiredForces> EstimateForces(const character::ReferenceMotion& reference,
                                           const std::vector<FootModel>& feet, const ForceEstimateOptions& options) {
  if (!(options.gravity >= 0) || !(options.friction >= 0) || !std::isfinite(options.gravity + options.friction)) {
    throw std::invalid_argument("gravity and friction are finite and not negative");
  }
  std::vector<RequiredForces> result;
  const size_t count = reference.poses().size();
  if (count < 3) return result;
  return Estimator(reference, feet, options).All();
}

std::vector<RequiredForces> ApplyForces(const character::ReferenceMotion& reference,
                                        const std::vector<std::vector<MeasuredSupport>>& measured, double gravity) {
  if (reference.poses().size() < 3) return {};
  if (measured.size() != reference.poses().size()) throw std::invalid_argument("forces of other poses");
  ForceEstimateOptions options;
  options.gravity = gravity;
  return Estimator(reference, {}, options).With(measured);
}

}  // namespace retrace::kinetics
