#include "retrace/kinetics/force_estimate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <utility>

#include "retrace/character/body_points.h"
#include "retrace/dynamics/pose_dynamics.h"
#include "retrace/math/filter.h"
#include "retrace/metrics/surface.h"
#include "retrace/optimization/quadratic_program.h"

namespace retrace::kinetics {
namespace {

using dynamics::Fade;
using dynamics::SupportPoint;
using metrics::RequiredForces;

// A point carries force fully up to the first of these, and hardly any from the second on: references have soles that
// are up to 40 mm over the floor while a plate still measures load.
constexpr std::array kHeights = {0.025, 0.05};  // over the ground [m]

// Where no point is as low and force is required, a higher one carries it: the floor of a recording is known to some
// centimeters only, and a landing foot is smoothed upward.
constexpr double kShareOfHigh = 0.01;              // of what a point carries that is near the ground
constexpr std::array kHighHeights = {0.05, 0.15};  // over the ground [m]
constexpr std::array kRisingSpeeds = {0.4, 1.0};   // of a high point that leaves the ground [m/s]

// Flesh and cushions give, so that a seat bears before the height of a body that sits is reached.
constexpr std::array kSeatHeights = {0.03, 0.1};  // of pelvis and thighs over a seat [m]
constexpr double kSinkingSpeed = 1;               // half as much is carried by a body that sits down so fast [m/s]

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
// The same of the weights of the lines that are fitted to centers of pressure [s].
constexpr double kCenterSmoothing = 0.07;

// While both feet carry more than this, the load goes over from one to the other [body weights].
constexpr double kCarries = 0.05;
constexpr double kLongestPass = 0.3;  // longer double support is standing [s]
// How well it is known from the instants around, standard deviations: where the load of a foot acts, and how much of
// the load it has while that goes over.
constexpr double kCenterError = 0.015;  // [m]
constexpr double kShareError = 0.07;

// A point that may carry less is left out.
constexpr double kSmallestWeight = 1e-7;

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
        pose_(reference, options.gravity),
        surface_(options_.environment) {}

  std::vector<RequiredForces> All() {
    const size_t count = reference_.poses().size() - 2;
    std::vector<RequiredForces> results(count);
    for (size_t k = 0; k < count; ++k) {
      pose_.SetPose(k + 1);
      pose_.Require(results[k]);
    }
    Smooth(results);
    const std::vector<RequiredForces> required = results;
    for (size_t k = 0; k < count; ++k) {
      pose_.SetPose(k + 1);
      FindPoints();
      Divide(results[k], {});
    }
    for (const FootModel& foot : feet_) SmoothCenters(foot, results);
    const std::vector<Hints> hints = FindHints(results);
    results = required;
    for (size_t k = 0; k < count; ++k) {
      pose_.SetPose(k + 1);
      FindPoints();
      Divide(results[k], hints[k]);
      for (metrics::SupportForce& support : results[k].support) {
        for (const FootHint& hint : hints[k]) {
          if (hint.body == support.body) support.center = hint.center;
        }
      }
    }
    for (size_t k = 0; k < count; ++k) {
      pose_.SetPose(k + 1);
      for (const metrics::SupportForce& support : results[k].support) pose_.Press(support);
      pose_.FindTorques(results[k]);
    }
    return results;
  }

  /// With given forces. @param measured (poses) of what carries
  std::vector<RequiredForces> With(const std::vector<std::vector<metrics::SupportForce>>& measured) {
    std::vector<RequiredForces> results(reference_.poses().size() - 2);
    for (size_t k = 0; k < results.size(); ++k) {
      pose_.SetPose(k + 1);
      pose_.Require(results[k]);
      results[k].support = measured[k + 1];
      for (const metrics::SupportForce& support : results[k].support) pose_.Press(support);
      pose_.FindTorques(results[k]);
    }
    return results;
  }

 private:
  /// What is known of a foot from the instants around.
  struct FootHint {
    int body = 0;
    Vec3 center = Vec3::Zero();   ///< of pressure
    std::optional<double> share;  ///< of the load of both feet, while it goes over from one to the other
  };
  using Hints = std::vector<FootHint>;

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

