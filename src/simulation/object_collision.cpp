#include "object_collision.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "box_contacts.h"
#include "ode_library.h"
#include "retrace/math/rotation.h"
#include "shapes.h"

namespace retrace::simulation {
namespace {

using character::Shape;

constexpr int kMaxPoints = 8;        // of two shapes
constexpr int kPiecePoints = 4;      // of a free body with another body
constexpr double kSamePlace = 1e-3;  // [m]

/// Distance of a point from a box about the origin, negative inside; the direction in which it grows.
double DistanceFromBox(const Vec3& half, const Vec3& point, Vec3& normal) {
  const Vec3 beyond = point.cwiseAbs() - half;
  const auto sign = [&](int k) { return point[k] < 0 ? -1.0 : 1.0; };
  const Vec3 outside = beyond.cwiseMax(0.0);
  const double distance = outside.norm();
  if (distance > 0) {
    for (int k = 0; k < 3; ++k) normal[k] = sign(k) * outside[k] / distance;
    return distance;
  }
  int axis = 0;
  const double depth = beyond.maxCoeff(&axis);
  normal = sign(axis) * Vec3(Vec3::Unit(axis));
  return depth;
}

/// Whether a weight at the origin is held by points around it, as seen from above.
bool HoldsOrigin(std::vector<double>& angles, double nearest, double tolerance) {
  if (angles.empty()) return false;
  if (nearest < tolerance) return true;
  std::sort(angles.begin(), angles.end());
  double gap = angles.front() + 2 * kPi - angles.back();
  for (size_t i = 1; i < angles.size(); ++i) gap = std::max(gap, angles[i] - angles[i - 1]);
  return gap < kPi;
}

/// Objects meet the box about a mesh: meshes of characters are close to their boxes, and edges of objects are handled
/// for boxes alone.
Shape BoxAbout(const Shape& mesh) {
  Shape box;
  box.kind = Shape::Kind::kBox;
  box.size = 2 * mesh.HalfExtents();
  box.offset = mesh.offset;
  return box;
}

Vec3 Corner(const Vec3& half, int k) {
  return {k & 1 ? half.x() : -half.x(), k & 2 ? half.y() : -half.y(), k & 4 ? half.z() : -half.z()};
}

/// A box anywhere.
struct PlacedBox {
  Vec3 position;
  Mat3 rotation;
  Vec3 half;
};

/// The ends of a capsule, the points where its core leaves the box sideways, and the point that is nearest to the box
/// where that is nearer than all these: the distance from a box is a convex function along the core. Of a thigh that
/// lies across the edge of a seat, the positions at the edge would else be found only when it already sinks in there,
/// and it rocks for ever. Appends where, how deep and in which direction.
void CollideCapsuleWithBox(const Vec3& capsule_center, const Vec3& capsule_axis, const Shape& capsule,
                           const PlacedBox& box, double margin, std::vector<ContactPoint>& points) {
  const Vec3 center = box.rotation.transpose() * (capsule_center - box.position);
  const Vec3 core = box.rotation.transpose() * capsule_axis;
  const double reach = 0.5 * capsule.length;
  Vec3 normal;
  const auto gap = [&](double along) {
    return DistanceFromBox(box.half, center + along * core, normal) - capsule.radius;
  };
  const auto add = [&](double along) {
    const double there = gap(along);
    if (there >= margin) return;
    ContactPoint& point = points.emplace_back();
    point.normal = box.rotation * normal;
    const Vec3 surface = center + along * core - (there + capsule.radius) * normal;
    point.position = box.position + box.rotation * surface;
    point.depth = -there;
  };
  add(-reach);
  if (reach == 0) return;
  add(reach);
  double nearest = std::min(gap(-reach), gap(reach));
  for (int k = 0; k < 3; ++k) {
    for (const double side : {-box.half[k], box.half[k]}) {
      const double along = (side - center[k]) / core[k];
      if (!(std::abs(along) < reach)) continue;
      const double there = gap(along);
      if (there < -0.5 * capsule.radius || there >= margin) continue;  // where the core itself goes in or is far away
      add(along);
      nearest = std::min(nearest, there);
    }
  }
  double low = -reach, high = reach;
  for (int i = 0; i < 40; ++i) {
    const double a = low + (high - low) / 3, c = high - (high - low) / 3;
    if (gap(a) < gap(c)) {
      high = c;
    } else {
      low = a;
    }
  }
  const double middle = 0.5 * (low + high);
  if (gap(middle) < nearest - 1e-4) add(middle);
}

}  // namespace

ObjectCollision::ObjectCollision(const Forest& forest, const WorldOptions& options, const ContactLaws& laws)
    : options_(options), environment_(options.environment), laws_(laws), layout_(forest.layout) {
  InitializeOde();
  for (size_t b = 0; b < forest.bodies.size(); ++b) {
    for (const Shape& given : forest.bodies[b]->shapes) {
      const Shape& shape = given.kind == Shape::Kind::kMesh ? boxes_.emplace_back(BoxAbout(given)) : given;
      own_.push_back(MakePiece(shape, Quat::Identity(), static_cast<int>(b), ContactLaws::kCharacter));
    }
  }
  for (size_t f = 0; f < environment_.bodies.size(); ++f) {
    const simulation::FreeBody& body = environment_.bodies[f];
    first_piece_.push_back(free_.size());
    double& reach = reaches_.emplace_back(0);
    for (const OrientedShape& turned : body.AllShapes()) {
      const Shape& shape = free_shapes_.emplace_back(turned.shape);
      Piece& piece =
          free_.emplace_back(MakePiece(shape, turned.orientation, layout_.FreeBody(f), laws.OwnerOfFreeBody(f)));
      piece.carries = body.compound() && shape.kind == Shape::Kind::kBox;
      if (piece.carries) {
        const Vec3 size = shape.size + Vec3::Constant(2 * kSmallestMargin);  // met that much ahead
        dGeomBoxSetLengths(piece.geom, size.x(), size.y(), size.z());
      }
      reach = std::max(reach, piece.radius + shape.offset.norm());
    }
  }
  first_piece_.push_back(free_.size());
  for (const Box& box : environment_.boxes) {
    Fixed& fixed = fixed_.emplace_back();
    fixed.box = &box;
    fixed.rotation = box.orientation.toRotationMatrix();
    fixed.position = box.position;
    const Vec3 size = box.size + Vec3::Constant(2 * kSmallestMargin);  // met that much ahead
    fixed.geom = dCreateBox(nullptr, size.x(), size.y(), size.z());
    PlaceGeom(fixed.geom, box.position, box.orientation);
    anything_moves_ = anything_moves_ || box.course.has_value();
  }
  done_.resize(environment_.bodies.size());
  balls_.resize(environment_.bodies.size());
  scratch_.reserve(64);
  held_.reserve(64);
}

ObjectCollision::~ObjectCollision() {
  for (const Piece& piece : own_) dGeomDestroy(piece.geom);
  for (const Piece& piece : free_) dGeomDestroy(piece.geom);
  for (const Fixed& fixed : fixed_) dGeomDestroy(fixed.geom);
}

ObjectCollision::Piece ObjectCollision::MakePiece(const Shape& shape, const Quat& orientation, int body,
                                                  int owner) const {
  Piece piece;
  piece.shape = &shape;
  piece.body = body;
  piece.owner = owner;
  piece.radius = shape.BoundingRadius();
  if (shape.kind == Shape::Kind::kBox) {
    piece.geom = dCreateBox(nullptr, shape.size.x(), shape.size.y(), shape.size.z());
  } else if (shape.length == 0) {
    piece.geom = dCreateSphere(nullptr, shape.radius);
  } else {
    piece.geom = dCreateCapsule(nullptr, shape.radius, shape.length);
    piece.turn = TurnOfCapsule(shape.axis);
  }
  piece.turned = orientation.coeffs() != Quat::Identity().coeffs();
  if (piece.turned) {
    piece.orientation = orientation;
    piece.turn = orientation * piece.turn;
  }
  return piece;
}

void ObjectCollision::Begin(std::span<const BodyMotion> bodies, double time) {
  const double h = options_.time_step;
  for (Fixed& fixed : fixed_) {
    if (!fixed.box->course) continue;
    const Vec3 now = fixed.box->position + fixed.box->course->At(time);
    const Vec3 next = fixed.box->position + fixed.box->course->At(time + h);
    fixed.position = now;
    fixed.velocity = (next - now) / h;
    dGeomSetPosition(fixed.geom, next.x(), next.y(), next.z());
  }
  for (Piece& piece : own_) Place(piece, bodies[static_cast<size_t>(piece.body)]);
}

void ObjectCollision::Place(Piece& piece, const BodyMotion& body) const {
  piece.center = body.position;
  piece.rotation = piece.turned ? Mat3(body.rotation * piece.orientation.toRotationMatrix()) : body.rotation;
  if (piece.shape->offset != Vec3::Zero()) piece.center += body.rotation * piece.shape->offset;
  piece.margin = kSmallestMargin;
  if (!options_.speculative_contacts) return;
  const double h = options_.time_step;
  const double reach = piece.radius + piece.shape->offset.norm();
  const double way = h * (body.linear_velocity.norm() + options_.gravity * h + body.angular_velocity.norm() * reach);
  piece.margin = std::clamp(way, kSmallestMargin, kLargestMargin);
}

void ObjectCollision::PlaceFree(size_t free_body, const BodyMotion& body) {
  for (Piece& piece : PiecesOf(free_body)) Place(piece, body);
  balls_[free_body] = {body.position, reaches_[free_body]};
}

// ---- things that nothing moves

/// Boxes against boxes, where they will be. With p a point of the body now, p' the same after the step and q' - q the
/// displacement of the other box: depth = depth' + n (p' - p) - n (q' - q).
void ObjectCollision::CollideBoxes(const Piece& piece, const BodyMotion& body, size_t b,
                                   std::vector<ContactPoint>& points) {
  const Fixed& fixed = fixed_[b];
  const double h = options_.speculative_contacts ? options_.time_step : 0;
  Vec3 way = h * (body.linear_velocity - Vec3(0, h * options_.gravity, 0));
  const double length = way.norm();
  if (length > kLargestMargin) way *= kLargestMargin / length;
  const Quat orientation = FromRotationVector(h * body.angular_velocity) * body.orientation;
  const Mat3 rotation = orientation.toRotationMatrix();
  const Vec3 position = body.position + way;
  PlaceGeom(piece.geom, position + rotation * piece.shape->offset, orientation * piece.turn);
  std::array<dContactGeom, kMaxPoints> found;
  const int count = simulation::CollideBoxes(
      piece.geom, fixed.geom, std::min(options_.ground_points_per_shape, kMaxPoints), piece.margin, found.data());
  for (int i = 0; i < count; ++i) {
    const dContactGeom& geom = found[static_cast<size_t>(i)];
    ContactPoint& point = points.emplace_back();
    point.body = piece.body;
    point.normal = ToVec3(geom.normal);
    const Vec3 later = ToVec3(geom.pos);
    point.position = body.position + body.rotation * (rotation.transpose() * (later - position));
    point.depth =
        geom.depth - kSmallestMargin + point.normal.dot(later - point.position - options_.time_step * fixed.velocity);
    point.law = laws_.Of(piece.owner, laws_.OwnerOfBox(b));
    point.object = static_cast<int>(b);
    point.surface_velocity = fixed.velocity;
  }
}

void ObjectCollision::CollideCapsule(const Piece& piece, size_t b, std::vector<ContactPoint>& points) const {
  const Fixed& fixed = fixed_[b];
  const size_t before = points.size();
  CollideCapsuleWithBox(piece.center, piece.rotation.col(piece.shape->axis), *piece.shape,
                        {fixed.position, fixed.rotation, 0.5 * fixed.box->size}, piece.margin, points);
  for (size_t c = before; c < points.size(); ++c) {
    ContactPoint& point = points[c];
    point.body = piece.body;
    point.law = laws_.Of(piece.owner, laws_.OwnerOfBox(b));
    point.object = static_cast<int>(b);
    point.surface_velocity = fixed.velocity;
  }
}

void ObjectCollision::CollideWithBox(const Piece& piece, const BodyMotion& body, size_t b,
                                     std::vector<ContactPoint>& points) {
  const Fixed& fixed = fixed_[b];
  Vec3 normal;
  const Vec3 center = fixed.rotation.transpose() * (piece.center - fixed.position);
  const double margin = piece.margin + options_.time_step * fixed.velocity.norm();
  if (DistanceFromBox(0.5 * fixed.box->size, center, normal) > piece.radius + margin) return;
  if (piece.shape->kind == Shape::Kind::kBox) {
    CollideBoxes(piece, body, b, points);
  } else {
    CollideCapsule(piece, b, points);
  }
}

void ObjectCollision::CollideGround(const Piece& piece, std::vector<ContactPoint>& points) const {
  const double ground = environment_.ground.height;
  if (piece.center.y() - ground > piece.radius + piece.margin) return;
  const size_t before = points.size();
  const auto add = [&](const Vec3& point) {
    if (point.y() - ground >= piece.margin) return;
    // Capsules of a compound body may share their ends.
    const bool chained = environment_.bodies[FreeIndex(piece.body)].compound();
    for (size_t c = before; chained && c-- > 0 && points[c].body == piece.body;) {
      if ((points[c].position - point).squaredNorm() < kSamePlace * kSamePlace) return;
    }
    ContactPoint& to = points.emplace_back();
    to.body = piece.body;
    to.position = point;
    to.depth = ground - point.y();
    to.law = laws_.Of(piece.owner, ContactLaws::kGround);
  };
  if (piece.shape->kind == Shape::Kind::kBox) {
    // The lowest four corners: those of a face, or near to it.
    std::array<Vec3, 8> corners;
    for (int k = 0; k < 8; ++k) {
      corners[static_cast<size_t>(k)] = piece.center + piece.rotation * Corner(0.5 * piece.shape->size, k);
    }
    std::sort(corners.begin(), corners.end(), [](const Vec3& a, const Vec3& b) {
      return a.y() != b.y() ? a.y() < b.y() : a.x() != b.x() ? a.x() < b.x() : a.z() < b.z();
    });
    for (size_t k = 0; k < 4; ++k) add(corners[k]);
    return;
  }
  const Vec3 half = 0.5 * piece.shape->length * piece.rotation.col(piece.shape->axis);
  const Vec3 down(0, -piece.shape->radius, 0);
  add(piece.center - half + down);
  if (piece.shape->length > 0) add(piece.center + half + down);
}

/// Corners and ends against the surface, and the points of the grid against boxes.
void ObjectCollision::CollideField(const Piece& piece, std::vector<ContactPoint>& points) const {
  const HeightField& field = *environment_.height_field;
  const Mat3 rotation = field.orientation.toRotationMatrix();
  const auto height = [&](int column, int row) {
    return field.heights[static_cast<size_t>(row) * static_cast<size_t>(field.columns) + static_cast<size_t>(column)];
  };
  const auto add = [&](const Vec3& at, const Vec3& normal, double depth) {
    ContactPoint& to = points.emplace_back();
    to.body = piece.body;
    to.position = at;
    to.normal = normal;
    to.depth = depth;
    to.law = laws_.Of(piece.owner, laws_.OwnerOfHeightField());
    to.object = static_cast<int>(environment_.boxes.size());
  };
  const double middle_column = 0.5 * (field.columns - 1), middle_row = 0.5 * (field.rows - 1);
  const auto collide = [&](const Vec3& at, double radius) {
    const Vec3 local = rotation.transpose() * (at - field.position);
    const double u = local.x() / field.spacing + middle_column, v = local.z() / field.spacing + middle_row;
    if (!(u >= 0 && v >= 0 && u <= field.columns - 1 && v <= field.rows - 1)) return;
    const int column = std::min(static_cast<int>(u), field.columns - 2);
    const int row = std::min(static_cast<int>(v), field.rows - 2);
    const double s = u - column, t = v - row;
    const double corner = height(column, row), far = height(column + 1, row + 1);
    double along_x, along_z;  // slopes of the triangle
    if (s > t) {
      along_x = (height(column + 1, row) - corner) / field.spacing;
      along_z = (far - height(column + 1, row)) / field.spacing;
    } else {
      along_z = (height(column, row + 1) - corner) / field.spacing;
      along_x = (far - height(column, row + 1)) / field.spacing;
    }
    const Vec3 normal = Vec3(-along_x, 1, -along_z).normalized();
    const double surface = corner + field.spacing * (s * along_x + t * along_z);
    const double gap = (local.y() - surface) * normal.y() - radius;
    if (gap >= piece.margin || gap < -0.5) return;
    const Vec3 up = rotation * normal;
    add(at - radius * up, up, -gap);
  };
  if (piece.shape->kind != Shape::Kind::kBox) {
    const Vec3 half = 0.5 * piece.shape->length * piece.rotation.col(piece.shape->axis);
    collide(piece.center - half, piece.shape->radius);
    if (piece.shape->length > 0) collide(piece.center + half, piece.shape->radius);
    return;
  }
  const Vec3 size = 0.5 * piece.shape->size;
  for (int k = 0; k < 8; ++k) collide(piece.center + piece.rotation * Corner(size, k), 0);
  // Points of the grid inside the box push it out through the face that looks down most.
  const Vec3 local = rotation.transpose() * (piece.center - field.position);
  const double reach = piece.radius / field.spacing;
  const double u = local.x() / field.spacing + middle_column, v = local.z() / field.spacing + middle_row;
  const int first_column = std::max(0, static_cast<int>(std::ceil(u - reach)));
  const int last_column = std::min(field.columns - 1, static_cast<int>(std::floor(u + reach)));
  const int first_row = std::max(0, static_cast<int>(std::ceil(v - reach)));
  const int last_row = std::min(field.rows - 1, static_cast<int>(std::floor(v + reach)));
  int axis = 0;
  piece.rotation.row(1).cwiseAbs().maxCoeff(&axis);
  const double sign = piece.rotation(1, axis) > 0 ? 1 : -1;
  const Vec3 up = sign * piece.rotation.col(axis);
  for (int row = first_row; row <= last_row; ++row) {
    for (int column = first_column; column <= last_column; ++column) {
      const Vec3 at = field.position + rotation * Vec3((column - middle_column) * field.spacing, height(column, row),
                                                       (row - middle_row) * field.spacing);
      const Vec3 inside = piece.rotation.transpose() * (at - piece.center);
      const double depth = sign * inside[axis] + size[axis];
      bool within = depth > -piece.margin && depth < 2 * size[axis];
      for (int k = 0; k < 3; ++k) within = within && (k == axis || std::abs(inside[k]) < size[k]);
      if (within) add(at, up, depth);
    }
  }
}

void ObjectCollision::CollideFixed(const Piece& piece, const BodyMotion& body, std::vector<ContactPoint>& points) {
  for (size_t b = 0; b < fixed_.size(); ++b) CollideWithBox(piece, body, b, points);
  if (environment_.height_field) CollideField(piece, points);
  if (Free(piece.body) && environment_.ground.present) CollideGround(piece, points);
}

// ---- things that move

/// Points of two shapes where they are; how many there are.
size_t ObjectCollision::CollidePieces(const Piece& a, const Piece& b, std::span<const BodyMotion> bodies,
                                      std::vector<ContactPoint>& points) const {
  // One point, as ODE gives it, cannot hold what lies on a box.
  const Piece& box = b.carries ? b : a;
  const Piece& capsule = b.carries ? a : b;
  if (box.carries && capsule.shape->kind == Shape::Kind::kCapsule) {
    const size_t before = points.size();
    CollideCapsuleWithBox(capsule.center, capsule.rotation.col(capsule.shape->axis), *capsule.shape,
                          {box.center, box.rotation, 0.5 * box.shape->size}, kSmallestMargin, points);
    for (size_t c = before; c < points.size(); ++c) {
      points[c].body = a.body;
      points[c].other = b.body;
      points[c].law = laws_.Of(a.owner, b.owner);
      if (b.body == capsule.body) points[c].normal = -points[c].normal;
    }
    return points.size() - before;
  }
  PlaceGeom(a.geom, a.center, bodies[static_cast<size_t>(a.body)].orientation * a.turn);
  PlaceGeom(b.geom, b.center, bodies[static_cast<size_t>(b.body)].orientation * b.turn);
  std::array<dContactGeom, kMaxPoints> found;
  const bool boxes = a.shape->kind == Shape::Kind::kBox && b.shape->kind == Shape::Kind::kBox;
  const int count = boxes ? simulation::CollideBoxes(a.geom, b.geom, kPiecePoints, a.margin, found.data())
                          : dCollide(a.geom, b.geom, kPiecePoints, found.data(), sizeof(dContactGeom));
  for (int i = 0; i < count; ++i) {
    const dContactGeom& geom = found[static_cast<size_t>(i)];
    ContactPoint& point = points.emplace_back();
    point.body = a.body;
    point.other = b.body;
    point.position = ToVec3(geom.pos);
    point.normal = ToVec3(geom.normal);
    point.depth = geom.depth - kSmallestMargin * (int{a.carries} + int{b.carries});
    point.law = laws_.Of(a.owner, b.owner);
  }
  return static_cast<size_t>(count);
}

/// The same of two free bodies.
size_t ObjectCollision::CollideFree(size_t f, size_t g, std::span<const BodyMotion> bodies,
                                    std::vector<ContactPoint>& points) {
  if (!balls_[f].Touches(balls_[g])) return 0;
  size_t count = 0;
  for (const Piece& a : PiecesOf(f)) {
    for (const Piece& b : PiecesOf(g)) {
      if (Apart(a, b)) continue;
      count += CollidePieces(a, b, bodies, points);
    }
  }
  return count;
}

bool ObjectCollision::OnMovingBox(const Piece& piece, const BodyMotion& body) {
  for (size_t b = 0; b < fixed_.size(); ++b) {
    if (!fixed_[b].box->course || fixed_[b].velocity == Vec3::Zero()) continue;
    scratch_.clear();
    CollideWithBox(piece, body, b, scratch_);
    if (!scratch_.empty()) return true;
  }
  return false;
}

void ObjectCollision::Find(std::span<const BodyMotion> bodies, double time, std::vector<char>& resting,
                           std::vector<char>& grounded, std::vector<ContactPoint>& points) {
  Begin(bodies, time);
  const size_t before = points.size();
  for (const Piece& piece : own_) CollideFixed(piece, bodies[static_cast<size_t>(piece.body)], points);
  queue_.clear();
  const auto wake = [&](size_t f) {
    if (resting[f] == 0) return;
    resting[f] = 0;
    queue_.push_back(f);
  };
  const size_t num_free = environment_.bodies.size();
  for (size_t f = 0; f < num_free; ++f) {
    done_[f] = 0;
    if (resting[f] != 0) continue;  // still where it was placed
    queue_.push_back(f);
    PlaceFree(f, bodies[FreeBody(f)]);
  }
  if (anything_moves_) {
    for (size_t f = 0; f < num_free; ++f) {
      for (const Piece& piece : PiecesOf(f)) {
        if (resting[f] != 0 && OnMovingBox(piece, bodies[FreeBody(f)])) wake(f);
      }
    }
  }
  for (const Piece& piece : own_) {
    const Ball ball{piece.center, piece.radius};
    for (size_t f = 0; f < num_free; ++f) {
      if (!ball.Touches(balls_[f])) continue;
      for (const Piece& other : PiecesOf(f)) {
        if (!Apart(piece, other) && CollidePieces(piece, other, bodies, points) > 0) wake(f);
      }
    }
  }
  for (size_t c = before; c < points.size(); ++c) {
    if (points[c].depth >= 0) grounded[static_cast<size_t>(points[c].body)] = true;
  }
  for (size_t next = 0; next < queue_.size(); ++next) {  // it may grow
    const size_t f = queue_[next];
    done_[f] = 1;
    for (size_t g = 0; g < num_free; ++g) {
      if (done_[g] == 0 && CollideFree(f, g, bodies, points) > 0) wake(g);
    }
  }
  for (const size_t f : queue_) {
    for (const Piece& piece : PiecesOf(f)) CollideFixed(piece, bodies[FreeBody(f)], points);
  }
}

bool ObjectCollision::Hold(std::span<const ContactPoint> points, size_t f, const BodyMotion& body) {
  angles_.clear();
  double nearest = kMaxPoints;
  for (const ContactPoint& point : points) {
    if (point.body != static_cast<int>(FreeBody(f))) continue;
    if (point.surface_velocity != Vec3::Zero()) return false;
    const double friction =
        point.law == 0 ? options_.friction : laws_.others()[static_cast<size_t>(point.law) - 1].friction;
    const double slope = std::hypot(point.normal.x(), point.normal.z());
    if (point.depth < -2 * kSmallestMargin || !(slope < 0.99 * friction * point.normal.y())) continue;
    const Vec3 away = point.position - body.position;
    nearest = std::min(nearest, std::hypot(away.x(), away.z()));
    angles_.push_back(std::atan2(away.z(), away.x()));
  }
  return HoldsOrigin(angles_, nearest, 1e-3 * reaches_[f]);
}

void ObjectCollision::FindResting(std::span<const BodyMotion> bodies, double time, std::vector<char>& resting) {
  Begin(bodies, time);
  const size_t num_free = environment_.bodies.size();
  for (size_t f = 0; f < num_free; ++f) {
    const BodyMotion& body = bodies[FreeBody(f)];
    PlaceFree(f, body);
    resting[f] = body.linear_velocity == Vec3::Zero() && body.angular_velocity == Vec3::Zero();
  }
  bool changed = true;
  while (changed) {  // what a body stands on may turn out to be not at rest
    changed = false;
    for (size_t f = 0; f < num_free; ++f) {
      if (resting[f] == 0) continue;
      const BodyMotion& body = bodies[FreeBody(f)];
      held_.clear();
      for (const Piece& piece : PiecesOf(f)) CollideFixed(piece, body, held_);
      for (size_t g = 0; g < num_free; ++g) {
        if (g != f && resting[g] != 0) CollideFree(f, g, bodies, held_);
      }
      if (Hold(held_, f, body)) continue;
      resting[f] = 0;
      changed = true;
    }
  }
}

}  // namespace retrace::simulation
