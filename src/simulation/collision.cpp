#include "collision.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "ode_library.h"
#include "retrace/math/rotation.h"

namespace retrace::simulation {

using character::Shape;

Collision::Collision(const character::Character& character, const CollisionOptions& options) : options_(options) {
  InitialiseOde();
  for (size_t b = 0; b < character.bodies.size(); ++b) {
    for (const Shape& shape : character.bodies[b].shapes) MakeGeometry(static_cast<int>(b), shape);
  }
  if (options.self_collision) {
    for (const auto& [a, b] : character.self_pairs) {
      for (size_t i = 0; i < geometries_.size(); ++i) {
        if (geometries_[i].body != a) continue;
        for (size_t j = 0; j < geometries_.size(); ++j) {
          if (geometries_[j].body != b) continue;
          const double reach = geometries_[i].bounding_radius + geometries_[j].bounding_radius;
          pairs_.push_back({i, j, reach * reach});
        }
      }
    }
  }
  grounded_.resize(character.bodies.size());
  points_.reserve(256);
}

Collision::~Collision() {
  for (const Geometry& geometry : geometries_) dGeomDestroy(geometry.geom);
}

void Collision::MakeGeometry(int body, const Shape& shape) {
  Geometry geometry;
  geometry.shape = &shape;
  geometry.body = body;
  geometry.bounding_radius = shape.BoundingRadius();
  if (shape.kind == Shape::Kind::kBox) {
    geometry.geom = dCreateBox(nullptr, shape.size.x(), shape.size.y(), shape.size.z());
  } else {
    geometry.geom = dCreateCapsule(nullptr, shape.radius, shape.length);
    if (shape.axis == 0) geometry.turn = AxisRotation(1, kPi / 2);  // ODE's capsules lie along z
    if (shape.axis == 1) geometry.turn = AxisRotation(0, kPi / 2);
  }
  geometries_.push_back(geometry);
}

void Collision::Find(std::span<const BodyMotion> bodies) {
  points_.clear();
  std::fill(grounded_.begin(), grounded_.end(), false);
  for (Geometry& geometry : geometries_) {
    const BodyMotion& body = bodies[static_cast<size_t>(geometry.body)];
    geometry.center = body.position;
    if (geometry.shape->offset != Vec3::Zero()) geometry.center += body.rotation * geometry.shape->offset;
    geometry.placed = false;
    CollideWithGround(geometry, body);
  }
  CollidePairs(bodies);
}

/// Distance from the ground within which a shape can touch it in this step.
double Collision::SpeculativeMargin(const Geometry& geometry, const BodyMotion& body) const {
  if (!options_.speculative_contacts) return 0;
  const Vec3& w = body.angular_velocity;
  const double h = options_.time_step;
  const double reach = geometry.bounding_radius + geometry.shape->offset.norm();
  const double approach =
      h * (-body.linear_velocity.y() + options_.gravity * h + std::sqrt(w.x() * w.x() + w.z() * w.z()) * reach);
  return std::clamp(approach, 0.001, 0.05);
}

void Collision::AddGroundPoint(int body, const Vec3& point) {
  const double height = point.y() - options_.ground_height;
  if (height <= 0) grounded_[static_cast<size_t>(body)] = true;
  points_.push_back({body, -1, point, Vec3::UnitY(), -height, options_.ground_law});
}

void Collision::CollideWithGround(const Geometry& geometry, const BodyMotion& body) {
  if (!options_.ground) return;
  const double height = geometry.center.y() - options_.ground_height;
  if (height > geometry.bounding_radius + 0.05) return;  // the largest margin
  const double margin = SpeculativeMargin(geometry, body);
  if (height > geometry.bounding_radius + margin) return;
  if (geometry.shape->kind == Shape::Kind::kBox) {
    CollideBoxWithGround(geometry, body, margin);
  } else {
    CollideCapsuleWithGround(geometry, body, margin);
  }
}

void Collision::CollideBoxWithGround(const Geometry& geometry, const BodyMotion& body, double margin) {
  const Vec3 half = 0.5 * geometry.shape->size;
  const Vec3 up = body.rotation.row(1).transpose().cwiseProduct(half);
  struct Corner {
    double height;
    int index;
  };
  std::array<Corner, 8> corners;
  size_t count = 0;
  for (int k = 0; k < 8; ++k) {
    const double height =
        geometry.center.y() + (k & 1 ? up.x() : -up.x()) + (k & 2 ? up.y() : -up.y()) + (k & 4 ? up.z() : -up.z());
    if (height - options_.ground_height < margin) corners[count++] = {height, k};
  }
  const size_t kept = std::min<size_t>(count, static_cast<size_t>(options_.ground_points_per_shape));
  std::partial_sort(corners.begin(), corners.begin() + static_cast<std::ptrdiff_t>(kept),
                    corners.begin() + static_cast<std::ptrdiff_t>(count), [](const Corner& a, const Corner& b) {
                      return a.height != b.height ? a.height < b.height : a.index < b.index;
                    });
  for (size_t c = 0; c < kept; ++c) {
    const int k = corners[c].index;
    const Vec3 corner(k & 1 ? half.x() : -half.x(), k & 2 ? half.y() : -half.y(), k & 4 ? half.z() : -half.z());
    Vec3 point = geometry.center + body.rotation * corner;
    point.y() = corners[c].height;
    AddGroundPoint(geometry.body, point);
  }
}

void Collision::CollideCapsuleWithGround(const Geometry& geometry, const BodyMotion& body, double margin) {
  const Vec3 half = 0.5 * geometry.shape->length * body.rotation.col(geometry.shape->axis);
  for (const double end : {-1.0, 1.0}) {
    Vec3 point = geometry.center + end * half;
    point.y() -= geometry.shape->radius;
    if (point.y() - options_.ground_height < margin) AddGroundPoint(geometry.body, point);
  }
}

void Collision::Place(Geometry& geometry, const BodyMotion& body) {
  if (geometry.placed) return;
  geometry.placed = true;
  dGeomSetPosition(geometry.geom, geometry.center.x(), geometry.center.y(), geometry.center.z());
  const Quat q = body.orientation * geometry.turn;
  const dQuaternion to = {q.w(), q.x(), q.y(), q.z()};
  dGeomSetQuaternion(geometry.geom, to);
}

void Collision::CollidePairs(std::span<const BodyMotion> bodies) {
  constexpr int kMaxPoints = 8;
  std::array<dContactGeom, kMaxPoints> found;
  const int wanted = std::min(options_.self_points_per_pair, kMaxPoints);
  for (const Pair& pair : pairs_) {
    Geometry& a = geometries_[pair.first];
    Geometry& b = geometries_[pair.second];
    if ((a.center - b.center).squaredNorm() > pair.reach_squared) continue;
    Place(a, bodies[static_cast<size_t>(a.body)]);
    Place(b, bodies[static_cast<size_t>(b.body)]);
    const int count = dCollide(a.geom, b.geom, wanted, found.data(), sizeof(dContactGeom));
    for (int i = 0; i < count; ++i) {
      const dContactGeom& geom = found[static_cast<size_t>(i)];
      points_.push_back({a.body, b.body, ToVec3(geom.pos), ToVec3(geom.normal), geom.depth});
    }
  }
}

}  // namespace retrace::simulation