  /// The center of pressure of a foot at one pose, from under its ankle, along the foot and to its side.
  struct FootCenter {
    metrics::SupportForce* support = nullptr;  ///< null: the foot carries nothing
    Vec3 ankle = Vec3::Zero();
    Vec3 ahead = Vec3::UnitZ();
    Eigen::Vector2d offset = Eigen::Vector2d::Zero();
  };

  std::vector<FootCenter> CentersOf(const FootModel& foot, std::vector<RequiredForces>& results) {
    std::vector<FootCenter> centers(results.size());
    for (size_t k = 0; k < results.size(); ++k) {
      for (metrics::SupportForce& support : results[k].support) {
        if (support.body != foot.body || !(support.force.y() > 0)) continue;
        FootCenter& center = centers[k];
        pose_.SetPose(k + 1);
        const Mat3 turn = pose_.dynamics().RotationOf(foot.body);
        center.support = &support;
        center.ankle = pose_.dynamics().CenterOf(foot.body) + turn * foot.ankle;
        const Vec3 ahead(turn(0, 2), 0, turn(2, 2));
        if (ahead.norm() > 1e-6) center.ahead = ahead.normalized();
        const Vec3 from = support.center - center.ankle;
        center.offset << from.dot(center.ahead), from.dot(Vec3::UnitY().cross(center.ahead));
      }
    }
    return centers;
  }

  /// Lets the center of pressure move under each stance of a foot as steadily as those of people do: a line is fitted
  /// to what is around each pose, by what is carried there. Moments of a recording have errors that let it jump.
  void SmoothCenters(const FootModel& foot, std::vector<RequiredForces>& results) {
    const std::vector<FootCenter> centers = CentersOf(foot, results);
    const double step = reference_.frame_time();
    const auto reach = static_cast<std::ptrdiff_t>(std::ceil(3 * kCenterSmoothing / step));
    const auto count = static_cast<std::ptrdiff_t>(centers.size());
    for (std::ptrdiff_t k = 0; k < count; ++k) {
      const FootCenter& center = centers[static_cast<size_t>(k)];
      if (center.support == nullptr) continue;
      Eigen::Matrix2d normal = Eigen::Matrix2d::Zero();
      Eigen::Matrix2d right = Eigen::Matrix2d::Zero();
      for (const std::ptrdiff_t direction : {-1, 1}) {
        for (std::ptrdiff_t d = direction < 0 ? 0 : 1; d <= reach; ++d) {
          const std::ptrdiff_t at = k + direction * d;
          if (at < 0 || at >= count || centers[static_cast<size_t>(at)].support == nullptr) break;
          const FootCenter& other = centers[static_cast<size_t>(at)];
          const double time = static_cast<double>(direction * d) * step;
          const double weight = std::exp(-0.5 * time * time / (kCenterSmoothing * kCenterSmoothing)) *
                                other.support->force.y() / pose_.weight();
          const Eigen::Vector2d basis(1, time / kCenterSmoothing);
          normal += weight * basis * basis.transpose();
          right += weight * basis * other.offset.transpose();
        }
      }
      normal(1, 1) += 1e-3 * normal(0, 0);
      const Eigen::Vector2d offset = normal.ldlt().solve(right).row(0).transpose();
      const double height = center.support->center.y();
      center.support->center = center.ankle + offset[0] * center.ahead + offset[1] * Vec3::UnitY().cross(center.ahead);
      center.support->center.y() = height;
    }
  }

  /// From forces whose centers of pressure are steady.
  std::vector<Hints> FindHints(const std::vector<RequiredForces>& results) const {
    std::vector<Hints> hints(results.size());
    for (size_t k = 0; k < results.size(); ++k) {
      for (const metrics::SupportForce& support : results[k].support) {
        const bool foot =
            std::any_of(feet_.begin(), feet_.end(), [&](const FootModel& model) { return model.body == support.body; });
        if (foot && support.force.y() > 0) hints[k].push_back({support.body, support.center, {}});
      }
    }
    if (feet_.size() == 2) ShareEvenly(results, hints);
    return hints;
  }

  enum class Stance { kNone, kFirst, kSecond, kBoth, kOther };

