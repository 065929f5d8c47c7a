#include "retrace/body_fitting/mesh_volume.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>

namespace retrace::body_fitting {
namespace {

/// Where a column meets the surface: 1 where it enters, -1 where it leaves, going up z.
struct Crossing {
  double z = 0;
  int turn = 0;
};

/// Twice the signed area of a, b and p in the plane. The two triangles of an edge compute it with the same rounding and
/// opposite signs.
double Side(const Vec3& a, const Vec3& b, double x, double y) {
  const bool swapped = std::make_pair(b.x(), b.y()) < std::make_pair(a.x(), a.y());
  const Vec3& from = swapped ? b : a;
  const Vec3& to = swapped ? a : b;
  const double area = (to.x() - from.x()) * (y - from.y()) - (to.y() - from.y()) * (x - from.x());
  return swapped ? -area : area;
}

/// Whether a point is to the left of an edge; one that is on the edge, is to the left of it in one of its directions.
bool IsLeft(const Vec3& a, const Vec3& b, double side) {
  if (side != 0) return side > 0;
  return b.y() < a.y() || (b.y() == a.y() && b.x() > a.x());
}

}  // namespace

std::vector<VolumeCell> FillWithCells(const TriangleMesh& mesh, double spacing) {
  std::map<std::pair<int64_t, int64_t>, std::vector<Crossing>> columns;
  const auto first_column = [&](double low) { return static_cast<int64_t>(std::ceil(low / spacing - 0.5)); };
  const auto at = [&](int64_t column) { return (static_cast<double>(column) + 0.5) * spacing; };
  for (const auto& t : mesh.triangles) {
    Vec3 a = mesh.vertices[static_cast<size_t>(t[0])];
    Vec3 b = mesh.vertices[static_cast<size_t>(t[1])];
    const Vec3& c = mesh.vertices[static_cast<size_t>(t[2])];
    const double area = Side(a, b, c.x(), c.y());
    if (area == 0) continue;
    const int turn = area > 0 ? -1 : 1;  // seen from above counter-clockwise: the column leaves through it
    if (area < 0) std::swap(a, b);
    const auto [low_x, high_x] = std::minmax({a.x(), b.x(), c.x()});
    const auto [low_y, high_y] = std::minmax({a.y(), b.y(), c.y()});
    for (int64_t i = first_column(low_x); at(i) <= high_x; ++i) {
      for (int64_t j = first_column(low_y); at(j) <= high_y; ++j) {
        const double x = at(i), y = at(j);
        const double bc = Side(b, c, x, y), ca = Side(c, a, x, y), ab = Side(a, b, x, y);
        if (!IsLeft(b, c, bc) || !IsLeft(c, a, ca) || !IsLeft(a, b, ab)) continue;
        const double sum = bc + ca + ab;
        if (!(sum > 0)) continue;
        columns[{i, j}].push_back({(bc * a.z() + ca * b.z() + ab * c.z()) / sum, turn});
      }
    }
  }
  std::vector<VolumeCell> cells;
  for (auto& [column, crossings] : columns) {
    std::stable_sort(crossings.begin(), crossings.end(),
                     [](const Crossing& p, const Crossing& q) { return p.z < q.z; });
    int around = 0;
    double begin = 0;
    for (const Crossing& crossing : crossings) {
      const int before = around;
      around += crossing.turn;
      if (before <= 0 && around > 0) begin = crossing.z;
      if (before <= 0 || around > 0) continue;
      for (double low = begin; low < crossing.z;) {
        const double high = std::min(crossing.z, (std::floor(low / spacing) + 1) * spacing);
        if (!(high > low)) break;  // a grid finer than the numbers
        cells.push_back(
            {Vec3(at(column.first), at(column.second), 0.5 * (low + high)), Vec3(spacing, spacing, high - low)});
        low = high;
      }
    }
  }
  return cells;
}

MassProperties SolidOf(const std::vector<VolumeCell>& cells) {
  MassProperties solid;
  Vec3 first = Vec3::Zero();
  for (const VolumeCell& cell : cells) {
    solid.volume += cell.volume();
    first += cell.volume() * cell.center;
  }
  if (!(solid.volume > 0)) return solid;
  solid.center = first / solid.volume;
  Mat3 second = Mat3::Zero();
  for (const VolumeCell& cell : cells) {
    const Vec3 apart = cell.center - solid.center;
    second += cell.volume() * (apart * apart.transpose());
    second.diagonal() += cell.volume() / 12 * cell.size.cwiseProduct(cell.size);
  }
  solid.inertia = second.trace() * Mat3::Identity() - second;
  return solid;
}

}  // namespace retrace::body_fitting
