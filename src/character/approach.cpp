#include "retrace/character/approach.h"

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "retrace/character/kinematics.h"

namespace retrace::character {
namespace {

constexpr int kMostRounds = 100;     // of the distance algorithm; it needs less than 20
constexpr double kProgress = 1e-12;  // relative, of the squared distance, below which it has converged
constexpr double kOverlap = 1e-10;   // distance of two cores that overlap [m]
constexpr double kInstant = 1e-4;    // to which a touch is found [s]

/// A shape in the world: the points of a core, and all that is within a radius of these.
struct Placed {
  const Shape* shape = nullptr;
  Vec3 center = Vec3::Zero();
  Mat3 rotation = Mat3::Identity();

  double radius() const { return shape->kind == Shape::Kind::kCapsule ? shape->radius : 0; }
  /// The point of the core that is farthest along a direction.
  Vec3 Farthest(const Vec3& direction) const {
    const Vec3 along = rotation.transpose() * direction;
    Vec3 point = Vec3::Zero();
    switch (shape->kind) {
      case Shape::Kind::kCapsule:
        point[shape->axis] = std::copysign(0.5 * shape->length, along[shape->axis]);
        break;
      case Shape::Kind::kBox:
        for (int axis = 0; axis < 3; ++axis) point[axis] = std::copysign(0.5 * shape->size[axis], along[axis]);
        break;
      case Shape::Kind::kMesh: {
        double most = -std::numeric_limits<double>::infinity();
        for (const Vec3& vertex : shape->mesh.vertices) {
          if (const double height = along.dot(vertex); height > most) {
            most = height;
            point = vertex;
          }
        }
        break;
      }
    }
    return center + rotation * point;
  }
};

Placed Place(const Shape& shape, const BodyState& body) {
  Placed placed{&shape, body.position, body.orientation.toRotationMatrix()};
  placed.center += placed.rotation * shape.offset;
  return placed;
}

/// Up to four points of the difference of two cores.
struct Simplex {
  std::array<Vec3, 4> points;
  size_t size = 0;
};

/// The point nearest to the origin in the hull of some of the points; false where it is on their edge or they are
/// degenerate, so that fewer of them have it, too.
bool NearestInside(const Simplex& simplex, const std::array<size_t, 4>& chosen, size_t count, Vec3& nearest) {
  const Vec3& base = simplex.points[chosen[0]];
  if (count == 1) {
    nearest = base;
    return true;
  }
  // Least squares by the parts of the edges that are perpendicular to those before them.
  std::array<Vec3, 3> edges, parts;
  Mat3 along = Mat3::Zero();  // (part, edge)
  Vec3 left = -base;
  std::array<double, 3> shares = {};
  const size_t size = count - 1;
  for (size_t i = 0; i < size; ++i) {
    edges[i] = parts[i] = simplex.points[chosen[i + 1]] - base;
    for (size_t j = 0; j < i; ++j) {
      along(j, i) = parts[j].dot(parts[i]) / parts[j].squaredNorm();
      parts[i] -= along(j, i) * parts[j];
    }
    shares[i] = parts[i].dot(left) / parts[i].squaredNorm();
    left -= shares[i] * parts[i];
  }
  double sum = 0;
  nearest = base;
  for (size_t i = size; i-- > 0;) {
    for (size_t k = i + 1; k < size; ++k) shares[i] -= along(i, k) * shares[k];
    if (!std::isfinite(shares[i]) || shares[i] < 0) return false;
    sum += shares[i];
    nearest += shares[i] * edges[i];
  }
  return sum <= 1;
}

/// The point of the hull that is nearest to the origin; the simplex keeps only the points that it lies between.
Vec3 Reduce(Simplex& simplex) {
  Vec3 best = simplex.points[0];
  double least = std::numeric_limits<double>::infinity();
  std::array<size_t, 4> kept = {};
  size_t num_kept = 0;
  for (unsigned subset = 1; subset < 1u << simplex.size; ++subset) {
    std::array<size_t, 4> chosen = {};
    size_t count = 0;
    for (size_t i = 0; i < simplex.size; ++i) {
      if ((subset >> i & 1u) != 0) chosen[count++] = i;
    }
    Vec3 nearest;
    if (!NearestInside(simplex, chosen, count, nearest) || nearest.squaredNorm() >= least) continue;
    least = nearest.squaredNorm();
    best = nearest;
    kept = chosen;
    num_kept = count;
  }
  for (size_t i = 0; i < num_kept; ++i) simplex.points[i] = simplex.points[kept[i]];  // kept[i] >= i
  simplex.size = num_kept;
  return best;
}

double CoreDistance(const Placed& a, const Placed& b) {
  Simplex simplex;
  Vec3 nearest = a.center - b.center;
  if (nearest.squaredNorm() < kOverlap * kOverlap) nearest = Vec3::UnitX();
  double squared = std::numeric_limits<double>::infinity();
  for (int round = 0; round < kMostRounds; ++round) {
    const Vec3 point = a.Farthest(-nearest) - b.Farthest(nearest);
    if (round > 0 && squared - nearest.dot(point) <= kProgress * squared) break;
    simplex.points[simplex.size++] = point;
    const Vec3 next = Reduce(simplex);
    const double length = next.squaredNorm();
    if (length <= kOverlap * kOverlap || simplex.size == 4) return 0;
    if (length >= squared) break;  // rounding alone is left
    squared = length;
    nearest = next;
  }
  return std::sqrt(squared);
}

/// Radius of the sphere about its shapes, from the center of mass [m]; negative for a body without shapes.
double ReachOf(const Body& body) {
  double reach = -1;
  for (const Shape& shape : body.shapes) reach = std::max(reach, shape.offset.norm() + shape.BoundingRadius());
  return reach;
}

}  // namespace

double BodyDistance(const Body& a, const BodyState& at_a, const Body& b, const BodyState& at_b) {
  double least = std::numeric_limits<double>::infinity();
  for (const Shape& shape_a : a.shapes) {
    const Placed placed_a = Place(shape_a, at_a);
    for (const Shape& shape_b : b.shapes) {
      const Placed placed_b = Place(shape_b, at_b);
      least = std::min(least, CoreDistance(placed_a, placed_b) - placed_a.radius() - placed_b.radius());
    }
  }
  return least;
}

BodyPair NearestBodies(const Character& a, const State& state_a, const Character& b, const State& state_b) {
  BodyPair nearest{std::numeric_limits<double>::infinity(), -1, -1};
  std::vector<double> reaches;
  for (const Body& body : b.bodies) reaches.push_back(ReachOf(body));
  for (size_t i = 0; i < a.bodies.size(); ++i) {
    const double reach = ReachOf(a.bodies[i]);
    if (reach < 0) continue;
    for (size_t j = 0; j < b.bodies.size(); ++j) {
      if (reaches[j] < 0) continue;
      const double centers = (state_a[i].position - state_b[j].position).norm();
      if (centers - reach - reaches[j] >= nearest.distance) continue;
      const double distance = BodyDistance(a.bodies[i], state_a[i], b.bodies[j], state_b[j]);
      if (distance < nearest.distance) nearest = {distance, static_cast<int>(i), static_cast<int>(j)};
    }
  }
  return nearest;
}

Approach FirstTouch(const ReferenceMotion& a, const ReferenceMotion& b, double from, double to) {
  Pose pose;
  State state_a, state_b;
  const auto nearest_at = [&](double time) {
    a.PoseAt(time, pose);
    ForwardKinematics(a.character(), pose, state_a);
    b.PoseAt(time, pose);
    ForwardKinematics(b.character(), pose, state_b);
    return NearestBodies(a.character(), state_a, b.character(), state_b);
  };
  Approach approach{from, nearest_at(from), false};
  if (approach.bodies.distance <= 0) {
    approach.touch = true;
    return approach;
  }
  const auto count = static_cast<size_t>(std::floor((to - from) / a.frame_time() + 1e-9));
  for (size_t f = 1; f <= count; ++f) {
    const double time = from + static_cast<double>(f) * a.frame_time();
    const BodyPair bodies = nearest_at(time);
    if (bodies.distance <= 0) {
      double apart = time - a.frame_time(), touching = time;
      BodyPair met = bodies;
      while (touching - apart > kInstant) {
        const double middle = 0.5 * (apart + touching);
        const BodyPair there = nearest_at(middle);
        if (there.distance <= 0) {
          touching = middle;
          met = there;
        } else {
          apart = middle;
        }
      }
      return {touching, met, true};
    }
    if (bodies.distance < approach.bodies.distance) approach = {time, bodies, false};
  }
  return approach;
}

}  // namespace retrace::character
