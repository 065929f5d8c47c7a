/// The forces at the contact points of a step: the complementarity problem that is left when everything else has been
/// eliminated (tree_dynamics.h), assembled and solved.
#pragma once

#include <span>
#include <vector>

#include "box_lcp.h"
#include "step.h"
#include "tree_dynamics.h"

namespace retrace::simulation {

class ContactForces {
 public:
  /// Finds the forces of the contact points and adds their impulses to the tree, which has begun a step. False, with
  /// nothing added, when block pivoting did not end.
  bool Solve(std::span<const ContactPoint> points, const StepLaw& law, TreeDynamics& tree,
             std::span<const BodyMotion> bodies);
  /// Of the last step, on `body` of each point [N].
  const std::vector<Vec3>& forces() const { return forces_; }

  /// Forgets the active set of the last step, from which the search of the next one would start.
  void Reset() { warm_start_.Reset(); }

 private:
  using Mat36 = Eigen::Matrix<double, 3, 6>;
  /// Rows of a contact point: along its normal and in its plane.
  struct Point {
    int body = -1;
    int other = -1;
    Mat36 on_body;   // velocity of the point of `body` from the velocity of the body
    Mat36 on_other;  // the same, negative
  };

  void Load(std::span<const ContactPoint> points, const StepLaw& law, const TreeDynamics& tree,
            std::span<const BodyMotion> bodies);
  void LoadRows(size_t c, const ContactPoint& point, const StepLaw& law, const TreeDynamics& tree,
                std::span<const BodyMotion> bodies);

  std::vector<Point> points_;
  std::vector<Mat36> reached_;  // (bodies in contact) of one point: its velocity from an impulse on the body
  std::vector<int> bodies_;     // in contact
  std::vector<int> place_;      // per body: in bodies_
  std::vector<Vec3> forces_;
  std::vector<Mat3> frames_;
  BoxLcp box_;
  LcpWarmStart warm_start_;
};

}  // namespace retrace::simulation
