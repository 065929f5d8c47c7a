/// The forces at the contact points of a step: the complementarity problem that is left when everything else has been
/// eliminated (forest_dynamics.h), assembled and solved.
#pragma once

#include <span>
#include <vector>

#include "box_lcp.h"
#include "forest_dynamics.h"
#include "step.h"

namespace retrace::simulation {

/// What a world has of its contacts from step to step: the forces that were found, and where the search for the next
/// ones starts.
struct ContactForces {
  std::vector<Vec3> forces;  ///< of the last step, on `body` of each point [N]
  std::vector<char> failed;  ///< (trees) those whose forces were not found in the last step
  /// (trees) active sets of the last step, of the island of which a tree is the first.
  std::vector<LcpWarmStart> warm_starts;

  /// Forgets the active sets.
  void Reset() {
    for (LcpWarmStart& warm_start : warm_starts) warm_start.Reset();
  }
  void Reset(size_t tree) {
    if (tree < warm_starts.size()) warm_starts[tree].Reset();
  }
};

/// Finds the forces of contacts, of one world after the other: its memory is used again for each.
class ContactSolver {
 public:
  /// Takes the contact points of a lane of the forest, which has begun a step, and tells the forest what it must find
  /// (ForestDynamics::Want).
  static void Begin(std::span<const ContactPoint> points, ForestDynamics& forest);
  /// Finds the forces of these points and adds their impulses to the forest, which has found the responses. False when
  /// block pivoting did not end for some trees, which are then marked in `found.failed`; nothing is added to these.
  /// Points whose bodies neither hang together by joints nor by contacts with one another are a problem of their own
  /// (an island): the forces are the same, and many small problems take less time than a large one.
  bool Solve(std::span<const ContactPoint> points, const StepLaw& law, ForestDynamics& forest, size_t lane,
             std::span<const BodyMotion> bodies, ContactForces& found);

 private:
  /// Rows of a contact point: along its normal and in its plane.
  struct Point {
    int body = -1;
    int other = -1;
    ContactRows on_body;   // velocity of the point of `body` from the velocity of the body
    ContactRows on_other;  // the same, negative
  };

  void FindBodies(std::span<const ContactPoint> points, size_t num_bodies);
  void FindIslands(std::span<const ContactPoint> points, const ForestDynamics& forest);
  void Load(std::span<const ContactPoint> points, std::span<const size_t> island, const StepLaw& law,
            const ForestDynamics& forest, size_t lane, std::span<const BodyMotion> bodies);
  void LoadRows(size_t c, size_t place, const ContactPoint& point, const StepLaw& law, const ForestDynamics& forest,
                size_t lane, std::span<const BodyMotion> bodies);

  const ContactKernels& kernels_ = kContactKernels.Best();
  std::vector<Point> points_;
  std::vector<ContactRows> reached_;  // (bodies in contact) of one point: its velocity from an impulse on the body
  std::vector<int> bodies_;           // in contact, in the island that is solved
  std::vector<int> place_;            // per body: in bodies_
  std::vector<Mat3> frames_;
  BoxLcp box_;
  std::vector<size_t> joined_;        // per tree: a tree of the same island, or itself
  std::vector<size_t> island_of_;     // per point: the first tree of its island
  std::vector<size_t> order_;         // points, island by island
  std::vector<size_t> island_begin_;  // places in order_; one more than there are islands
  std::vector<size_t> first_tree_;    // per island
  int rows_ = 3;                      // of a point
};

}  // namespace retrace::simulation
