/// Forward dynamics of trees of rigid bodies over one step, by the articulated-body method (Featherstone 2008, chapter
/// 7), for the equations that ODE's step solves: semi-implicit Euler in the bodies' own coordinates, with joints that
/// correct their position errors, implicit servos (step.h), and implicit gyroscopic torques (Lacoursiere 2006).
///
/// Notation: x is the velocity of a body at the end of the step (linear of its centre of mass, angular; world axes), p
/// an impulse on it. A joint gives its child the velocity
///     x = X x_parent + S u + b,
/// with u the rate of the child relative to its parent, S what it does to the child about the joint's anchor, X the
/// motion of a point fixed to the parent, and b what corrects the joint's error. The impulse that the joint must put on
/// the child is I x - p, where I and p (articulated inertia and momentum) describe the child with all that hangs on it;
/// along u it is the impulse of the servo, K (rate - u). Eliminating u from the leaves to the root gives every I and p,
/// and the velocities follow from the root to the leaves. What contacts ask for, the response of a body's velocity to
/// an impulse on another, follows from the root too: R_ii = A R_pp A^T + S D^-1 S^T and R_ij = A R_pj with the
/// propagator A of body i and its parent p. Bodies of different trees do not respond to one another. Of a tree of one
/// body, the articulated inertia is its own, whose inverse is known.
///
/// The root of a planar character has the velocities P y alone, with the columns of P along y and z and about x of its
/// body. An ideal constraint puts no impulse along these, P^T (I x - p) = 0, so that the root's response is
/// P (P^T I P)^-1 P^T in place of I^-1. Everything else follows from it as for any other root.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "forest.h"
#include "step.h"

namespace retrace::simulation {

using Vec6 = Eigen::Matrix<double, 6, 1>;  ///< linear, angular
using Mat6 = Eigen::Matrix<double, 6, 6>;

class ForestDynamics {
 public:
  static constexpr size_t kMaxTreeBodies = 64;  ///< sets of bodies of a tree are the bits of a word

  /// Throws std::logic_error where a tree has more than kMaxTreeBodies bodies.
  ForestDynamics(const Forest& forest, const StepLaw& law);

  /// Takes the bodies as they are and all that acts on them but contacts.
  void Begin(std::span<const BodyMotion> bodies, const StepInput& input);

  size_t num_trees() const { return trees_.size(); }
  size_t TreeOf(int body) const { return tree_of_[static_cast<size_t>(body)]; }

  /// Velocities without contacts, and responses, of the given bodies.
  void FindResponses(std::span<const int> bodies);
  const Vec6& FreeVelocity(int body) const { return NodeOf(body).velocity; }
  /// How the velocity of body a changes with an impulse on body b, both given to FindResponses.
  void Response(int a, int b, Mat6& response) const;

  void AddImpulse(int body, const Vec6& impulse) { nodes_[node_of_[static_cast<size_t>(body)]].impulse += impulse; }

  /// Velocities with all that was added; the bodies are moved by a step. Those of trees that are left out stay as they
  /// are.
  void Finish(std::span<BodyMotion> bodies, std::span<const char> left_out = {});
  /// Torque of a joint's servo on its child in the step that was finished, in the parent's axes [N m].
  Vec3 MotorTorque(int joint) const;

 private:
  using Mat63 = Eigen::Matrix<double, 6, 3>;

  /// A body and the joint to its parent. Those of a tree follow one another, in an order in which parents come first.
  struct Node {
    // of the forest
    int body = -1;
    size_t parent = 0;  // node; of a root: itself
    int joint = -1;
    bool hinge = false;
    int axis = 0;
    BodyMass mass;
    Vec3 anchor_in_parent = Vec3::Zero();
    Vec3 anchor_in_child = Vec3::Zero();

    // of the step
    Mat6 articulated = Mat6::Zero();  // I
    Vec6 momentum = Vec6::Zero();     // p
    Vec3 lever = Vec3::Zero();        // from the child's centre to the anchor
    Vec3 offset = Vec3::Zero();       // X: from the child's centre to the parent's, the joint's error aside
    Vec3 hinge_axis = Vec3::Zero();
    Mat63 projected = Mat63::Zero();  // I S; a hinge uses the first column
    Mat3 inverse = Mat3::Zero();      // D^-1, D = S^T I S + K; a hinge uses the first entry
    Vec3 pull = Vec3::Zero();         // K rate + S^T (p - I b)
    Vec6 bias = Vec6::Zero();         // b
    Vec3 rate = Vec3::Zero();         // u
    Vec6 velocity = Vec6::Zero();     // x
    Vec6 impulse = Vec6::Zero();      // of contacts
    Mat6 propagator = Mat6::Zero();   // A
    Motor motor;
  };

  /// The nodes of a tree, and what only its root has.
  struct TreeNodes {
    size_t first = 0;
    size_t count = 0;
    size_t responses = 0;  // place of its first response
    uint64_t wanted = 0;   // nodes of the tree of which responses are wanted in this step
    bool resting = false;
    bool planar = false;
    Mat6 root_response = Mat6::Zero();
  };

  const Node& NodeOf(int body) const { return nodes_[node_of_[static_cast<size_t>(body)]]; }
  void AddTree(const Forest& forest, const Tree& tree);
  Mat3 LoadMomentum(const BodyMotion& body, Node& node) const;
  void LoadBody(const BodyMotion& body, Node& node) const;
  void LoadSingleBody(const BodyMotion& body, Node& node, TreeNodes& tree) const;
  void AddForces(const StepInput& input, Node& node) const;
  void LoadJoint(const BodyMotion& parent, const BodyMotion& child, const Motor& motor, Node& node) const;
  void EliminateBall(const BodyMotion& parent, Node& node);
  void EliminateHinge(Node& node);
  void AddToParent(const Node& node, const Mat6& inertia, const Vec6& momentum);
  void FindVelocity(const Node& parent, Node& node) const;
  void FindPropagator(Node& node) const;
  uint64_t FindNeeded(const TreeNodes& tree);
  void FindResponses(const TreeNodes& tree);
  void FinishTree(const TreeNodes& tree, std::span<BodyMotion> bodies);

  StepLaw law_;
  std::vector<Node> nodes_;
  std::vector<size_t> node_of_;        // (bodies)
  std::vector<size_t> node_of_joint_;  // (joints) of its child
  std::vector<size_t> tree_of_;        // (bodies)
  std::vector<TreeNodes> trees_;
  size_t first_free_tree_ = 0;
  std::vector<Mat3> parent_rotation_;  // (nodes)
  std::vector<uint64_t> needed_;       // (nodes) with which nodes of the tree before it a response is needed
  std::vector<Mat6> responses_;        // of each tree (nodes x nodes), those with the later node first
};

}  // namespace retrace::simulation
