#include "recorded_support.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "retrace/character/corners.h"
#include "retrace/metrics/required_forces.h"

namespace retrace::metrics {
namespace {

using character::Character;
using character::ReferenceMotion;
using character::State;
using Point = Eigen::Vector2d;

constexpr double kMissing = 0.3;         // of the weight, which the floor cannot supply
constexpr double kMissingMoment = 0.15;  // the same about the center of mass, in weights times meters
constexpr double kOnSurface = 0.04;      // corners that are so near to a surface touch it [m]

/// Whether a point touches a surface.
bool Touches(const RecordedSurface& surface, const Vec3& point) {
  const Vec3 local = surface.orientation.conjugate() * Vec3(point - surface.center);
  return std::abs(local.y()) < kOnSurface && std::abs(local.x()) < 0.5 * surface.size_x + kBesideSurface &&
         std::abs(local.z()) < 0.5 * surface.size_z + kBesideSurface;
}

}  // namespace

Point Requirement::PressureAt(double height) const {
  const double arm = height - center.y();
  return {center.x() + (moment.z() + arm * force.x()) / force.y(),
          center.z() + (arm * force.z() - moment.x()) / force.y()};
}

double MiddleOf(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::vector<Requirement> RequirementsOf(const ReferenceMotion& reference, size_t count,
                                        const simulation::Environment& environment) {
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

double MeanSpeed(const std::vector<State>& states, size_t pose, size_t body, double frame_time) {
  const auto reach = static_cast<size_t>(std::max(1L, std::lround(kSmoothed / frame_time)));
  if (states.size() <= 2 * reach) return std::numeric_limits<double>::infinity();
  const size_t at = std::clamp(pose, reach, states.size() - 1 - reach);
  const double moved = (states[at + reach][body].position - states[at - reach][body].position).norm();
  return moved / (2 * static_cast<double>(reach) * frame_time);
}

}  // namespace retrace::metrics
