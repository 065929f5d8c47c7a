/// The passes of forward dynamics along one tree (forest_dynamics.h), for one simulation or for several side by side,
/// and the memory on which they work. There is a version for each number of lanes; all take the same operations in the
/// same order, so that a lane has the bits of a simulation by itself.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lanes.h"

namespace retrace::simulation {

/// A body and the joint to its parent: what does not change.
struct NodeShape {
  int body = -1;
  size_t parent = 0;  ///< node; of a root: itself
  int joint = -1;
  bool hinge = false;
  int axis = 0;
  bool oblique = false;      ///< the hinge's axis is none of the parent's
  double direction[3] = {};  ///< of that axis, in the parent
  double armature = 0;
  double mass = 0;
  double inertia[3] = {};
  double principal_axes[9] = {};
  bool turned = false;  ///< the principal axes are not the body's own
  double anchor_in_parent[3] = {};
  double anchor_in_child[3] = {};
};

/// A joint and its servo: what does not change.
struct ServoShape {
  int parent = -1;  ///< bodies
  int child = -1;
  bool uses_axis[3] = {};
  bool oblique = false;       ///< a hinge about none of the parent's axes
  double direction[3] = {};   ///< of that, in the parent
  double rate_per_error = 0;  ///< kp / (h kp + kd) [1/s]
  double strength[3] = {};    ///< (h kp + kd) of each axis [N m s/rad]
  bool limited = false;       ///< the torque about any axis is
  double effort[3] = {};      ///< largest torque about each axis [N m]; 0: any
};

/// A shape of a body, within a sphere about its center and near a segment through it, and a pair that may touch.
struct ShapeBounds {
  int body = -1;
  bool at_center = true;     ///< of the body
  double offset[3] = {};     ///< in the body
  int axis = 0;              ///< of the body, along which the segment is
  double half_length = 0;    ///< of the segment [m]
  double ground_height = 0;  ///< of its center, over which it does not come near the ground [m]
};
struct ShapePair {
  int first = 0;
  int second = 0;
  double reach_squared = 0;    ///< square of the distance of the centers over which they are apart [m^2]
  double segment_squared = 0;  ///< the same of their segments; 0: they have none
};
/// How servos are held at their largest torques, and let go, in a further pass of a step.
enum class HoldRule {
  kAll,   ///< all that are to be
  kOne,   ///< the first of each tree alone
  kNone,  ///< none is held
  kMore,  ///< all that are to be held; none is let go
};

/// Which shapes are near something, of each lane: what is not listed is apart.
struct NearLists {
  uint32_t* const* pairs = nullptr;   ///< (lanes) lists of pairs, in their order
  size_t* pair_counts = nullptr;      ///< (lanes) their lengths
  uint32_t* const* ground = nullptr;  ///< (lanes) lists of shapes that may be near the ground, in their order
  size_t* ground_counts = nullptr;    ///< (lanes)
};

/// A body as it moves: the numbers of BodyMotion.
template <class T>
struct BodyNumbers {
  lanes::Vector3<T> position;
  lanes::Matrix<T, 4> orientation;  ///< x, y, z, w
  lanes::Matrix3<T> rotation;
  lanes::Vector3<T> linear_velocity;
  lanes::Vector3<T> angular_velocity;
};
/// The numbers of Motor.
template <class T>
struct MotorNumbers {
  lanes::Vector3<T> rate;
  lanes::Vector3<T> compliance;
};

/// The numbers of JointCommand.
template <class T>
struct CommandNumbers {
  lanes::Matrix<T, 4> target;
  lanes::Vector3<T> torque;
  T gain;
};

/// A node in a step.
template <class T>
struct NodeNumbers {
  lanes::Inertia<T> articulated;  ///< I
  lanes::Vector6<T> momentum;     ///< p
  lanes::Vector3<T> lever;        ///< from the child's center to the anchor
  lanes::Vector3<T> offset;       ///< X: from the child's center to the parent's, the joint's error aside
  lanes::Vector3<T> hinge_axis;
  lanes::Matrix63<T> projected;  ///< I S; a hinge uses the first column
  lanes::Matrix3<T> inverse;     ///< D^-1, D = S^T I S + K; a hinge uses the first entry
  lanes::Vector3<T> pull;        ///< K rate + S^T (p - I b); a hinge uses the first entry
  lanes::Vector6<T> bias;        ///< b
  lanes::Vector3<T> rate;        ///< u
  lanes::Vector6<T> velocity;    ///< x
  lanes::Vector6<T> impulse;     ///< of contacts
};

/// A tree, and the memory of its numbers: arrays of the structures above for the lanes in use, as bytes.
struct TreeMemory {
  const NodeShape* shapes = nullptr;  ///< (count) parents first
  size_t count = 0;
  bool planar = false;
  double time_step = 0;                ///< [s]
  double gravity = 0;                  ///< [m/s^2]
  double correction = 0;               ///< of joints [1/s]
  std::byte* bodies = nullptr;         ///< (bodies of the forest) BodyNumbers
  std::byte* motors = nullptr;         ///< (joints of the forest) MotorNumbers
  std::byte* nodes = nullptr;          ///< (count) NodeNumbers
  std::byte* root_response = nullptr;  ///< Matrix6
  std::byte* responses = nullptr;      ///< (count x count) Matrix6, those with the later node first
  /// (joints of the forest) Vector3: torques at which servos are held because they are at their limits, per axis of the
  /// parent [N m]; 0: the servo acts. Null: no torque is limited.
  std::byte* holds = nullptr;
  /// (lanes) of each lane three numbers for each body of the forest, in world axes [N m], [N]; null: none act there.
  const double* const* torques = nullptr;
  const double* const* forces = nullptr;
};

struct TreePasses {
  int lanes = 1;
  /// Reads bodies, motors, torques and forces; from the leaves to the root.
  void (*begin)(const TreeMemory& tree);
  /// The same for a tree of a single body, whose velocity without contacts follows at once.
  void (*begin_single)(const TreeMemory& tree);
  /// Velocities of the nodes in `path` without contacts, and responses: `needed` (count) are, for each node, the nodes
  /// before it with which one is needed.
  void (*find_responses)(const TreeMemory& tree, uint64_t path, const uint64_t* needed);
  /// With the impulses of contacts: velocities of all nodes.
  void (*find_velocities)(const TreeMemory& tree);
  /// Which servos are held, by the torques that they would have at these velocities: those beyond their limits, and, of
  /// those that are held already, the ones that still are at theirs. Returns the lanes, as bits, in which that changed,
  /// of those in `open`; in others nothing does.
  unsigned (*hold)(const TreeMemory& tree, const ServoShape* servos, HoldRule rule, unsigned open);
  /// The bodies are moved by a step.
  void (*move)(const TreeMemory& tree);
  /// The motors of implicit servos: with w+ the relative rate and tau the torque at the end of the step,
  ///     tau = kp (err - h w+) - kd w+   <=>   w+ + tau / (h kp + kd) = kp err / (h kp + kd).
  /// Where the torque is limited, tau is that of servo and command together.
  /// `scales` are (count) further factors on the gains of the commands; null: none.
  void (*drive)(const ServoShape* servos, size_t count, const std::byte* bodies, const std::byte* commands,
                const std::byte* scales, std::byte* motors);
  /// Fills the lists. `centers` (shapes) become the centers of the shapes.
  void (*find_near)(const ShapeBounds* shapes, size_t num_shapes, const ShapePair* pairs, size_t num_pairs,
                    const std::byte* bodies, std::byte* centers, const NearLists& lists);
  /// Copies `count` numbers of each lane to where the passes work, and back. (lanes) addresses.
  void (*gather)(const double* const* from, size_t count, std::byte* to);
  void (*scatter)(const std::byte* from, size_t count, double* const* to);
};

}  // namespace retrace::simulation
