#include "collision.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "ode_library.h"
#include "retrace/math/rotation.h"
#include "segment_distance.h"
#include "shapes.h"

namespace retrace::simulation {

using character::Shape;

namespace {

constexpr double kConvexTolerance = 1e-4;  // of the radius: vertices that were rounded are not quite in one plane
constexpr double kSegmentMargin = 1e-5;    // more than rounding and nearly parallel segments may cost [m]
constexpr double kGroundMargin = 1e-6;     // [m]
constexpr int kMostFeatures = 8;           // of a shape: corners of a box, ends of a capsule
constexpr int kMostMeshPoints = 64;        // that ODE may return; it stops at the first ones

bool HasMesh(const Forest& forest) {
  for (const character::Body* body : forest.bodies) {
    for (const Shape& shape : body->shapes) {
      if (shape.kind == Shape::Kind::kMesh) return true;
    }
  }
  return false;
}

}  // namespace

Collision::Collision(const Forest& forest, const CollisionOptions& options) : options_(options) {
  InitializeOde();
  for (size_t c = 0; c < forest.num_characters(); ++c) {
    first_geometry_.push_back(geometries_.size());
    const Tree& tree = forest.trees[c];
    for (size_t b = tree.first_body; b < tree.first_body + tree.num_bodies; ++b) {
      for (const Shape& shape : forest.bodies[b]->shapes) MakeGeometry(static_cast<int>(b), shape);
    }
  }
  first_geometry_.push_back(geometries_.size());
  if (HasMesh(forest)) {
    for (Geometry& geometry : geometries_) {
      if (geometry.shape->kind == Shape::Kind::kBox) geometry.solid.emplace(BoxMesh(geometry.shape->size));
    }
  }
  MakePairs(forest);
  size_t largest = kMostMeshPoints;
  size_t largest_face = 0;
  for (const Geometry& geometry : geometries_) {
    largest = std::max(largest, geometry.shape->mesh.vertices.size());
    if (geometry.solid) largest_face = std::max(largest_face, geometry.solid->largest_face());
  }
  overlaps_.reserve(std::max(largest, 2 * largest_face));
  scratch_.Reserve(2 * largest_face);
  grounded_.resize(forest.bodies.size());
  points_.reserve(256);
}

Collision::Pair Collision::MakePair(size_t first, size_t second) const {
  const Geometry& a = geometries_[first];
  const Geometry& b = geometries_[second];
  const double reach = a.bounding_radius + b.bounding_radius;
  const bool meshed = a.surface != nullptr || b.surface != nullptr;
  return {first, second, reach * reach, meshed && a.solid && b.solid, meshed};
}

void Collision::MakePairs(const Forest& forest) {
  if (options_.self_collision) {
    for (const auto& [a, b] : forest.self_pairs) {
      for (size_t i = 0; i < geometries_.size(); ++i) {
        if (geometries_[i].body != a) continue;
        for (size_t j = 0; j < geometries_.size(); ++j) {
          if (geometries_[j].body == b) pairs_.push_back(MakePair(i, j));
        }
      }
    }
  }
  for (const Geometry& geometry : geometries_) {
    ShapeBounds& shape = shapes_.emplace_back();
    shape.body = geometry.body;
    shape.at_center = geometry.shape->offset == Vec3::Zero();
    for (int i = 0; i < 3; ++i) shape.offset[i] = geometry.shape->offset[i];
    shape.axis = geometry.axis;
    shape.half_length = geometry.half_length;
    // With what rounding may cost: CollideWithGround looks again.
    shape.ground_height = options_.ground
                              ? options_.ground_height + geometry.bounding_radius + kLargestMargin + kGroundMargin
                              : -std::numeric_limits<double>::infinity();
  }
  for (const Pair& pair : pairs_) {
    shape_pairs_.push_back({static_cast<int>(pair.first), static_cast<int>(pair.second), pair.reach_squared,
                            pair.meshed ? 0 : SegmentReachSquared(pair)});
  }
  const size_t characters = forest.num_characters();
  for (size_t c = 0; c < characters; ++c) {
    for (size_t d = c + 1; d < characters; ++d) {
      CharacterPair& pair = character_pairs_.emplace_back(CharacterPair{c, d, {}});
      for (size_t i = first_geometry_[c]; i < first_geometry_[c + 1]; ++i) {
        for (size_t j = first_geometry_[d]; j < first_geometry_[d + 1]; ++j) pair.pairs.push_back(MakePair(i, j));
      }
    }
  }
  if (characters > 1) balls_.resize(characters);
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
    shape.size.maxCoeff(&geometry.axis);
    geometry.half_length = 0.5 * shape.size[geometry.axis];
    const double across = shape.size.squaredNorm() - shape.size[geometry.axis] * shape.size[geometry.axis];
    geometry.around_axis = 0.5 * std::sqrt(across);
  } else if (shape.kind == Shape::Kind::kMesh) {
    MakeMesh(shape, geometry);
  } else {
    geometry.geom = dCreateCapsule(nullptr, shape.radius, shape.length);
    geometry.axis = shape.axis;
    geometry.half_length = 0.5 * shape.length;
    geometry.around_axis = shape.radius;
    geometry.turn = TurnOfCapsule(shape.axis);
  }
  geometries_.push_back(std::move(geometry));
}