  /// Which of two feet carry, and whether anything else does.
  Stance StanceOf(const RequiredForces& instant) const {
    double first = 0, second = 0, other = 0;
    for (const metrics::SupportForce& support : instant.support) {
      double& load = support.body == feet_[0].body ? first : support.body == feet_[1].body ? second : other;
      load += support.force.y() / pose_.weight();
    }
    if (other > kCarries) return Stance::kOther;
    if (first > kCarries && second > kCarries) return Stance::kBoth;
    return first > kCarries ? Stance::kFirst : second > kCarries ? Stance::kSecond : Stance::kNone;
  }

  /// Where the load goes over from one foot to the other, it does so evenly, from the strike of the one to the leave of
  /// the other.
  void ShareEvenly(const std::vector<RequiredForces>& results, std::vector<Hints>& hints) const {
    const auto alone = [](Stance stance) { return stance == Stance::kFirst || stance == Stance::kSecond; };
    for (size_t begin = 1; begin < results.size(); ++begin) {
      const Stance before = StanceOf(results[begin - 1]);
      if (StanceOf(results[begin]) != Stance::kBoth || !alone(before)) continue;
      size_t end = begin;
      while (end < results.size() && StanceOf(results[end]) == Stance::kBoth) ++end;
      if (end == results.size()) return;
      const Stance after = StanceOf(results[end]);
      const auto poses = static_cast<double>(end - begin);
      if (!alone(after) || after == before || poses * reference_.frame_time() > kLongestPass) continue;
      const int striking = feet_[after == Stance::kFirst ? 0 : 1].body;
      for (size_t k = begin; k < end; ++k) {
        const double share = static_cast<double>(k - begin + 1) / (poses + 1);
        for (FootHint& hint : hints[k]) hint.share = hint.body == striking ? share : 1 - share;
      }
    }
  }

  /// Height of the ground, or of what stands on it, under a point that may be pressed into it.
  double GroundUnder(const Vec3& place) const { return options_.environment.empty() ? 0 : surface_.GroundUnder(place); }

  void AddPoint(int body, const Vec3& on_ground, double weight) {
    if (weight >= kSmallestWeight) points_.push_back({body, on_ground, weight, on_ground.y()});
  }

  void AddPoint(int body, const Vec3& place, const Vec3& velocity, double share = 1) {
    const double ground = GroundUnder(place);
    const double height = place.y() - ground;
    const double near =
        Fade(height, kHeights) + kShareOfHigh * Fade(height, kHighHeights) * Fade(velocity.y(), kRisingSpeeds);
    const double weight = share * near * Slow(std::hypot(velocity.x(), velocity.z()), kSlidingSpeed) *
                          Slow(std::max(0.0, -velocity.y()), kFallingSpeed);
    AddPoint(body, Vec3(place.x(), ground, place.z()), weight);
  }

  void FindPoints() {
    points_.clear();
    for (size_t b = 0; b < character_.bodies.size(); ++b) {
      const int body = static_cast<int>(b);
      const auto foot =
          std::find_if(feet_.begin(), feet_.end(), [&](const FootModel& model) { return model.body == body; });
      if (foot != feet_.end()) {
        FindPointsOf(*foot);
      } else if (Sits(body)) {
        FindSeatPoints(body);
      } else {
        FindPointsOf(body);
      }
    }
  }

  /// Pelvis and thighs.
  bool Sits(int body) const {
    if (body == character_.root) return true;
    const std::string& segment = character_.bodies[static_cast<size_t>(body)].segment;
    return segment == "left_thigh" || segment == "right_thigh";
  }

  void FindPointsOf(int body) {
    character::BodyState state;
    state.position = pose_.dynamics().CenterOf(body);
    state.orientation = Quat(pose_.dynamics().RotationOf(body));
    character::ForEachPoint(character_.bodies[static_cast<size_t>(body)], state,
                            [&](const Vec3& center, double radius) {
                              const Vec3 place = center - radius * Vec3::UnitY();
                              if (place.y() - GroundUnder(place) < kHeights[1])
                                AddPoint(body, place, pose_.dynamics().VelocityOf(body, place));
                            });
  }

