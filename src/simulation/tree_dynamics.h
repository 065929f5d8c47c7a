/// Forward dynamics of a tree of rigid bodies over one step, by the articulated-body method (Featherstone 2008, chapter
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
/// propagator A of body i and its parent p.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "retrace/character/character.h"
#include "step.h"

namespace retrace::simulation {

using Vec6 = Eigen::Matrix<double, 6, 1>;  ///< linear, angular
using Mat6 = Eigen::Matrix<double, 6, 6>;

class TreeDynamics {
 public:
  static constexpr size_t kMaxBodies = 64;  ///< sets of bodies are the bits of a word

  /// At most kMaxBodies bodies in the tree. Beside it there may be any number of bodies that move freely, each a tree
  /// of its own; they are counted after the character's.
  TreeDynamics(const character::Character& character, const StepLaw& law, std::span<const FreeMass> free = {});

  /// Takes the bodies as they are and all that acts on them but contacts.
  void Begin(std::span<const BodyMotion> bodies, const StepInput& input);

  size_t num_tree_bodies() const { return node_of_.size(); }
  size_t num_free_bodies() const { return free_.size(); }

  /// Velocities without contacts, and responses, of a set of bodies of the tree (bit i: body i). Those of bodies that
  /// move freely are always there.
  void FindResponses(uint64_t bodies);
  const Vec6& FreeVelocity(int body) const { return InTree(body) ? NodeOf(body).velocity : FreeOf(body).velocity; }
  /// How the velocity of body a changes with an impulse on body b, both in the set.
  void Response(int a, int b, Mat6& response) const;

  void AddImpulse(int body, const Vec6& impulse) {
    (InTree(body) ? nodes_[node_of_[static_cast<size_t>(body)]].impulse
                  : free_[static_cast<size_t>(body) - node_of_.size()].impulse) += impulse;
  }

  /// Velocities with all that was added; the bodies are moved by a step.
  void Finish(std::span<BodyMotion> bodies);
  /// Torque of a joint's servo on its child in the step that was finished, in the parent's axes [N m].
  Vec3 MotorTorque(int joint) const;

 private:
  using Mat63 = Eigen::Matrix<double, 6, 3>;

  /// A body and the joint to its parent. Nodes are in an order in which parents come first.
  struct Node {
    // of the character
    int body = -1;
    int parent = -1;  // node
    int joint = -1;
    bool hinge = false;
    int axis = 0;
    double mass = 0;
    Vec3 inertia = Vec3::Zero();
    Mat3 principal_axes = Mat3::Identity();  // of the inertia, in the body
    bool turned = false;                     // they are not the body's own
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

  /// A body that moves freely.
  struct Free {
    FreeMass mass;
    bool resting = false;
    Mat6 response = Mat6::Zero();
    Vec6 momentum = Vec6::Zero();
    Vec6 velocity = Vec6::Zero();  // without contacts
    Vec6 impulse = Vec6::Zero();   // of contacts
  };

  bool InTree(int body) const { return static_cast<size_t>(body) < node_of_.size(); }
  const Free& FreeOf(int body) const { return free_[static_cast<size_t>(body) - node_of_.size()]; }
  void LoadFree(const BodyMotion& body, Free& free) const;
  const Node& NodeOf(int body) const { return nodes_[node_of_[static_cast<size_t>(body)]]; }
  void LoadBody(const BodyMotion& body, Node& node) const;
  void LoadJoint(const BodyMotion& parent, const BodyMotion& child, const Motor& motor, Node& node) const;
  void EliminateBall(const BodyMotion& parent, Node& node);
  void EliminateHinge(Node& node);
  void AddToParent(const Node& node, const Mat6& inertia, const Vec6& momentum);
  void FindVelocity(const Node& parent, Node& node) const;
  void FindPropagator(Node& node) const;

  StepLaw law_;
  std::vector<Node> nodes_;
  std::vector<size_t> node_of_;  // per body
  std::vector<Free> free_;
  Mat6 root_response_ = Mat6::Zero();
  std::vector<Mat3> parent_rotation_;  // (nodes)
  std::vector<uint64_t> needed_;       // (nodes) with which nodes before it a response is needed
  std::vector<Mat6> responses_;        // (nodes x nodes), those with the later node first
};

}  // namespace retrace::simulation
