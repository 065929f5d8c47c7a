#include "contact_forces.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>

namespace retrace::simulation {
namespace {

/// What a point is from step to step: its bodies and its feature, or else its position among the points. Points may
/// share a name; that only makes a worse start of the search.
uint64_t NameOf(const ContactPoint& point, size_t place) {
  constexpr int kBits = 20;
  const auto number = [](int n) { return static_cast<uint64_t>(n + 1) & ((uint64_t{1} << kBits) - 1); };
  const int with = point.other >= 0 ? 2 * point.other + 1 : 2 * point.object;
  const int feature = point.feature >= 0 ? 2 * point.feature + 1 : 2 * static_cast<int>(place);
  return (number(point.body) << kBits | number(with)) << kBits | number(feature);
}

}  // namespace

/// Directions of a point's rows and what its bodies' velocities do along them.
void ContactSolver::LoadRows(size_t c, size_t place, const ContactPoint& point, const StepLaw& law,
                             const ForestDynamics& forest, size_t lane, std::span<const BodyMotion> bodies) {
  Mat3& frame = frames_[c];
  Vec3 p, q;
  PlaneSpace(point.normal, p, q);
  frame.row(0) = point.normal;
  frame.row(1) = p;
  frame.row(2) = q;
  double velocity[4];
  const auto load = [&](int body, double sign, ContactRows& rows) {
    const Vec3 arm = point.position - bodies[static_cast<size_t>(body)].position;
    for (int k = 0; k < 3; ++k) {
      const Vec3 direction = sign * frame.row(k).transpose();
      const Vec3 turning = arm.cross(direction);
      for (int i = 0; i < 3; ++i) {
        rows(k, i) = direction[i];
        rows(k, 3 + i) = turning[i];
      }
    }
    Vec6 free_velocity;
    forest.FreeVelocity(lane, body, free_velocity);
    kernels_.along(rows, free_velocity.data(), sign < 0, velocity);
  };
  Point& to = points_[c];
  to.body = point.body;
  to.other = point.other;
  load(point.body, 1, to.on_body);
  if (point.other >= 0) load(point.other, -1, to.on_other);
  const ContactLaw& contact = law.Contact(point.law);
  if (law.moving_surfaces) {
    const Vec3 surface = frame * point.surface_velocity;
    for (int k = 0; k < 3; ++k) velocity[k] -= surface[k];
  }
  const double per_step = 1 / law.time_step;
  const uint64_t name = NameOf(point, place);
  for (int k = 0; k < rows_; ++k) {
    const size_t row = static_cast<size_t>(rows_) * place + static_cast<size_t>(k);
    const double wanted = k == 0 ? law.Push(point.depth, contact) : 0;
    box_.rhs()[row] = (wanted - velocity[k]) * per_step;
    box_.low()[row] = k == 0 ? 0 : -contact.friction;
    box_.high()[row] = k == 0 ? std::numeric_limits<double>::infinity() : contact.friction;
    box_.friction_of()[row] = k == 0 ? -1 : rows_ * static_cast<int>(place);
    box_.names()[row] = 3 * name + static_cast<uint64_t>(k);
  }
}

void ContactSolver::Load(std::span<const ContactPoint> points, std::span<const size_t> island, const StepLaw& law,
                         const ForestDynamics& forest, size_t lane, std::span<const BodyMotion> bodies) {
  const double per_step = 1 / law.time_step;
  box_.Resize(rows_ * static_cast<int>(island.size()));
  double block[12];
  for (size_t i = 0; i < island.size(); ++i) {
    const size_t c = island[i];
    const ContactLaw& contact = law.Contact(points[c].law);
    LoadRows(c, i, points[c], law, forest, lane, bodies);
    const Point& at = points_[c];
    for (const int b : bodies_) place_[static_cast<size_t>(b)] = -1;  // not reached yet
    size_t count = 0;
    const auto reach = [&](int body) -> const ContactRows& {
      int& place = place_[static_cast<size_t>(body)];
      if (place < 0) {
        place = static_cast<int>(count++);
        ContactRows& reached = reached_[static_cast<size_t>(place)];
        kernels_.reach(at.on_body, forest.Response(lane, at.body, body), false, reached);
        if (at.other >= 0) kernels_.reach(at.on_other, forest.Response(lane, at.other, body), true, reached);
      }
      return reached_[static_cast<size_t>(place)];
    };
    for (size_t j = 0; j <= i; ++j) {
      const Point& from = points_[island[j]];
      kernels_.block(reach(from.body), from.on_body, false, block);
      if (from.other >= 0) kernels_.block(reach(from.other), from.on_other, true, block);
      if (j == i) {
        block[0] += contact.cfm * per_step;
        block[5] += contact.friction_cfm * per_step;
        block[10] += contact.friction_cfm * per_step;
      }
      // Columns of the block are rows above the diagonal. Those of four numbers reach into what comes later.
      double* to =
          box_.matrix() + rows_ * static_cast<ptrdiff_t>(j) * box_.stride() + rows_ * static_cast<ptrdiff_t>(i);
      if (rows_ == 1) {
        *to = block[0];
      } else {
        for (int l = 0; l < 3; ++l) std::copy_n(block + ptrdiff_t{4} * l, 4, to + l * box_.stride());
      }
    }
  }
  box_.MirrorUpperTriangle();
}

/// Contacts join the trees of their bodies; what no force moves joins nothing.
void ContactSolver::FindIslands(std::span<const ContactPoint> points, const ForestDynamics& forest) {
  const size_t trees = forest.num_trees();
  if (trees == 1) {
    order_.resize(points.size());
    std::iota(order_.begin(), order_.end(), size_t{0});
    island_begin_ = {0, points.size()};
    first_tree_ = {0};
    return;
  }
  joined_.resize(trees);
  for (size_t t = 0; t < trees; ++t) joined_[t] = t;
  const auto first = [&](size_t t) {
    while (joined_[t] != t) t = joined_[t];
    return t;
  };
  for (const ContactPoint& point : points) {
    if (point.other < 0) continue;
    const size_t a = first(forest.TreeOf(point.body));
    const size_t b = first(forest.TreeOf(point.other));
    joined_[std::max(a, b)] = std::min(a, b);
  }
  // Islands in the order of their first trees, the points of each in their own order.
  island_of_.clear();
  first_tree_.clear();
  for (const ContactPoint& point : points) {
    island_of_.push_back(first(forest.TreeOf(point.body)));
    first_tree_.push_back(island_of_.back());
  }
  std::sort(first_tree_.begin(), first_tree_.end());
  first_tree_.erase(std::unique(first_tree_.begin(), first_tree_.end()), first_tree_.end());
  order_.clear();
  island_begin_.assign(1, 0);
  for (const size_t tree_of_island : first_tree_) {
    for (size_t c = 0; c < points.size(); ++c) {
      if (island_of_[c] == tree_of_island) order_.push_back(c);
    }
    island_begin_.push_back(order_.size());
  }
}

void ContactSolver::FindBodies(std::span<const ContactPoint> points, size_t num_bodies) {
  place_.assign(num_bodies, -1);
  reached_.resize(num_bodies);
  bodies_.clear();
  const auto touch = [&](int body) {
    if (int& seen = place_[static_cast<size_t>(body)]; seen < 0) {
      seen = 0;
      bodies_.push_back(body);
    }
  };
  for (const ContactPoint& point : points) {
    touch(point.body);
    if (point.other >= 0) touch(point.other);
  }
}

void ContactSolver::Begin(std::span<const ContactPoint> points, ForestDynamics& forest) {
  for (const ContactPoint& point : points) {
    forest.Want(point.body);
    if (point.other >= 0) forest.Want(point.other);
  }
}

bool ContactSolver::Solve(std::span<const ContactPoint> points, const StepLaw& law, ForestDynamics& forest, size_t lane,
                          std::span<const BodyMotion> bodies, ContactForces& found) {
  found.forces.assign(points.size(), Vec3::Zero());
  if (points.empty()) return true;
  FindBodies(points, bodies.size());
  rows_ = law.HasFriction() ? 3 : 1;
  points_.resize(points.size());
  frames_.resize(points.size());
  FindIslands(points, forest);
  found.failed.assign(forest.num_trees(), 0);
  found.warm_starts.resize(forest.num_trees());
  bool solved = true;
  for (size_t i = 0; i + 1 < island_begin_.size(); ++i) {
    const std::span<const size_t> island(order_.data() + island_begin_[i], island_begin_[i + 1] - island_begin_[i]);
    Load(points, island, law, forest, lane, bodies);
    if (!box_.Solve(found.warm_starts[first_tree_[i]])) {
      solved = false;
      found.warm_starts[first_tree_[i]].Reset();
      for (const size_t c : island) {
        found.failed[forest.TreeOf(points[c].body)] = 1;
        if (points[c].other >= 0) found.failed[forest.TreeOf(points[c].other)] = 1;
      }
      continue;
    }
    for (size_t p = 0; p < island.size(); ++p) {
      for (int k = 0; k < rows_; ++k) {
        found.forces[island[p]][k] = box_.x()[rows_ * static_cast<ptrdiff_t>(p) + k];  // in the point's own axes
      }
    }
  }
  for (size_t c = 0; c < points.size(); ++c) {
    if (found.failed[forest.TreeOf(points[c].body)] != 0) continue;
    const Vec3 force = found.forces[c];
    const Vec3 impulse = law.time_step * force;
    const auto push = [&](int body, const ContactRows& rows) {
      Vec6 on_body;
      for (int k = 0; k < 6; ++k) {
        on_body[k] = (rows(0, k) * impulse[0] + rows(1, k) * impulse[1]) + rows(2, k) * impulse[2];
      }
      forest.AddImpulse(lane, body, on_body);
    };
    push(points_[c].body, points_[c].on_body);
    if (points_[c].other >= 0) push(points_[c].other, points_[c].on_other);
    found.forces[c].noalias() = frames_[c].transpose() * force;
  }
  return solved;
}

}  // namespace retrace::simulation
