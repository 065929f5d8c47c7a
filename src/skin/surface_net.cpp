#include "surface_net.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

namespace retrace::skin {
namespace {

constexpr int kBlock = 4;  // cells along each side of what is left out at once

class Net {
 public:
  Net(const std::function<double(const Vec3&)>& distance, const Vec3& low, const Vec3& high, double spacing)
      : distance_(distance), low_(low), spacing_(spacing) {
    for (int axis = 0; axis < 3; ++axis) {
      const int cells = static_cast<int>(std::ceil((high[axis] - low[axis]) / spacing));
      size_[axis] = kBlock * ((cells + kBlock - 1) / kBlock) + 1;
    }
    values_.assign(static_cast<size_t>(size_.prod()), 0);
    vertex_of_cell_.assign(values_.size(), -1);
  }

  TriangleMesh Make() {
    Sample();
    for (int k = 0; k + 1 < size_.z(); ++k) {
      for (int j = 0; j + 1 < size_.y(); ++j) {
        for (int i = 0; i + 1 < size_.x(); ++i) AddVertex({i, j, k});
      }
    }
    for (int k = 0; k + 1 < size_.z(); ++k) {
      for (int j = 0; j + 1 < size_.y(); ++j) {
        for (int i = 0; i + 1 < size_.x(); ++i) AddFaces({i, j, k});
      }
    }
    return std::move(mesh_);
  }

 private:
  using Corner = Eigen::Vector3i;

  size_t NumberOf(const Corner& c) const {
    return static_cast<size_t>((c.z() * size_.y() + c.y()) * size_.x() + c.x());
  }
  Vec3 PlaceOf(const Corner& c) const { return low_ + spacing_ * c.cast<double>(); }
  double ValueAt(const Corner& c) const { return values_[NumberOf(c)]; }

  /// Values at the points of the grid; in blocks without surface only their sign.
  void Sample() {
    // From the middle of a block to its farthest point, and on to the next cell, whose edges meet the block.
    const double reach = std::sqrt(3.0) * (0.5 * kBlock + 1) * spacing_;
    for (int k = 0; k < size_.z(); k += kBlock) {
      for (int j = 0; j < size_.y(); j += kBlock) {
        for (int i = 0; i < size_.x(); i += kBlock) SampleBlock({i, j, k}, reach);
      }
    }
  }

  void SampleBlock(const Corner& first, double reach) {
    const double middle = distance_(PlaceOf(first) + Vec3::Constant(0.5 * (kBlock - 1) * spacing_));
    const Corner end = (first + Corner::Constant(kBlock)).cwiseMin(size_);
    for (int k = first.z(); k < end.z(); ++k) {
      for (int j = first.y(); j < end.y(); ++j) {
        for (int i = first.x(); i < end.x(); ++i) {
          const Corner at(i, j, k);
          values_[NumberOf(at)] = std::abs(middle) > reach ? middle : distance_(PlaceOf(at));
        }
      }
    }
  }

  void AddVertex(const Corner& cell) {
    Vec3 sum = Vec3::Zero();
    int crossings = 0;
    for (int axis = 0; axis < 3; ++axis) {
      for (int edge = 0; edge < 4; ++edge) {
        Corner from = cell;
        from[(axis + 1) % 3] += edge & 1;
        from[(axis + 2) % 3] += edge >> 1;
        Corner to = from;
        ++to[axis];
        const double a = ValueAt(from), b = ValueAt(to);
        if ((a < 0) == (b < 0)) continue;
        sum += PlaceOf(from) + a / (a - b) * (PlaceOf(to) - PlaceOf(from));
        ++crossings;
      }
    }
    if (crossings == 0) return;
    vertex_of_cell_[NumberOf(cell)] = static_cast<int>(mesh_.vertices.size());
    mesh_.vertices.push_back(OntoSurface(sum / crossings));
  }

  /// Two steps of Newton's method along the gradient, no farther than a cell.
  Vec3 OntoSurface(const Vec3& start) const {
    Vec3 place = start;
    const double step = 0.1 * spacing_;
    for (int round = 0; round < 2; ++round) {
      const double value = distance_(place);
      Vec3 gradient;
      for (int axis = 0; axis < 3; ++axis) {
        gradient[axis] = (distance_(place + step * Vec3::Unit(axis)) - value) / step;
      }
      const double squared = gradient.squaredNorm();
      if (squared < 0.01) break;
      Vec3 move = -value / squared * gradient;
      if (move.norm() > 0.3 * spacing_) move *= 0.3 * spacing_ / move.norm();
      place += move;
    }
    return place;
  }

  /// The face across each edge that begins at a corner: it joins the vertices of the four cells around the edge.
  void AddFaces(const Corner& at) {
    for (int axis = 0; axis < 3; ++axis) {
      const int u = (axis + 1) % 3, v = (axis + 2) % 3;
      if (at[u] == 0 || at[v] == 0) continue;
      Corner to = at;
      ++to[axis];
      const bool inside = ValueAt(at) < 0;
      if (inside == (ValueAt(to) < 0)) continue;
      std::array<int, 4> face;
      for (int k = 0; k < 4; ++k) {
        Corner cell = at;
        if (k == 0 || k == 3) --cell[u];
        if (k < 2) --cell[v];
        face[static_cast<size_t>(k)] = vertex_of_cell_[NumberOf(cell)];
      }
      if (!inside) std::swap(face[1], face[3]);
      // Along the shorter diagonal.
      const auto place = [&](size_t k) { return mesh_.vertices[static_cast<size_t>(face[k])]; };
      if ((place(0) - place(2)).squaredNorm() <= (place(1) - place(3)).squaredNorm()) {
        mesh_.triangles.push_back({face[0], face[1], face[2]});
        mesh_.triangles.push_back({face[0], face[2], face[3]});
      } else {
        mesh_.triangles.push_back({face[1], face[2], face[3]});
        mesh_.triangles.push_back({face[1], face[3], face[0]});
      }
    }
  }

  const std::function<double(const Vec3&)>& distance_;
  Vec3 low_;
  double spacing_;
  Corner size_;  // points
  std::vector<double> values_;
  std::vector<int> vertex_of_cell_;
  TriangleMesh mesh_;
};

}  // namespace

TriangleMesh SurfaceNet(const std::function<double(const Vec3&)>& distance, const Vec3& low, const Vec3& high,
                        double spacing) {
  return Net(distance, low, high, spacing).Make();
}

}  // namespace retrace::skin