  /// A seat bears thighs along their length.
  void FindSeatPoints(int body) {
    constexpr int kPoints = 4;  // along a capsule
    const Vec3 center = pose_.dynamics().CenterOf(body);
    const Mat3 turn = pose_.dynamics().RotationOf(body);
    for (const character::Shape& shape : character_.bodies[static_cast<size_t>(body)].shapes) {
      if (shape.kind != character::Shape::Kind::kCapsule) continue;
      for (int k = 0; k < kPoints; ++k) {
        const double along = (static_cast<double>(k) / (kPoints - 1) - 0.5) * shape.length;
        const Vec3 place =
            center + turn * (shape.offset + along * Vec3::Unit(shape.axis)) - shape.radius * Vec3::UnitY();
        const double ground = GroundUnder(place);
        const Vec3 velocity = pose_.dynamics().VelocityOf(body, place);
        AddPoint(body, Vec3(place.x(), ground, place.z()),
                 Fade(place.y() - ground, kSeatHeights) * Slow(std::hypot(velocity.x(), velocity.z()), kSlidingSpeed) *
                     Slow(std::max(0.0, -velocity.y()), kSinkingSpeed));
      }
    }
  }

  void FindPointsOf(const FootModel& foot) {
    const Vec3 center = pose_.dynamics().CenterOf(foot.body);
    const Mat3 turn = pose_.dynamics().RotationOf(foot.body);
    const auto at = [&](double aside, double ahead) {
      return Vec3(center + turn * (foot.ankle + Vec3(aside, -foot.sole, ahead)));
    };
    const auto velocity = [&](const Vec3& place) { return pose_.dynamics().VelocityOf(foot.body, place); };
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

  /// Divides what is required among the points.
  void Divide(RequiredForces& result, const Hints& hints) {
    if (points_.empty()) return;
    double most = 0;
    for (const SupportPoint& point : points_) most = std::max(most, point.weight);
    for (SupportPoint& point : points_) point.weight /= most;
    pose_.Constrain(points_, result.center_of_mass, options_.friction, program_, supply_);
    // What is required and what is supplied, each over its error.
    Eigen::Matrix<double, 6, 1> required, error;
    required << result.force / pose_.weight(), result.moment / pose_.weight();
    error << options_.force_error, options_.moment_error;
    const Vec3 pivot = result.center_of_mass + options_.pivot_height * Vec3::UnitY();
    program_.hessian.setZero();
    for (size_t p = 0; p < points_.size(); ++p) {
      const auto column = static_cast<Eigen::Index>(3 * p);
      const Vec3 line = (pivot - points_[p].position).normalized();
      const Mat3 cost = options_.across * Mat3::Identity() + (1 - options_.across) * line * line.transpose();
      program_.hessian.block<3, 3>(column, column) = 2 * options_.load / points_[p].weight * cost;
    }
    supply_ = error.cwiseInverse().asDiagonal() * supply_;
    required = required.cwiseQuotient(error).eval();
    program_.hessian += 2 * supply_.transpose() * supply_;
    program_.gradient = -2 * supply_.transpose() * required;
    for (const FootHint& hint : hints) Heed(hint);
    const optimization::Summary& found = solver_.Solve(program_);
    // Else all is missing, which the result shows.
    if (found.status == optimization::Status::kOptimal) pose_.Press(points_, found.x, result);
  }

  /// Adds to the objective what a hint says.
  void Heed(const FootHint& hint) {
    Eigen::MatrixXd rows = Eigen::MatrixXd::Zero(3, program_.hessian.rows());
    for (size_t p = 0; p < points_.size(); ++p) {
      const auto up = static_cast<Eigen::Index>(3 * p + 1);
      const bool own = points_[p].body == hint.body;
      if (own) {
        rows(0, up) = (points_[p].position.x() - hint.center.x()) / kCenterError;
        rows(1, up) = (points_[p].position.z() - hint.center.z()) / kCenterError;
      }
      if (hint.share) rows(2, up) = ((own ? 1 : 0) - *hint.share) / kShareError;
    }
    program_.hessian += 2 * rows.transpose() * rows;
  }

  const character::ReferenceMotion& reference_;
  const character::Character& character_;
  std::vector<FootModel> feet_;
  ForceEstimateOptions options_;
  dynamics::PoseDynamics pose_;
  metrics::Surface surface_;
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
                                        const std::vector<std::vector<metrics::SupportForce>>& measured,
                                        double gravity) {
  if (reference.poses().size() < 3) return {};
  if (measured.size() != reference.poses().size()) throw std::invalid_argument("forces of other poses");
  ForceEstimateOptions options;
  options.gravity = gravity;
  return Estimator(reference, {}, options).With(measured);
}

}  // namespace retrace::kinetics
