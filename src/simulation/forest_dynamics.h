/// Forward dynamics of trees of rigid bodies over one step, by the articulated-body method (Featherstone 2008, chapter
/// 7), for the equations that ODE's step solves: semi-implicit Euler in the bodies' own coordinates, with joints that
/// correct their position errors, implicit servos (step.h), and implicit gyroscopic torques (Lacoursiere 2006).
///
/// Notation: x is the velocity of a body at the end of the step (linear of its center of mass, angular; world axes), p
/// an impulse on it. A joint gives its child the velocity
///     x = X x_parent + S u + b,
/// with u the rate of the child relative to its parent, S what it does to the child about the joint's anchor, X the
/// motion of a point fixed to the parent, and b what corrects the joint's error. The impulse that the joint must put on
/// the child is I x - p, where I and p (articulated inertia and momentum) describe the child with all that hangs on it;
/// along u it is the impulse of the servo, K (rate - u). Eliminating u from the leaves to the root gives every I and p,
/// and the velocities follow from the root to the leaves. What contacts ask for, the response of a body's velocity to
/// an impulse on another, follows from the root too: R_ii = A R_pp A^T + S D^-1 S^T and R_ij = A R_pj with the
/// propagator A of body i and its parent p. I and R_ii are symmetric: of these, one side of the diagonal is computed.
/// Bodies of different trees do not respond to one another. Of a tree of one body, the articulated inertia is its own,
/// whose inverse is known.
///
/// The root of a planar character has the velocities P y alone, with the columns of P along y and z and about x of its
/// body. An ideal constraint puts no impulse along these, P^T (I x - p) = 0, so that the root's response is
/// P (P^T I P)^-1 P^T instead of I^-1. Everything else follows from it as for any other root.
///
/// Several simulations of one forest can be stepped side by side, in the lanes of the processor's vectors
/// (tree_passes.h): each has the bits that it would have by itself.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "available_passes.h"
#include "contact_kernels.h"
#include "forest.h"
#include "retrace/simulation/joint_command.h"
#include "step.h"
#include "tree_passes.h"

namespace retrace::simulation {

using Vec6 = Eigen::Matrix<double, 6, 1>;  ///< linear, angular

/// One of the simulations that are stepped side by side.
struct LaneStep {
  std::span<BodyMotion> bodies;  ///< (bodies) empty: the lane is idle
  StepInput input;
  /// (joints) which implicit servos follow; empty: the motors of `input` act. All lanes have them, or none has.
  std::span<const JointCommand> commands = {};
  std::span<const double> scales = {};  ///< (joints) factors on the servos' gains; empty in all lanes: none
  std::span<const char> left_out = {};  ///< (trees) those that stay as they are; empty: none
  /// (joints) torques at which servos are held, per axis of the parent [N m]; see ForestDynamics::Hold. Empty in all
  /// lanes: no torque is limited.
  std::span<Vec3> holds = {};
};

/// The implicit servos of a forest's joints.
std::vector<ServoShape> ServosOf(const Forest& forest, double time_step);

class ForestDynamics {
 public:
  static constexpr size_t kMaxTreeBodies = 64;  ///< sets of bodies of a tree are the bits of a word

  /// Throws std::logic_error where a tree has more than kMaxTreeBodies bodies.
  ForestDynamics(const Forest& forest, const StepLaw& law, const TreePasses& passes = kScalarPasses);

  /// Takes the bodies of each lane as they are. There is a step for each lane, and at least one is not idle.
  void Take(std::span<const LaneStep> steps);
  /// The bodies that were taken: (bodies) BodyNumbers of the lanes.
  const std::byte* bodies() const { return taken_bodies_; }
  /// Takes all that acts on these bodies but contacts. A lane may have become idle meanwhile.
  void Begin(std::span<const LaneStep> steps);
  /// The motors that the servos of a lane are in this step.
  void CopyMotors(size_t lane, std::span<Motor> motors) const;

  size_t num_trees() const { return trees_.size(); }
  size_t TreeOf(int body) const { return tree_of_[static_cast<size_t>(body)]; }

