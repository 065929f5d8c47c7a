#include "contact_forces.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace retrace::simulation {

/// Directions of a point's rows and what its bodies' velocities do along them.
void ContactForces::LoadRows(size_t c, size_t place, const ContactPoint& point, const StepLaw& law,
                             const ForestDynamics& forest, std::span<const BodyMotion> bodies) {
  Mat3& frame = frames_[c];
  Vec3 p, q;
  PlaneSpace(point.normal, p, q);
  frame.row(0) = point.normal;
  frame.row(1) = p;
  frame.row(2) = q;
  const auto load = [&](int body, double sign, Mat36& rows) {
    const Vec3 arm = point.position - bodies[static_cast<size_t>(body)].position;
    for (int k = 0; k < 3; ++k) {
      const Vec3 direction = sign * frame.row(k).transpose();
      rows.row(k) << direction.transpose(), arm.cross(direction).transpose();
    }
  };
  Point& to = points_[c];
  to.body = point.body;
  to.other = point.other;
  load(point.body, 1, to.on_body);
  Vec3 velocity = to.on_body * forest.FreeVelocity(point.body);
  if (point.other >= 0) {
    load(point.other, -1, to.on_other);
    velocity += to.on_other * forest.FreeVelocity(point.other);
  }
  const ContactLaw& contact = law.Contact(point.law);
  if (law.moving_surfaces) velocity -= frame * point.surface_velocity;
  const double per_step = 1 / law.time_step;
  for (int k = 0; k < rows_; ++k) {
    const size_t row = static_cast<size_t>(rows_) * place + static_cast<size_t>(k);
    const double wanted = k == 0 ? law.Push(point.depth, contact) : 0;
    box_.rhs()[row] = (wanted - velocity[k]) * per_step;
    box_.low()[row] = k == 0 ? 0 : -contact.friction;
    box_.high()[row] = k == 0 ? std::numeric_limits<double>::infinity() : contact.friction;
    box_.friction_of()[row] = k == 0 ? -1 : rows_ * static_cast<int>(place);
  }
}

void ContactForces::Load(std::span<const ContactPoint> points, std::span<const size_t> island, const StepLaw& law,
                         const ForestDynamics& forest, std::span<const BodyMotion> bodies) {
  const double per_step = 1 / law.time_step;
  box_.Resize(rows_ * static_cast<int>(island.size()));
  Mat6 response;
  for (size_t i = 0; i < island.size(); ++i) {
    const size_t c = island[i];
    const ContactLaw& contact = law.Contact(points[c].law);
    LoadRows(c, i, points[c], law, forest, bodies);
    const Point& at = points_[c];
    for (const int b : bodies_) place_[static_cast<size_t>(b)] = -1;  // not reached yet
    size_t count = 0;
    const auto reach = [&](int body) -> const Mat36& {
      int& place = place_[static_cast<size_t>(body)];
      if (place < 0) {
        place = static_cast<int>(count++);
        Mat36& reached = reached_[static_cast<size_t>(place)];
        forest.Response(at.body, body, response);
        reached.noalias() = at.on_body * response;
        if (at.other >= 0) {
          forest.Response(at.other, body, response);
          reached.noalias() += at.on_other * response;
        }
      }
      return reached_[static_cast<size_t>(place)];
    };
    for (size_t j = 0; j <= i; ++j) {
      const Point& from = points_[island[j]];
      Mat3 block;
      block.noalias() = reach(from.body) * from.on_body.transpose();
      if (from.other >= 0) block.noalias() += reach(from.other) * from.on_other.transpose();
      if (j == i) {
        block(0, 0) += contact.cfm * per_step;
        block(1, 1) += contact.friction_cfm * per_step;
        block(2, 2) += contact.friction_cfm * per_step;
      }
      double* to =
          box_.matrix() + rows_ * static_cast<ptrdiff_t>(i) * box_.stride() + rows_ * static_cast<ptrdiff_t>(j);
      for (int k = 0; k < rows_; ++k, to += box_.stride()) {
        for (int l = 0; l < rows_; ++l) to[l] = block(k, l);
      }
    }
  }
  box_.MirrorLowerTriangle();
}

/// Contacts join the trees of their bodies; what no force moves joins nothing.
void ContactForces::FindIslands(std::span<const ContactPoint> points, const ForestDynamics& forest) {
  const size_t trees = forest.num_trees();
  warm_starts_.resize(trees);
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

bool ContactForces::Solve(std::span<const ContactPoint> points, const StepLaw& law, ForestDynamics& forest,
                          std::span<const BodyMotion> bodies) {
  forces_.assign(points.size(), Vec3::Zero());
  if (points.empty()) return true;
  rows_ = law.HasFriction() ? 3 : 1;
  points_.resize(points.size());
  frames_.resize(points.size());
  place_.assign(bodies.size(), -1);
  reached_.resize(bodies.size());
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
  forest.FindResponses(bodies_);
  FindIslands(points, forest);
  failed_.assign(forest.num_trees(), 0);
  bool solved = true;
  for (size_t i = 0; i + 1 < island_begin_.size(); ++i) {
    const std::span<const size_t> island(order_.data() + island_begin_[i], island_begin_[i + 1] - island_begin_[i]);
    Load(points, island, law, forest, bodies);
    if (!box_.Solve(warm_starts_[first_tree_[i]])) {
      solved = false;
      warm_starts_[first_tree_[i]].Reset();
      for (const size_t c : island) {
        failed_[forest.TreeOf(points[c].body)] = 1;
        if (points[c].other >= 0) failed_[forest.TreeOf(points[c].other)] = 1;
      }
      continue;
    }
    for (size_t p = 0; p < island.size(); ++p) {
      for (int k = 0; k < rows_; ++k) {
        forces_[island[p]][k] = box_.x()[rows_ * static_cast<ptrdiff_t>(p) + k];  // in the point's own axes
      }
    }
  }
  for (size_t c = 0; c < points.size(); ++c) {
    if (failed_[forest.TreeOf(points[c].body)] != 0) continue;
    const Vec3 force = forces_[c];
    const Vec3 impulse = law.time_step * force;
    forest.AddImpulse(points_[c].body, points_[c].on_body.transpose() * impulse);
    if (points_[c].other >= 0) forest.AddImpulse(points_[c].other, points_[c].on_other.transpose() * impulse);
    forces_[c].noalias() = frames_[c].transpose() * force;
  }
  return solved;
}

}  // namespace retrace::simulation