void Collision::Locate(Geometry& geometry, const BodyMotion& body) const {
  if (geometry.located == step_) return;
  geometry.located = step_;
  geometry.center = body.position;
  if (geometry.shape->offset != Vec3::Zero()) geometry.center += body.rotation * geometry.shape->offset;
}

void Collision::Find(std::span<const BodyMotion> bodies, const NearShapes& near) {
  ++step_;
  points_.clear();
  std::fill(grounded_.begin(), grounded_.end(), false);
  for (const uint32_t shape : near.ground) {
    Geometry& geometry = geometries_[shape];
    const BodyMotion& body = bodies[static_cast<size_t>(geometry.body)];
    Locate(geometry, body);
    CollideWithGround(geometry, body);
  }
  for (const uint32_t pair : near.pairs) CollidePair(pairs_[pair], bodies);
  if (!character_pairs_.empty()) CollideCharacters(bodies);
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

/// @param feature of the shape, counted from 0; -1: not known
void Collision::AddGroundPoint(const Geometry& geometry, int feature, const Vec3& point) {
  const double height = point.y() - options_.ground_height;
  if (height <= 0) grounded_[static_cast<size_t>(geometry.body)] = true;
  ContactPoint& added = points_.emplace_back();
  added = {geometry.body, -1, point, Vec3::UnitY(), -height, options_.ground_law};
  const auto shape = static_cast<int>(&geometry - geometries_.data());
  if (feature >= 0) added.feature = kMostFeatures * shape + feature;
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
    AddGroundPoint(geometry, k, point);
  }
}

