#include "convex_polyhedron.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

namespace retrace::simulation {
namespace {

constexpr double kOnePlane = 1e-3;   // angle between triangles of one face [rad]
constexpr double kParallel = 1e-4;   // sine of the angle between edges that span no plane
constexpr double kEdgeShare = 1.05;  // an edge must separate by so much better than a face: faces give steadier contact

size_t Index(int i) {
  return static_cast<size_t>(i);
}

/// The axis along which two polyhedra overlap least.
struct Axis {
  double separation = -std::numeric_limits<double>::infinity();  // negative: overlap [m]
  int face = -1;
  int edge_a = -1;
  int edge_b = -1;
  Vec3 normal = Vec3::Zero();  // from a to b, in the axes of a
};

double LowestAlong(const std::vector<Vec3>& vertices, const Vec3& direction) {
  double lowest = std::numeric_limits<double>::infinity();
  for (const Vec3& v : vertices) lowest = std::min(lowest, v.dot(direction));
  return lowest;
}

/// The face of `of` from which `other` sticks out least. `turn` and `shift` bring points of `other` into the axes of
/// `of`. False when a face separates them.
bool TestFaces(const ConvexPolyhedron& of, const ConvexPolyhedron& other, const Mat3& turn, const Vec3& shift,
               Axis& axis) {
  for (size_t f = 0; f < of.faces().size(); ++f) {
    const auto& face = of.faces()[f];
    const Vec3 direction = turn.transpose() * face.normal;
    const double separation = face.normal.dot(shift) - face.distance + LowestAlong(other.vertices(), direction);
    if (separation >= 0) return false;
    if (separation > axis.separation) {
      axis.separation = separation;
      axis.face = static_cast<int>(f);
    }
  }
  return true;
}

/// The pair of edges that are apart least, among those whose cross product can be the direction of least overlap: where
/// the arcs of their faces' normals cross on the sphere (Gregorius 2013, The Separating Axis Test between Convex
/// Polyhedra). False when one separates.
bool TestEdges(const ConvexPolyhedron& a, const ConvexPolyhedron& b, const Mat3& turn, const Vec3& shift, Axis& axis) {
  for (size_t j = 0; j < b.edges().size(); ++j) {
    const auto& eb = b.edges()[j];
    const Vec3 c = -(turn * eb.normals[0]);
    const Vec3 d = -(turn * eb.normals[1]);
    const Vec3 arc_b = turn * eb.arc;
    const Vec3 along_b = turn * eb.along;
    const Vec3 start_b = turn * eb.start + shift;
    for (size_t i = 0; i < a.edges().size(); ++i) {
      const auto& ea = a.edges()[i];
      const double cba = c.dot(ea.arc);
      const double dba = d.dot(ea.arc);
      if (cba * dba >= 0) continue;
      const double adc = ea.normals[0].dot(arc_b);
      const double bdc = ea.normals[1].dot(arc_b);
      if (adc * bdc >= 0 || cba * bdc <= 0) continue;
      Vec3 normal = ea.along.cross(along_b);
      const double length = normal.norm();
      if (length < kParallel * std::sqrt(ea.along.squaredNorm() * along_b.squaredNorm())) continue;
      normal /= length;
      if (normal.dot(ea.normals[0] + ea.normals[1]) < 0) normal = -normal;
      const double separation = normal.dot(start_b - ea.start);
      if (separation >= 0) return false;
      if (separation > axis.separation) {
        axis.separation = separation;
        axis.edge_a = static_cast<int>(i);
        axis.edge_b = static_cast<int>(j);
        axis.normal = normal;
      }
    }
  }
  return true;
}

/// What is left of a polygon behind a plane.
void Clip(const std::vector<Vec3>& polygon, const Vec3& normal, double distance, std::vector<Vec3>& clipped) {
  clipped.clear();
  for (size_t k = 0; k < polygon.size(); ++k) {
    const Vec3& p = polygon[k];
    const Vec3& q = polygon[(k + 1) % polygon.size()];
    const double above_p = normal.dot(p) - distance;
    const double above_q = normal.dot(q) - distance;
    if (above_p <= 0) clipped.push_back(p);
    if ((above_p < 0 && above_q > 0) || (above_p > 0 && above_q < 0)) {
      clipped.emplace_back(p + above_p / (above_p - above_q) * (q - p));
    }
  }
}

/// Into `overlaps`, which is empty, the part of the face of `other` that is behind a face of `of`. `sign` of the face's
/// normal points to the first body.
void ClipFaces(const ConvexPolyhedron& of, const Placement& at_of, int face_index, const ConvexPolyhedron& other,
               const Mat3& turn, const Vec3& shift, double sign, ConvexScratch& scratch,
               std::vector<Overlap>& overlaps) {
  const auto& face = of.faces()[Index(face_index)];
  const Vec3 direction = turn.transpose() * face.normal;
  const ConvexPolyhedron::Face* incident = &other.faces().front();
  for (const auto& candidate : other.faces()) {
    if (candidate.normal.dot(direction) < incident->normal.dot(direction)) incident = &candidate;
  }
  scratch.polygon.clear();
  for (const int v : incident->loop) scratch.polygon.emplace_back(turn * other.vertices()[Index(v)] + shift);
  for (size_t k = 0; k < face.loop.size() && !scratch.polygon.empty(); ++k) {
    const Vec3& p = of.vertices()[Index(face.loop[k])];
    const Vec3& q = of.vertices()[Index(face.loop[(k + 1) % face.loop.size()])];
    const Vec3 outward = (q - p).cross(face.normal).normalized();
    Clip(scratch.polygon, outward, outward.dot(p), scratch.clipped);
    std::swap(scratch.polygon, scratch.clipped);
  }
  const Vec3 normal = sign * (at_of.rotation * face.normal);
  for (const Vec3& p : scratch.polygon) {
    const double depth = face.distance - face.normal.dot(p);
    if (depth > 0) overlaps.push_back({at_of.position + at_of.rotation * p, normal, depth});
  }
  if (!overlaps.empty()) return;
  // Deep inside one another the two faces may miss each other: the deepest vertex stands for them.
  const auto deepest =
      std::min_element(other.vertices().begin(), other.vertices().end(),
                       [&](const Vec3& p, const Vec3& q) { return direction.dot(p) < direction.dot(q); });
  const Vec3 p = turn * *deepest + shift;
  overlaps.push_back({at_of.position + at_of.rotation * p, normal, face.distance - face.normal.dot(p)});
}

/// The middle between the nearest points of two lines.
Vec3 Between(const Vec3& p, const Vec3& u, const Vec3& q, const Vec3& v) {
  const Vec3 apart = q - p;
  const double uu = u.dot(u);
  const double uv = u.dot(v);
  const double vv = v.dot(v);
  const double determinant = uu * vv - uv * uv;  // not 0: parallel edges make no axis
  const double s = std::clamp((apart.dot(u) * vv - apart.dot(v) * uv) / determinant, 0.0, 1.0);
  const double t = std::clamp((apart.dot(u) * uv - apart.dot(v) * uu) / determinant, 0.0, 1.0);
  return 0.5 * (p + s * u + q + t * v);
}

}  // namespace

ConvexPolyhedron::ConvexPolyhedron(const TriangleMesh& mesh) : vertices_(mesh.vertices) {
  for (const Vec3& v : vertices_) {
    half_extents_ = half_extents_.cwiseMax(v.cwiseAbs());
    radius_ = std::max(radius_, v.norm());
  }
  MakeFaces(mesh);
}

void ConvexPolyhedron::MakeFaces(const TriangleMesh& mesh) {
  const size_t count = mesh.triangles.size();
  std::map<std::pair<int, int>, size_t> triangle_of;  // of the edge that it runs along
  std::vector<Vec3> normals;                          // times twice the area
  for (size_t t = 0; t < count; ++t) {
    const auto& c = mesh.triangles[t];
    for (size_t k = 0; k < 3; ++k) triangle_of[{c[k], c[(k + 1) % 3]}] = t;
    const Vec3& origin = vertices_[Index(c[0])];
    normals.emplace_back((vertices_[Index(c[1])] - origin).cross(vertices_[Index(c[2])] - origin));
  }
  std::vector<int> face_of(count, -1);
  for (size_t seed = 0; seed < count; ++seed) {
    if (face_of[seed] >= 0) continue;
    const int f = static_cast<int>(faces_.size());
    faces_.emplace_back();
    std::vector<size_t> members = {seed};
    face_of[seed] = f;
    for (size_t m = 0; m < members.size(); ++m) {
      const auto& c = mesh.triangles[members[m]];
      for (size_t k = 0; k < 3; ++k) {
        const size_t next = triangle_of.at({c[(k + 1) % 3], c[k]});
        if (face_of[next] >= 0 ||
            normals[seed].cross(normals[next]).norm() > kOnePlane * normals[seed].norm() * normals[next].norm() ||
            normals[seed].dot(normals[next]) < 0) {
          continue;
        }
        face_of[next] = f;
        members.push_back(next);
      }
    }
    Face& face = faces_.back();
    std::map<int, int> after;  // along the rim
    for (const size_t t : members) {
      face.normal += normals[t];
      const auto& c = mesh.triangles[t];
      for (size_t k = 0; k < 3; ++k) {
        if (face_of[triangle_of.at({c[(k + 1) % 3], c[k]})] != f) after[c[k]] = c[(k + 1) % 3];
      }
    }
    face.normal.normalize();
    const int first = after.begin()->first;
    for (int v = first; face.loop.empty() || v != first; v = after.at(v)) face.loop.push_back(v);
    face.distance = -std::numeric_limits<double>::infinity();
    for (const int v : face.loop) face.distance = std::max(face.distance, face.normal.dot(vertices_[Index(v)]));
    largest_face_ = std::max(largest_face_, face.loop.size());
  }
  for (const auto& [edge, triangle] : triangle_of) {
    const size_t other = triangle_of.at({edge.second, edge.first});
    if (edge.first > edge.second || face_of[triangle] == face_of[other]) continue;
    const Vec3& start = vertices_[Index(edge.first)];
    const Vec3& n0 = faces_[Index(face_of[triangle])].normal;
    const Vec3& n1 = faces_[Index(face_of[other])].normal;
    edges_.push_back({start, vertices_[Index(edge.second)] - start, {n0, n1}, n1.cross(n0)});
  }
}

bool MayTouch(const ConvexPolyhedron& a, const Placement& at_a, const ConvexPolyhedron& b, const Placement& at_b) {
  const Vec3 apart = at_b.position - at_a.position;
  const auto outside = [&](const ConvexPolyhedron& box, const Mat3& rotation, double radius) {
    const Vec3 local = rotation.transpose() * apart;
    return (local.cwiseAbs() - box.half_extents()).cwiseMax(0).squaredNorm() > radius * radius;
  };
  return !outside(a, at_a.rotation, b.radius()) && !outside(b, at_b.rotation, a.radius());
}

void CollideConvex(const ConvexPolyhedron& a, const Placement& at_a, const ConvexPolyhedron& b, const Placement& at_b,
                   ConvexScratch& scratch, std::vector<Overlap>& overlaps) {
  const Mat3 turn = at_a.rotation.transpose() * at_b.rotation;  // of b, in the axes of a
  const Vec3 shift = at_a.rotation.transpose() * (at_b.position - at_a.position);
  const Mat3 turn_back = turn.transpose();
  const Vec3 shift_back = -(turn_back * shift);
  overlaps.clear();
  Axis face_a;
  Axis face_b;
  Axis edges;
  if (!TestFaces(a, b, turn, shift, face_a)) return;
  if (!TestFaces(b, a, turn_back, shift_back, face_b)) return;
  if (!TestEdges(a, b, turn, shift, edges)) return;
  if (kEdgeShare * edges.separation > std::max(face_a.separation, face_b.separation)) {
    const auto& ea = a.edges()[Index(edges.edge_a)];
    const auto& eb = b.edges()[Index(edges.edge_b)];
    const Vec3 point = Between(ea.start, ea.along, turn * eb.start + shift, turn * eb.along);
    overlaps.push_back({at_a.position + at_a.rotation * point, -(at_a.rotation * edges.normal), -edges.separation});
    return;
  }
  // Faces that stand for one another by symmetry must not take turns by rounding.
  if (face_b.separation > face_a.separation + 1e-9) {
    ClipFaces(b, at_b, face_b.face, a, turn_back, shift_back, 1, scratch, overlaps);
  } else {
    ClipFaces(a, at_a, face_a.face, b, turn, shift, -1, scratch, overlaps);
  }
}

}  // namespace retrace::simulation