  /// The velocity of a body without contacts, and its responses to and from others, are wanted in this step.
  void Want(int body);
  /// Finds what is wanted in any lane.
  void FindResponses();
  void FreeVelocity(size_t lane, int body, Vec6& velocity) const;
  /// How the velocity of body a changes with an impulse on body b, both wanted. Until the next step begins.
  MatrixView Response(size_t lane, int a, int b) const;

  void AddImpulse(size_t lane, int body, const Vec6& impulse);

  /// Velocities with all that was added.
  void FindVelocities();
  /// Where torques are limited: finds which servos are at their limits at these velocities. Returns the lanes, as bits,
  /// of those in `open`, in which these are others than those that were held in this step. (Trees that are left out do
  /// not count.) Each of these lanes needs the step from Begin on again, by BeginAgain.
  unsigned Hold(std::span<const LaneStep> steps, HoldRule rule, unsigned open);
  /// As Begin, with the servos that are held now. The contact impulses of the lanes in `settled` are those that were
  /// added before; those of others are none.
  void BeginAgain(std::span<const LaneStep> steps, unsigned settled);
  /// The bodies are moved by a step, but for those of trees that rest or are left out. What is held is noted for the
  /// next step.
  void Move(std::span<const LaneStep> steps);
  void Finish(std::span<const LaneStep> steps) {
    FindVelocities();
    Move(steps);
  }
  /// Torque of a joint's servo on its child in the step that was finished, in the parent's axes [N m].
  /// @param parent the rotation of the parent body at the start of the step
  Vec3 MotorTorque(size_t lane, int joint, const Mat3& parent) const;

 private:
  /// Memory of numbers of the lanes, as bytes.
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  using Memory = std::vector<Line>;

  /// The nodes of a tree, in an order in which parents come first.
  struct TreeNodes {
    size_t first = 0;       // node
    size_t first_body = 0;  // of the forest
    size_t count = 0;
    uint64_t wanted = 0;   // nodes of the tree of which responses are wanted in any lane
    bool resting = false;  // in all lanes
    bool limited = false;  // the torque of any joint is
    Memory nodes, root_response, responses;
    TreeMemory memory;
  };

  void AddTree(const Forest& forest, const StepLaw& law, const Tree& tree);
  uint64_t FindNeeded(const TreeNodes& tree);
  bool Rests(const LaneStep& step, size_t tree) const;
  void TakeMotors(std::span<const LaneStep> steps);
  void BeginTrees(std::span<const LaneStep> steps);
  void PutImpulse(size_t lane, int body, const Vec6& impulse);
  /// Addresses of numbers of each lane; those of an idle lane are another lane's.
  template <class Find>
  void FindAddresses(std::span<const LaneStep> steps, const Find& find);
  template <class T>
  Memory MemoryFor(size_t count) const;
  /// Where number `index` of a lane is, among numbers of all lanes.
  template <class Numbers>
  Numbers* At(const Memory& memory, size_t index, size_t lane) const;

  const TreePasses& passes_;
  const size_t lanes_;
  std::vector<NodeShape> shapes_;  // (nodes)
  std::vector<size_t> node_of_;    // (bodies) of its tree
  std::vector<size_t> tree_of_;    // (bodies)
  std::vector<TreeNodes> trees_;
  size_t first_free_tree_ = 0;
  std::vector<uint64_t> needed_;  // (nodes of a tree) with which nodes of the tree before it a response is needed
  std::vector<ServoShape> servos_;
  Memory bodies_, motors_, commands_, scales_, holds_;
  bool limited_ = false;  // any torque
  bool holding_ = false;  // in this step
  /// (lanes) the impulses of this step, where it may be taken again
  std::vector<std::vector<std::pair<int, Vec6>>> impulses_;
  const std::byte* taken_bodies_ = nullptr;
  // (lanes) addresses of each lane's numbers
  std::vector<const double*> from_, torques_, forces_;
  std::vector<double*> to_;
  std::vector<double> ignored_;  // takes the numbers of lanes that are idle or keep theirs
};

}  // namespace retrace::simulation
