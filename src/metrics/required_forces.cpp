#include "retrace/metrics/required_forces.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "retrace/character/body_points.h"
#include "retrace/dynamics/pose_dynamics.h"
#include "retrace/metrics/surface.h"
#include "retrace/optimization/quadratic_program.h"

namespace retrace::metrics {
namespace {

using dynamics::Fade;
using dynamics::SupportPoint;

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

/// The points that are farthest in some directions, in their order: the others are between them.
void KeepOutermost(std::vector<SupportPoint>& points) {
  std::vector<bool> kept(points.size(), false);
  for (const Vec3& direction : kDirections) {
    const auto farther = [&](const SupportPoint& a, const SupportPoint& b) {
      return a.position.dot(direction) < b.position.dot(direction);
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
      : character_(reference.character()),
        options_(options),
        ground_(options_.environment),
        pose_(reference, options.gravity) {}

  /// @param i neither the first nor the last pose
  RequiredForces At(size_t i) {
    RequiredForces result;
    pose_.SetPose(i);
    pose_.Require(result);
    FindPoints();
    Support(result);
    pose_.FindTorques(result);
    return result;
  }

 private:
  void FindPoints() {
    const dynamics::CharacterDynamics& dynamics = pose_.dynamics();
    points_.clear();
    for (size_t b = 0; b < character_.bodies.size(); ++b) {
      const int body = static_cast<int>(b);
      character::BodyState state;
      state.position = dynamics.CenterOf(body);
      state.orientation = Quat(dynamics.RotationOf(body));
      std::vector<SupportPoint> of_body;
      character::ForEachPoint(character_.bodies[b], state, [&](const Vec3& center, double radius) {
        SupportPoint point{body, center - radius * Vec3::UnitY()};
        point.ground = ground_.GroundUnder(point.position);
        point.weight = Fade(center.y() - radius - point.ground, kHeights);
        if (point.weight < kSmallestWeight) return;
        const Vec3 velocity = dynamics.VelocityOf(body, point.position);
        point.weight *= Fade(std::sqrt(velocity.x() * velocity.x() + velocity.z() * velocity.z()), kSpeeds);
        if (point.weight >= kSmallestWeight) of_body.push_back(point);
      });
      if (of_body.size() > kDirections.size()) KeepOutermost(of_body);
      points_.insert(points_.end(), of_body.begin(), of_body.end());
    }
  }

  /// Divides what is required among the points.
  void Support(RequiredForces& result) {
    if (points_.empty()) return;
    pose_.Constrain(points_, result.center_of_mass, options_.friction, program_, supply_);
    Eigen::Matrix<double, 6, 1> required;
    required << result.force / pose_.weight(), result.moment / pose_.weight();
    program_.hessian = 2 * kMissingCost * supply_.transpose() * supply_;
    for (Eigen::Index k = 0; k < supply_.cols(); ++k) {
      program_.hessian(k, k) += 2 / points_[static_cast<size_t>(k / 3)].weight;
    }
    program_.gradient = -2 * kMissingCost * supply_.transpose() * required;
    const optimization::Summary& found = solver_.Solve(program_);
    // Else all is missing, which the result shows.
    if (found.status == optimization::Status::kOptimal) pose_.Press(points_, found.x, result);
  }

  const character::Character& character_;
  RequiredForcesOptions options_;
  Surface ground_;
  dynamics::PoseDynamics pose_;
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