void Collision::CollideCapsuleWithGround(const Geometry& geometry, const BodyMotion& body, double margin) {
  const Vec3 half = 0.5 * geometry.shape->length * body.rotation.col(geometry.shape->axis);
  for (const int end : {0, 1}) {
    Vec3 point = geometry.center + (end == 0 ? -1.0 : 1.0) * half;
    point.y() -= geometry.shape->radius;
    if (point.y() - options_.ground_height < margin) AddGroundPoint(geometry, end, point);
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
  for (size_t i = 0; i < kept; ++i) AddGroundPoint(geometry, -1, overlaps_[i].position);
}

void Collision::Place(Geometry& geometry, const BodyMotion& body) {
  if (geometry.placed == step_) return;
  geometry.placed = step_;
  PlaceGeom(geometry.geom, geometry.center, body.orientation * geometry.turn);
}

double Collision::SegmentReachSquared(const Pair& pair) const {
  const double reach = geometries_[pair.first].around_axis + geometries_[pair.second].around_axis + kSegmentMargin;
  return reach * reach;
}

bool Collision::SegmentsApart(const Pair& pair, std::span<const BodyMotion> bodies) const {
  const auto segment = [&](const Geometry& geometry) {
    const Vec3 half = geometry.half_length * bodies[static_cast<size_t>(geometry.body)].rotation.col(geometry.axis);
    return Segment<double>{{geometry.center.x(), geometry.center.y(), geometry.center.z()},
                           {half.x(), half.y(), half.z()}};
  };
  return SquaredDistance(segment(geometries_[pair.first]), segment(geometries_[pair.second])) >
         SegmentReachSquared(pair);
}

void Collision::CollidePair(const Pair& pair, std::span<const BodyMotion> bodies) {
  Geometry& a = geometries_[pair.first];
  Geometry& b = geometries_[pair.second];
  Locate(a, bodies[static_cast<size_t>(a.body)]);
  Locate(b, bodies[static_cast<size_t>(b.body)]);
  if (pair.meshed) {
    CollideMeshes(pair, bodies);
    return;
  }
  constexpr int kMaxPoints = 8;
  std::array<dContactGeom, kMaxPoints> found;
  const int wanted = std::min(options_.self_points_per_pair, kMaxPoints);
  Place(a, bodies[static_cast<size_t>(a.body)]);
  Place(b, bodies[static_cast<size_t>(b.body)]);
  const int count = dCollide(a.geom, b.geom, wanted, found.data(), sizeof(dContactGeom));
  for (int i = 0; i < count; ++i) {
    const dContactGeom& geom = found[static_cast<size_t>(i)];
    points_.push_back({a.body, b.body, ToVec3(geom.pos), ToVec3(geom.normal), geom.depth});
  }
}

/// About the center of each character's shapes, so that characters that are far apart cost next to nothing.
void Collision::FindBalls() {
  for (size_t c = 0; c < balls_.size(); ++c) {
    Ball& ball = balls_[c];
    ball = {};
    const size_t begin = first_geometry_[c];
    const size_t end = first_geometry_[c + 1];
    for (size_t i = begin; i < end; ++i) ball.center += geometries_[i].center / static_cast<double>(end - begin);
    for (size_t i = begin; i < end; ++i) {
      const double reach = (geometries_[i].center - ball.center).norm() + geometries_[i].bounding_radius;
      ball.radius = std::max(ball.radius, reach);
    }
  }
}

void Collision::CollideCharacters(std::span<const BodyMotion> bodies) {
  for (Geometry& geometry : geometries_) Locate(geometry, bodies[static_cast<size_t>(geometry.body)]);
  FindBalls();
  for (const CharacterPair& pair : character_pairs_) {
    const double reach = balls_[pair.first].radius + balls_[pair.second].radius;
    if ((balls_[pair.first].center - balls_[pair.second].center).squaredNorm() > reach * reach) continue;
    for (const Pair& shapes : pair.pairs) {
      if (Apart(shapes) || (!shapes.meshed && SegmentsApart(shapes, bodies))) continue;
      CollidePair(shapes, bodies);
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

NearShapeFinder::NearShapeFinder(const Collision& collision, const TreePasses& passes)
    : collision_(collision),
      passes_(passes),
      centers_(collision.shapes().size()),
      pair_counts_(static_cast<size_t>(passes.lanes)),
      ground_counts_(static_cast<size_t>(passes.lanes)) {
  const size_t shapes = collision.shapes().size();
  const size_t pairs = collision.pairs().size();
  memory_.resize(pair_counts_.size() * (pairs + shapes));
  for (size_t l = 0; l < pair_counts_.size(); ++l) {
    pairs_.push_back(memory_.data() + l * (pairs + shapes));
    ground_.push_back(pairs_.back() + pairs);
  }
}

void NearShapeFinder::Find(const std::byte* bodies) {
  const std::vector<ShapeBounds>& shapes = collision_.shapes();
  const std::vector<ShapePair>& pairs = collision_.pairs();
  passes_.find_near(shapes.data(), shapes.size(), pairs.data(), pairs.size(), bodies,
                    reinterpret_cast<std::byte*>(centers_.data()),
                    {pairs_.data(), pair_counts_.data(), ground_.data(), ground_counts_.data()});
}

}  // namespace retrace::simulation
