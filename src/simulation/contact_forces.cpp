#include "contact_forces.h"

#include <bit>
#include <limits>

namespace retrace::simulation {

/// Directions of a point's rows and what its bodies' velocities do along them.
void ContactForces::LoadRows(size_t c, const ContactPoint& point, const StepLaw& law, const TreeDynamics& tree,
                             std::span<const BodyMotion> bodies) {
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
  Vec3 velocity = to.on_body * tree.FreeVelocity(point.body);
  if (point.other >= 0) {
    load(point.other, -1, to.on_other);
    velocity += to.on_other * tree.FreeVelocity(point.other);
  }
  const int rows = law.contact.friction > 0 ? 3 : 1;
  const double per_step = 1 / law.time_step;
  for (int k = 0; k < rows; ++k) {
    const size_t row = static_cast<size_t>(rows) * c + static_cast<size_t>(k);
    const double wanted = k == 0 ? law.Push(point.depth) : 0;
    box_.rhs()[row] = (wanted - velocity[k]) * per_step;
    box_.low()[row] = k == 0 ? 0 : -law.contact.friction;
    box_.high()[row] = k == 0 ? std::numeric_limits<double>::infinity() : law.contact.friction;
    box_.friction_of()[row] = k == 0 ? -1 : rows * static_cast<int>(c);
  }
}

void ContactForces::Load(std::span<const ContactPoint> points, const StepLaw& law, const TreeDynamics& tree,
                         std::span<const BodyMotion> bodies) {
  const int rows = law.contact.friction > 0 ? 3 : 1;
  const double per_step = 1 / law.time_step;
  box_.Resize(rows * static_cast<int>(points.size()));
  points_.resize(points.size());
  frames_.resize(points.size());
  Mat6 response;
  for (size_t c = 0; c < points.size(); ++c) {
    LoadRows(c, points[c], law, tree, bodies);
    const Point& at = points_[c];
    for (const int b : bodies_) place_[static_cast<size_t>(b)] = -1;  // not reached yet
    size_t count = 0;
    const auto reach = [&](int body) -> const Mat36& {
      int& place = place_[static_cast<size_t>(body)];
      if (place < 0) {
        place = static_cast<int>(count++);
        Mat36& reached = reached_[static_cast<size_t>(place)];
        tree.Response(at.body, body, response);
        reached.noalias() = at.on_body * response;
        if (at.other >= 0) {
          tree.Response(at.other, body, response);
          reached.noalias() += at.on_other * response;
        }
      }
      return reached_[static_cast<size_t>(place)];
    };
    for (size_t d = 0; d <= c; ++d) {
      Mat3 block;
      block.noalias() = reach(points_[d].body) * points_[d].on_body.transpose();
      if (points_[d].other >= 0) block.noalias() += reach(points_[d].other) * points_[d].on_other.transpose();
      if (d == c) {
        block(0, 0) += law.contact.cfm * per_step;
        block(1, 1) += law.contact.friction_cfm * per_step;
        block(2, 2) += law.contact.friction_cfm * per_step;
      }
      double* to = box_.matrix() + rows * static_cast<ptrdiff_t>(c) * box_.stride() + rows * static_cast<ptrdiff_t>(d);
      for (int k = 0; k < rows; ++k, to += box_.stride()) {
        for (int l = 0; l < rows; ++l) to[l] = block(k, l);
      }
    }
  }
  box_.MirrorLowerTriangle();
}

bool ContactForces::Solve(std::span<const ContactPoint> points, const StepLaw& law, TreeDynamics& tree,
                          std::span<const BodyMotion> bodies) {
  forces_.assign(points.size(), Vec3::Zero());
  if (points.empty()) return true;
  uint64_t touching = 0;
  for (const ContactPoint& point : points) {
    touching |= uint64_t{1} << point.body;
    if (point.other >= 0) touching |= uint64_t{1} << point.other;
  }
  place_.assign(bodies.size(), -1);
  reached_.resize(bodies.size());
  bodies_.clear();
  for (uint64_t rest = touching; rest != 0; rest &= rest - 1) bodies_.push_back(std::countr_zero(rest));
  tree.FindResponses(touching);
  Load(points, law, tree, bodies);
  if (!box_.Solve(warm_start_)) return false;
  const int rows = law.contact.friction > 0 ? 3 : 1;
  for (size_t c = 0; c < points.size(); ++c) {
    Vec3 force = Vec3::Zero();
    for (int k = 0; k < rows; ++k) force[k] = box_.x()[rows * static_cast<ptrdiff_t>(c) + k];
    const Vec3 impulse = law.time_step * force;
    tree.AddImpulse(points_[c].body, points_[c].on_body.transpose() * impulse);
    if (points_[c].other >= 0) tree.AddImpulse(points_[c].other, points_[c].on_other.transpose() * impulse);
    forces_[c].noalias() = frames_[c].transpose() * force;
  }
  return true;
}

}  // namespace retrace::simulation
