#include "retrace/metrics/surface.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "retrace/character/body_points.h"
#include "retrace/character/kinematics.h"

namespace retrace::metrics {
namespace {

constexpr double kSunk = 0.05;  // deepest that a point is taken for one that has sunk in [m]

}  // namespace

Surface::Surface(const simulation::Environment& environment) : environment_(&environment) {
  below_.ground = environment.ground;
  below_.height_field = environment.height_field;
  plain_ = environment.ground.present && environment.ground.height == 0 && environment.boxes.empty() &&
           !environment.height_field;
  moves_ = std::any_of(environment.boxes.begin(), environment.boxes.end(),
                       [](const simulation::Box& box) { return box.course.has_value(); });
}

double Surface::GroundUnder(const Vec3& point) const {
  if (plain_) return 0;
  // What a point has sunk into is below it too. What it is deep inside is passed through: feet under a seat are over
  // the floor.
  return environment_->TopBelow(point.x(), point.z(), point.y() + kSunk);
}

double Surface::HeightOf(const Vec3& point) const {
  return point.y() - GroundUnder(point);
}

double Surface::HeightOf(const character::Body& body, const character::BodyState& state) const {
  if (plain_) return character::LowestPoint(body, state);
  double height = std::numeric_limits<double>::infinity();
  character::ForEachPoint(
      body, state, [&](const Vec3& center, double radius) { height = std::min(height, HeightOf(center) - radius); });
  return height;
}

double Surface::DepthAt(const Vec3& center, double radius) const {
  double depth = std::max(0.0, below_.HeightAt(center.x(), center.z(), center.y()) - (center.y() - radius));
  for (const simulation::Box& box : environment_->boxes) {
    const Vec3 local = box.orientation.conjugate() * Vec3(center - box.position);
    const Vec3 outside = local.cwiseAbs() - 0.5 * box.size;  // of each pair of faces; negative: between them
    const double distance = outside.maxCoeff() < 0 ? outside.maxCoeff() : outside.cwiseMax(0).norm();
    depth = std::max(depth, radius - distance);
  }
  return depth;
}

double Surface::DepthOf(const character::Body& body, const character::BodyState& state) const {
  if (plain_) return std::max(0.0, -character::LowestPoint(body, state));
  double depth = 0;
  character::ForEachPoint(body, state,
                          [&](const Vec3& center, double radius) { depth = std::max(depth, DepthAt(center, radius)); });
  return depth;
}

}  // namespace retrace::metrics
