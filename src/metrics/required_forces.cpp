#include "retrace/metrics/required_forces.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "retrace/character/body_points.h"
#include "retrace/dynamics/character_dynamics.h"
#include "retrace/math/smooth_step.h"
#include "retrace/optimization/quadratic_program.h"

namespace retrace::metrics {
namespace {

// A point carries force fully up to the first of these, and none from the second on. References have soles that are up
// to 40 mm over the floor while a plate still measures load.
constexpr std::array kHeights = {0.025, 0.05};  // over the ground [m]
constexpr std::array kSpeeds = {0.4, 1.0};      // along the ground [m/s]

// What is not supplied costs so much more than what is, both in body weights.
constexpr double kMissingCost = 1e6;

// A point that may carry less is left out.
constexpr double kSmallestWeight = 0.01;

// In which a body's outermost points are kept; a mesh has many more.
const std::array kDirections = {Vec3(1, 0, 0),  Vec3(1, 0, 1),   Vec3(0, 0, 1),  Vec3(-1, 0, 1),
                                Vec3(-1, 0, 0), Vec3(-1, 0, -1), Vec3(0, 0, -1), Vec3(1, 0, -1)};

/// Where a body may be pressed on.
struct SupportPoint {
  int body = 0;
  Vec3 place = Vec3::Zero();  // the lowest point of the ball [m]
  double weight = 0;          // 0 to 1: how much force it may well carry
};

/// 1 up to the first limit, 0 from the second on.
double Fade(double value, const std::array<double, 2>& limits) {
  return SmoothStep(std::clamp((limits[1] - value) / (limits[1] - limits[0]), 0.0, 1.0));
}

/// The points that are farthest in some directions, in their order: the others are between them.
void KeepOutermost(std::vector<SupportPoint>& points) {
  std::vector<bool> kept(points.size(), false);
  for (const Vec3& direction : kDirections) {
    const auto farther = [&](const SupportPoint& a, const SupportPoint& b) {
      return a.place.dot(direction) < b.place.dot(direction);
    };
    kept[static_cast<size_t>(std::max_element(points.begin(), points.end(), farther) - points.begin())] = true;
  }
  size_t next = 0;
  for (size_t i = 0; i < points.size(); ++i) {
    if (kept[i]) points[next++] = points[i];
  }
  points.resize(next);
}

class Solver {
 public:
  Solver(const character::ReferenceMotion& reference, const RequiredForcesOptions& options)
      : reference_(reference),
        character_(reference.character()),
        options_(options),
        dynamics_(character_, options.gravity),
        before_(dynamics_.size()),
        after_(dynamics_.size()),
        velocity_(dynamics_.size()),
        acceleration_(dynamics_.size()),
        forces_(dynamics_.size()),
        wrenches_(character_.bodies.size()) {}

  /// @param i neither the first nor the last pose
  RequiredForces At(size_t i) {
    RequiredForces result;
    result.time = static_cast<double>(i) * reference_.frame_time();
    SetMotion(i);
    dynamics_.InverseDynamics(acceleration_, {}, forces_);
    RemoveHeld(forces_.head<6>());
    result.center_of_mass = dynamics_.CenterOfMass();
    result.force = forces_.head<3>();
    result.moment = AboutCenterOfMass(result.center_of_mass);
    FindPoints();
    Support(result);
    dynamics_.InverseDynamics(acceleration_, wrenches_, forces_);
    RemoveHeld(forces_.head<6>());
    result.missing_force = forces_.head<3>();
    result.missing_moment = AboutCenterOfMass(result.center_of_mass);
    for (size_t j = 0; j < character_.joints.size(); ++j) {
      const character::Joint& joint = character_.joints[j];
      const int first = dynamics_.coordinates().FirstOf(static_cast<int>(j));
      Vec3 torque = Vec3::Zero();
      Vec3 rate = Vec3::Zero();
      int next = first;
      for (int axis = 0; axis < 3; ++axis) {
        if (!joint.UsesAxis(axis)) continue;
        torque[axis] = forces_[next];
        rate[axis] = velocity_[next++];
      }
      result.torques.push_back(torque);
      result.powers.push_back(torque.dot(rate));
    }
    return result;
  }

 private:
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

  void FindPoints() {
    points_.clear();
    for (size_t b = 0; b < character_.bodies.size(); ++b) {
      const int body = static_cast<int>(b);
      character::BodyState state;
      state.position = dynamics_.CenterOf(body);
      state.orientation = Quat(dynamics_.RotationOf(body));
      std::vector<SupportPoint> of_body;
      character::ForEachPoint(character_.bodies[b], state, [&](const Vec3& center, double radius) {
        SupportPoint point{body, center - radius * Vec3::UnitY(), Fade(center.y() - radius, kHeights)};
        if (point.weight < kSmallestWeight) return;
        const Vec3 velocity = dynamics_.VelocityOf(body, point.place);
        point.weight *= Fade(std::sqrt(velocity.x() * velocity.x() + velocity.z() * velocity.z()), kSpeeds);
        if (point.weight >= kSmallestWeight) of_body.push_back(point);
      });
      if (of_body.size() > kDirections.size()) KeepOutermost(of_body);
      points_.insert(points_.end(), of_body.begin(), of_body.end());
    }
  }

  /// Divides what is required among the points, and sets the wrenches.
  void Support(RequiredForces& result) {
    std::fill(wrenches_.begin(), wrenches_.end(), dynamics::Wrench());
    if (points_.empty()) return;
    const double weight = character_.total_mass() * (options_.gravity > 0 ? options_.gravity : kStandardGravity);
    const auto n = static_cast<int>(3 * points_.size());
    program_.Resize(n, 0, static_cast<int>(5 * points_.size()));
    // Forces in body weights: supplied = A f, of it the moments about the center of mass.
    supply_.setZero(6, n);
    Eigen::Matrix<double, 6, 1> required;
    required << result.force / weight, result.moment / weight;
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
    }
    RemoveHeld(supply_);
    program_.hessian = 2 * kMissingCost * supply_.transpose() * supply_;
    for (int k = 0; k < n; ++k) program_.hessian(k, k) += 2 / points_[static_cast<size_t>(k / 3)].weight;
    program_.gradient = -2 * kMissingCost * supply_.transpose() * required;
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
  RequiredForcesOptions options_;
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

std::vector<RequiredForces> RequiredForcesOf(const character::ReferenceMotion& reference,
                                             const RequiredForcesOptions& options) {
  if (!(options.gravity >= 0) || !(options.friction >= 0) || !std::isfinite(options.gravity + options.friction)) {
    throw std::invalid_argument("gravity and friction are finite and not negative");
  }
  std::vector<RequiredForces> result;
  const size_t count = reference.poses().size();
  if (count < 3) return result;
  Solver solver(reference, options);
  for (size_t i = 1; i + 1 < count; ++i) result.push_back(solver.At(i));
  return result;
}

Vec3 RequiredForceOn(int body, double time, const std::vector<RequiredForces>& required, double frame_time) {
  Vec3 force = Vec3::Zero();
  if (required.size() < 2) return force;
  const double last = static_cast<double>(required.size()) - 2;
  const double place = std::clamp((time - required.front().time) / frame_time, 0.0, last + 1);
  const double before = std::min(std::floor(place), last);
  const auto i = static_cast<size_t>(before);
  for (const auto& [k, share] : {std::pair{i, 1 - (place - before)}, std::pair{i + 1, place - before}}) {
    for (const SupportForce& support : required[k].support) {
      if (support.body == body) force += share * support.force;
    }
  }
  return force;
}

}  // namespace retrace::metrics
