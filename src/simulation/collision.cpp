#include "collision.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "ode_library.h"
#include "retrace/math/rotation.h"
#include "shapes.h"

namespace retrace::simulation {

using character::Shape;

namespace {

constexpr double kConvexTolerance = 1e-4;  // of the radius: vertices that were rounded are not quite in one plane
constexpr int kMostMeshPoints = 64;        // that ODE is asked for; it stops at the first ones

bool HasMesh(const character::Character& character) {
  for (const character::Body& body : character.bodies) {
    for (const Shape& shape : body.shapes) {
      if (shape.kind == Shape::Kind::kMesh) return true;
    }
  }
  return false;
}

}  // namespace

Collision::Collision(const character::Character& character, const CollisionOptions& options) : options_(options) {
  InitialiseOde();
  for (size_t b = 0; b < character.bodies.size(); ++b) {
    for (const Shape& shape : character.bodies[b].shapes) MakeGeometry(static_cast<int>(b), shape);
  }
  if (HasMesh(character)) {
    for (Geometry& geometry : geometries_) {
      if (geometry.shape->kind == Shape::Kind::kBox) geometry.solid.emplace(BoxMesh(geometry.shape->size));
    }
  }
  if (options.self_collision) {
    for (const auto& [a, b] : character.self_pairs) {
      for (size_t i = 0; i < geometries_.size(); ++i) {
        if (geometries_[i].body != a) continue;
        for (size_t j = 0; j < geometries_.size(); ++j) {
          if (geometries_[j].body != b) continue;
          const double reach = geometries_[i].bounding_radius + geometries_[j].bounding_radius;
          const bool meshed = geometries_[i].surface != nullptr || geometries_[j].surface != nullptr;
          const bool convex = meshed && geometries_[i].solid && geometries_[j].solid;
          pairs_.push_back({i, j, reach * reach, convex, meshed});
        }
      }
    }
  }
  size_t largest = kMostMeshPoints;
  size_t largest_face = 0;
  for (const Geometry& geometry : geometries_) {
    largest = std::max(largest, geometry.shape->mesh.vertices.size());
    if (geometry.solid) largest_face = std::max(largest_face, geometry.solid->largest_face());
  }
  overlaps_.reserve(std::max(largest, 2 * largest_face));
  scratch_.Reserve(2 * largest_face);
  grounded_.resize(character.bodies.size());
  points_.reserve(256);
}

Collision::~Collision() {
  for (const Geometry& geometry : geometries_) {
    dGeomDestroy(geometry.geom);
    if (geometry.surface != nullptr) dGeomTriMeshDataDestroy(geometry.surface);
  }
}

void Collision::MakeMesh(const Shape& shape, Geometry& geometry) const {
  const TriangleMesh& mesh = shape.mesh;
  // ODE keeps pointers to the vertices and indices of the character, which outlives it.
  geometry.surface = dGeomTriMeshDataCreate();
  dGeomTriMeshDataBuildDouble(geometry.surface, mesh.vertices.data(), sizeof(Vec3),
                              static_cast<int>(mesh.vertices.size()), mesh.triangles.data(),
                              static_cast<int>(3 * mesh.triangles.size()), sizeof(mesh.triangles[0]));
  geometry.geom = dCreateTriMesh(nullptr, geometry.surface, nullptr, nullptr, nullptr);
  // What is found must not depend on where bodies were before.
  for (const int other : {dSphereClass, dBoxClass, dCapsuleClass}) dGeomTriMeshEnableTC(geometry.geom, other, 0);
  if (IsConvex(mesh, kConvexTolerance * geometry.bounding_radius)) geometry.solid.emplace(mesh);
}

void Collision::MakeGeometry(int body, const Shape& shape) {
  Geometry geometry;
  geometry.shape = &shape;
  geometry.body = body;
  geometry.bounding_radius = shape.BoundingRadius();
  if (shape.kind == Shape::Kind::kBox) {
    geometry.geom = dCreateBox(nullptr, shape.size.x(), shape.size.y(), shape.size.z());
  } else if (shape.kind == Shape::Kind::kMesh) {
    MakeMesh(shape, geometry);
  } else {
    geometry.geom = dCreateCapsule(nullptr, shape.radius, shape.length);
    geometry.turn = TurnOfCapsule(shape.axis);
  }
  geometries_.push_back(std::move(geometry));
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
  return std::clamp(approach, kSmallestMargin, kLargestMargin);
}

void Collision::AddGroundPoint(int body, const Vec3& point) {
  const double height = point.y() - options_.ground_height;
  if (height <= 0) grounded_[static_cast<size_t>(body)] = true;
  points_.push_back({body, -1, point, Vec3::UnitY(), -height, options_.ground_law});
}

void Collision::CollideWithGround(const Geometry& geometry, const BodyMotion& body) {
  if (!options_.ground) return;
  const double height = geometry.center.y() - options_.ground_height;
  if (height > geometry.bounding_radius + kLargestMargin) return;
  const double margin = SpeculativeMargin(geometry, body);
  if (height > geometry.bounding_radius + margin) return;
  if (geometry.shape->kind == Shape::Kind::kBox) {
    CollideBoxWithGround(geometry, body, margin);
  } else if (geometry.shape->kind == Shape::Kind::kMesh) {
    CollideMeshWithGround(geometry, body, margin);
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

void Collision::CollideMeshWithGround(const Geometry& geometry, const BodyMotion& body, double margin) {
  const Vec3 up = body.rotation.row(1);
  overlaps_.clear();
  for (const Vec3& vertex : geometry.shape->mesh.vertices) {
    const double height = geometry.center.y() + up.dot(vertex);
    if (height >= margin) continue;
    Vec3 point = geometry.center + body.rotation * vertex;
    point.y() = height;
    overlaps_.push_back({point, Vec3::UnitY(), -height});
  }
  const size_t kept =
      TakeSpread(std::span<Overlap>(overlaps_), Vec3::UnitY(), static_cast<size_t>(options_.ground_points_per_shape));
  for (size_t i = 0; i < kept; ++i) AddGroundPoint(geometry.body, overlaps_[i].position);
}

void Collision::Place(Geometry& geometry, const BodyMotion& body) {
  if (geometry.placed) return;
  geometry.placed = true;
  PlaceGeom(geometry.geom, geometry.center, body.orientation * geometry.turn);
}

void Collision::CollidePairs(std::span<const BodyMotion> bodies) {
  constexpr int kMaxPoints = 8;
  std::array<dContactGeom, kMaxPoints> found;
  const int wanted = std::min(options_.self_points_per_pair, kMaxPoints);
  for (const Pair& pair : pairs_) {
    Geometry& a = geometries_[pair.first];
    Geometry& b = geometries_[pair.second];
    if ((a.center - b.center).squaredNorm() > pair.reach_squared) continue;
    if (pair.meshed) {
      CollideMeshes(pair, bodies);
      continue;
    }
    Place(a, bodies[static_cast<size_t>(a.body)]);
    Place(b, bodies[static_cast<size_t>(b.body)]);
    const int count = dCollide(a.geom, b.geom, wanted, found.data(), sizeof(dContactGeom));
    for (int i = 0; i < count; ++i) {
      const dContactGeom& geom = found[static_cast<size_t>(i)];
      points_.push_back({a.body, b.body, ToVec3(geom.pos), ToVec3(geom.normal), geom.depth});
    }
  }
}

/// Convex bodies by their faces and edges. What has hollows, and capsules against meshes, by ODE, which looks at each
/// triangle: slower, and blind to a body that is wholly inside the other.
void Collision::CollideMeshes(const Pair& pair, std::span<const BodyMotion> bodies) {
  Geometry& a = geometries_[pair.first];
  Geometry& b = geometries_[pair.second];
  const BodyMotion& body_a = bodies[static_cast<size_t>(a.body)];
  const BodyMotion& body_b = bodies[static_cast<size_t>(b.body)];
  overlaps_.clear();
  if (pair.convex) {
    const Placement at_a{a.center, body_a.rotation};
    const Placement at_b{b.center, body_b.rotation};
    if (!MayTouch(*a.solid, at_a, *b.solid, at_b)) return;
    CollideConvex(*a.solid, at_a, *b.solid, at_b, scratch_, overlaps_);
  } else {
    std::array<dContactGeom, kMostMeshPoints> found;
    Place(a, body_a);
    Place(b, body_b);
    const int count = dCollide(a.geom, b.geom, kMostMeshPoints, found.data(), sizeof(dContactGeom));
    for (int i = 0; i < count; ++i) {
      const dContactGeom& geom = found[static_cast<size_t>(i)];
      overlaps_.push_back({ToVec3(geom.pos), ToVec3(geom.normal), geom.depth});
    }
  }
  if (overlaps_.empty()) return;
  const size_t kept = TakeSpread(std::span<Overlap>(overlaps_), overlaps_.front().normal,
                                 static_cast<size_t>(options_.self_points_per_pair));
  for (size_t i = 0; i < kept; ++i) {
    const Overlap& overlap = overlaps_[i];
    points_.push_back({a.body, b.body, overlap.position, overlap.normal, overlap.depth});
  }
}

}  // namespace retrace::simulation
