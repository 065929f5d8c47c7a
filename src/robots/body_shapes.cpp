#include "body_shapes.h"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <limits>

#include "retrace/math/rotation.h"

namespace retrace::robots {
namespace {

using character::Shape;

constexpr double kAligned = 1e-6;   // sine of the angle between axes that count as the same
constexpr int kSides = 12;          // of the prism of a cylinder
constexpr int kMeridians = 8;       // of a rounded shape
constexpr double kThinnest = 1e-3;  // side length of a box that is fitted to a flat mesh [m]

/// The axis of the body along which a direction is; -1: none.
int AxisOf(const Vec3& direction) {
  int axis = 0;
  direction.cwiseAbs().maxCoeff(&axis);
  return direction.cross(Vec3(Vec3::Unit(axis))).norm() < kAligned ? axis : -1;
}

/// A solid of revolution about z, with a pole at either end: rings of (radius, height) from the lower to the upper one.
TriangleMesh Revolution(double bottom, const std::vector<std::pair<double, double>>& rings, double top, int sides) {
  TriangleMesh mesh;
  mesh.vertices.push_back({0, 0, bottom});
  for (const auto& [radius, height] : rings) {
    for (int k = 0; k < sides; ++k) {
      const double angle = 2 * kPi * (k + 0.5) / sides;
      mesh.vertices.push_back({radius * std::cos(angle), radius * std::sin(angle), height});
    }
  }
  mesh.vertices.push_back({0, 0, top});
  const int last = static_cast<int>(mesh.vertices.size()) - 1;
  const auto at = [&](int ring, int k) { return 1 + ring * sides + k % sides; };
  const int count = static_cast<int>(rings.size());
  for (int k = 0; k < sides; ++k) {
    mesh.triangles.push_back({0, at(0, k + 1), at(0, k)});
    mesh.triangles.push_back({last, at(count - 1, k), at(count - 1, k + 1)});
    for (int ring = 0; ring + 1 < count; ++ring) {
      mesh.triangles.push_back({at(ring, k), at(ring, k + 1), at(ring + 1, k + 1)});
      mesh.triangles.push_back({at(ring, k), at(ring + 1, k + 1), at(ring + 1, k)});
    }
  }
  return mesh;
}

/// Rings of half a ball with its pole above, from its equator on.
TriangleMesh RoundedMesh(double radius, double length) {
  std::vector<std::pair<double, double>> rings;
  const double half = 0.5 * length;
  for (const double angle : {-45.0, 0.0})
    rings.emplace_back(radius * std::cos(Radians(angle)), -half + radius * std::sin(Radians(angle)));
  if (length == 0) rings.pop_back();
  for (const double angle : {0.0, 45.0})
    rings.emplace_back(radius * std::cos(Radians(angle)), half + radius * std::sin(Radians(angle)));
  return Revolution(-half - radius, rings, half + radius, kMeridians);
}

/// A mesh as it is in the body; its offset is that of the box about it.
Shape MeshShape(TriangleMesh mesh, const LinkFrame& placement) {
  Shape shape;
  shape.kind = Shape::Kind::kMesh;
  Eigen::AlignedBox3d bounds;
  for (Vec3& vertex : mesh.vertices) {
    vertex = placement * vertex;
    bounds.extend(vertex);
  }
  shape.offset = bounds.center();
  for (Vec3& vertex : mesh.vertices) vertex -= shape.offset;
  shape.mesh = std::move(mesh);
  return shape;
}

/// Distance of a point from the surface of a box or capsule about the origin.
double DistanceFrom(const Shape& shape, const Vec3& point) {
  if (shape.kind == Shape::Kind::kBox) {
    const Vec3 beyond = point.cwiseAbs() - 0.5 * shape.size;
    return std::abs(beyond.cwiseMax(0).norm() + std::min(beyond.maxCoeff(), 0.0));
  }
  Vec3 from_axis = point;
  from_axis[shape.axis] -= std::clamp(point[shape.axis], -0.5 * shape.length, 0.5 * shape.length);
  return std::abs(from_axis.norm() - shape.radius);
}

/// The surface of a mesh as points with areas, in the body.
struct SurfacePoint {
  Vec3 at = Vec3::Zero();
  double area = 0;
};

/// The box about a mesh, or a capsule along an axis of the body inside of it, whichever is nearer to its surface.
/// Radius and length of the capsule: mean distance from the axis of the points between its ends, and what holds the
/// mesh.
Shape FitMesh(const TriangleMesh& mesh, const LinkFrame& placement, bool flat, ShapeCounts& counts) {
  std::vector<SurfacePoint> points;
  Eigen::AlignedBox3d bounds;
  const auto vertex = [&](int index) { return placement * mesh.vertices[static_cast<size_t>(index)]; };
  for (const auto& triangle : mesh.triangles) {
    const Vec3 a = vertex(triangle[0]), b = vertex(triangle[1]), c = vertex(triangle[2]);
    for (const Vec3& corner : {a, b, c}) bounds.extend(corner);
    points.push_back({(a + b + c) / 3, 0.5 * (b - a).cross(c - a).norm()});
  }
  if (mesh.triangles.empty()) {
    for (const Vec3& corner : mesh.vertices) bounds.extend(placement * corner);
  }
  const Vec3 center = bounds.center();
  Shape box;
  box.size = bounds.sizes().cwiseMax(kThinnest);
  box.offset = center;
  Shape best = box;
  const auto misfit = [&](const Shape& shape) {
    double sum = 0;
    for (const SurfacePoint& point : points) {
      const double distance = DistanceFrom(shape, point.at - center);
      sum += point.area * distance * distance;
    }
    return sum;
  };
  double least = misfit(box);
  for (int axis = 0; axis < 3 && !flat && !points.empty(); ++axis) {
    Shape capsule;
    capsule.kind = Shape::Kind::kCapsule;
    capsule.axis = axis;
    capsule.offset = center;
    double area = 0, sum = 0;
    for (const SurfacePoint& point : points) {
      Vec3 across = point.at - center;
      across[axis] = 0;
      area += point.area;
      sum += point.area * across.norm();
    }
    if (!(area > 0)) break;
    capsule.radius = std::max(sum / area, 0.5 * kThinnest);
    capsule.length = std::max(0.0, box.size[axis] - 2 * capsule.radius);
    if (const double other = misfit(capsule); other < least) {
      least = other;
      best = capsule;
    }
  }
  ++(best.kind == Shape::Kind::kBox ? counts.fitted_boxes : counts.fitted_capsules);
  return best;
}

}  // namespace

Shape ShapeOfBody(const RobotShape& shape, const LinkFrame& placement, bool flat, ShapeCounts& counts) {
  const Mat3 turn = placement.rotation.toRotationMatrix();
  const int along = AxisOf(turn.col(2));
  Shape result;
  result.offset = placement.position;
  switch (shape.kind) {
    case RobotShape::Kind::kSphere:
      result.kind = Shape::Kind::kCapsule;
      result.radius = shape.radius;
      return result;
    case RobotShape::Kind::kCapsule:
    case RobotShape::Kind::kCylinder: {
      // The round ends of a thin cylinder matter little.
      const bool capsule = shape.kind == RobotShape::Kind::kCapsule || shape.length >= 4 * shape.radius;
      if (capsule && along >= 0) {
        result.kind = Shape::Kind::kCapsule;
        result.radius = shape.radius;
        result.length = shape.kind == RobotShape::Kind::kCapsule ? shape.length : shape.length - 2 * shape.radius;
        result.axis = along;
        return result;
      }
      ++counts.prisms;
      const double half = 0.5 * shape.length;
      if (capsule) {
        return MeshShape(
            RoundedMesh(shape.radius,
                        shape.kind == RobotShape::Kind::kCapsule ? shape.length : shape.length - 2 * shape.radius),
            placement);
      }
      return MeshShape(Revolution(-half, {{shape.radius, -half}, {shape.radius, half}}, half, kSides), placement);
    }
    case RobotShape::Kind::kEllipsoid: {
      ++counts.prisms;
      TriangleMesh mesh = RoundedMesh(1, 0);
      for (Vec3& vertex : mesh.vertices) vertex = vertex.cwiseProduct(shape.size);
      return MeshShape(std::move(mesh), placement);
    }
    case RobotShape::Kind::kBox: {
      if (along >= 0 && AxisOf(turn.col(0)) >= 0) {
        result.size = (turn.cwiseAbs() * shape.size);
        for (int a = 0; a < 3; ++a) {
          for (int b = 0; b < 3; ++b) {
            if (std::abs(turn(a, b)) > 0.5) result.size[a] = shape.size[b];
          }
        }
        return result;
      }
      ++counts.prisms;
      return MeshShape(BoxMesh(shape.size), placement);
    }
    case RobotShape::Kind::kMesh:
      return FitMesh(shape.mesh, placement, flat, counts);
  }
  return result;
}

}  // namespace retrace::robots
