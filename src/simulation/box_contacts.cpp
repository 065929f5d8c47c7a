#include "box_contacts.h"

#include <algorithm>
#include <cmath>

#include "ode_library.h"

namespace retrace::simulation {
namespace {

constexpr double kAligned = 1 - 1e-9;  // of the cosine of an angle between directions that are the same
constexpr double kSamePoint = 1e-3;    // [m]

struct TurnedBox {
  explicit TurnedBox(dGeomID geom) : center(ToVec3(dGeomGetPosition(geom))) {
    const dReal* r = dGeomGetRotation(geom);  // rows of four
    axes << r[0], r[1], r[2], r[4], r[5], r[6], r[8], r[9], r[10];
    dVector3 lengths;
    dGeomBoxGetLengths(geom, lengths);
    half = 0.5 * ToVec3(lengths);
  }
  bool HasFaceAlong(const Vec3& n) const { return (axes.transpose() * n).cwiseAbs().maxCoeff() > kAligned; }
  /// Middle of the edge along an axis that is farthest along a direction.
  Vec3 MiddleOfEdge(int axis, const Vec3& direction) const {
    Vec3 middle = center;
    for (int k = 0; k < 3; ++k) {
      if (k != axis) middle += (direction.dot(axes.col(k)) < 0 ? -half[k] : half[k]) * axes.col(k);
    }
    return middle;
  }
  Vec3 center;
  Mat3 axes;
  Vec3 half;
};

/// The edges that have this common normal. False when there are none.
bool FindEdges(const TurnedBox& a, const TurnedBox& b, const Vec3& normal, int& of_a, int& of_b) {
  double best = kAligned;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      const Vec3 across = a.axes.col(i).cross(b.axes.col(j));
      const double length = across.norm();
      if (length == 0 || !(std::abs(across.dot(normal)) > best * length)) continue;
      best = std::abs(across.dot(normal)) / length;
      of_a = i;
      of_b = j;
    }
  }
  return best > kAligned;
}

struct Points {
  dContactGeom* found;
  int count;
  int most;
  double margin;

  void Add(const Vec3& position, double depth) {
    if (count == most || depth <= -margin) return;
    for (int c = 1; c < count; ++c) {
      if ((ToVec3(found[c].pos) - position).squaredNorm() < kSamePoint * kSamePoint) return;
    }
    found[count] = found[0];
    for (int axis = 0; axis < 3; ++axis) found[count].pos[axis] = position[axis];
    found[count].depth = depth;
    ++count;
  }
};

/// The ends of the piece of an edge that is beside another box: beside the two faces at the other's edge along
/// `other_axis`, which look in `direction`. Depths are measured along that.
void AddEnds(const TurnedBox& box, int axis, const TurnedBox& other, int other_axis, const Vec3& direction,
             Points& points) {
  const Vec3 middle = box.MiddleOfEdge(axis, -direction);
  const Vec3 along = box.axes.col(axis);
  double low = -box.half[axis], high = box.half[axis];
  const auto clip = [&](double at_zero, double per_length) {  // to where the function is not negative
    if (per_length > 0) low = std::max(low, -at_zero / per_length);
    if (per_length < 0) high = std::min(high, -at_zero / per_length);
    if (per_length == 0 && at_zero < 0) high = low;
  };
  const Vec3 at_zero = other.axes.transpose() * (middle - other.center);
  const Vec3 per_length = other.axes.transpose() * along;
  const Vec3 facing = other.axes.transpose() * direction;
  for (int k = 0; k < 3; ++k) {
    const double sign = facing[k] < 0 ? -1 : 1;
    clip(other.half[k] + sign * at_zero[k], sign * per_length[k]);
    if (k == other_axis) clip(other.half[k] - sign * at_zero[k], -sign * per_length[k]);
  }
  if (!(low < high)) return;
  for (const double t : {low, high}) {
    double depth = HUGE_VAL;
    for (int k = 0; k < 3; ++k) {
      if (k == other_axis) continue;
      const double sign = facing[k] < 0 ? -1 : 1;
      depth = std::min(depth, (other.half[k] - sign * (at_zero[k] + t * per_length[k])) / std::abs(facing[k]));
    }
    points.Add(middle + t * along + 0.5 * depth * direction, depth);
  }
}

}  // namespace

int CollideBoxes(dGeomID geom_a, dGeomID geom_b, int most, double margin, dContactGeom* found) {
  const int count = dCollide(geom_a, geom_b, most, found, sizeof(dContactGeom));
  if (count != 1) return count;
  const TurnedBox a(geom_a), b(geom_b);
  const Vec3 normal = ToVec3(found[0].normal);  // towards a
  int of_a = 0, of_b = 0;
  if (a.HasFaceAlong(normal) || b.HasFaceAlong(normal) || !FindEdges(a, b, normal, of_a, of_b)) return count;
  Points points{found, count, most, margin};
  AddEnds(a, of_a, b, of_b, normal, points);
  AddEnds(b, of_b, a, of_a, -normal, points);
  // Where edges touch along a piece, ODE's point is anywhere on it.
  int deep = 0;
  for (int c = 1; c < points.count; ++c) deep += found[c].depth > 0.5 * found[0].depth ? 1 : 0;
  if (deep >= 2) found[0] = found[--points.count];
  return points.count;
}

}  // namespace retrace::simulation
