/// Rigid-body dynamics of a character in generalized coordinates (coordinates.h), by the recursive algorithms of
/// Featherstone 2008, "Rigid Body Dynamics Algorithms" (RBDA), whose sections and tables are cited:
///
///     M(q) dv/dt + h(q, v) = f + sum over bodies J^T w                                            (RBDA, section 3.1)
///
/// with the mass matrix M, the bias forces h (gravity, centrifugal and Coriolis forces), the generalized forces f, and
/// the wrenches w from outside. M, h and inverse dynamics are those of a root that is free: of a planar character, f
/// holds the forces that keep its root in the plane, in the directions in which it is held. Forward dynamics finds
/// these.
///
/// Frames and units: SI units and radians; y is up. Points, forces and all vectors that come out are in world axes.
/// Spatial vectors are angular part first; inside, all are in world axes about one fixed point, the position where the
/// center of mass of the root body is at the instant. With a single frame, RBDA's transforms between the frames of
/// bodies are identities.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "retrace/character/character.h"
#include "retrace/character/state.h"
#include "retrace/dynamics/coordinates.h"
#include "retrace/math/types.h"

namespace retrace::dynamics {

using Vec6 = Eigen::Matrix<double, 6, 1>;
using Mat6 = Eigen::Matrix<double, 6, 6>;

/// What acts on a body from outside, about its center of mass.
struct Wrench {
  Vec3 force = Vec3::Zero();   ///< [N]
  Vec3 torque = Vec3::Zero();  ///< [N m]
};

/// Mass, center and inertia of one body or of several that move as one.
struct Inertia {
  double mass = 0;             ///< [kg]
  Vec3 center = Vec3::Zero();  ///< of mass [m]
  Mat3 tensor = Mat3::Zero();  ///< about the center of mass, in world axes [kg m^2]
};

/// All functions after SetMotion are about the motion that was set last. Vectors and matrices that are filled have the
/// sizes that are said with them, n the degrees of freedom; nothing is allocated after construction. An object belongs
/// to one thread.
class CharacterDynamics {
 public:
  /// The character must outlive the object. @param gravity downwards [m/s^2]
  explicit CharacterDynamics(const character::Character& character, double gravity = kStandardGravity);

  const Coordinates& coordinates() const { return coordinates_; }
  int size() const { return coordinates_.size(); }  ///< n

  /// @param velocity (n)
  void SetMotion(const character::Pose& pose, const Eigen::Ref<const Eigen::VectorXd>& velocity);
  /// The motion of a state, as Coordinates sees it.
  void SetMotion(const character::State& state);

  // ---- equations of motion

  /// M, symmetric and positive definite, by the composite-rigid-body algorithm (RBDA, table 6.2). (n x n)
  void MassMatrix(Eigen::Ref<Eigen::MatrixXd> mass) const;
  /// h: the forces of a motion without acceleration. (n)
  void BiasForces(Eigen::Ref<Eigen::VectorXd> forces) const;
  /// f of an acceleration, by the recursive Newton-Euler algorithm (RBDA, table 5.1).
  /// @param acceleration (n) @param wrenches (bodies), or none @param forces (n)
  void InverseDynamics(const Eigen::Ref<const Eigen::VectorXd>& acceleration, std::span<const Wrench> wrenches,
                       Eigen::Ref<Eigen::VectorXd> forces);
  /// dv/dt of forces, by the articulated-body algorithm (RBDA, table 7.1), without the mass matrix.
  /// @param forces (n) @param wrenches (bodies), or none @param acceleration (n)
  void ForwardDynamics(const Eigen::Ref<const Eigen::VectorXd>& forces, std::span<const Wrench> wrenches,
                       Eigen::Ref<Eigen::VectorXd> acceleration);

  /// How many of the root's six coordinates are held: 3 of a planar character, else 0.
  int num_held() const { return planar_ ? 3 : 0; }
  /// Orthonormal axes of the root's coordinates: as they are, but of a planar character those along which it moves, and
  /// after these the ones along which it is held.
  Mat6 RootAxes() const;

  /// Adds to the wrenches what a force at a point of a body does. @param point [m] @param force [N]
  void AddForce(int body, const Vec3& point, const Vec3& force, std::span<Wrench> wrenches) const;

  // ---- bodies

  Vec3 CenterOf(int body) const;           ///< center of mass [m]
  Mat3 RotationOf(int body) const;         ///< body to world
  Vec3 AngularVelocityOf(int body) const;  ///< [rad/s]
  /// Velocity of the point of a body that is at a position in the world. @param point [m] @return [m/s]
  Vec3 VelocityOf(int body, const Vec3& point) const;

  /// J with J v the velocity of a point of a body. (3 x n)
  void PointJacobian(int body, const Vec3& point, Eigen::Ref<Eigen::MatrixXd> jacobian) const;
  /// dJ/dt v, the acceleration of the point where that of the coordinates is zero [m/s^2].
  Vec3 PointBias(int body, const Vec3& point) const;
  /// J with J v the angular velocity of a body. (3 x n)
  void AngularJacobian(int body, Eigen::Ref<Eigen::MatrixXd> jacobian) const;
  /// dJ/dt v, the angular acceleration where that of the coordinates is zero [rad/s^2].
  Vec3 AngularBias(int body) const;

  // ---- the whole

  Vec3 CenterOfMass() const;          ///< [m]
  Vec3 CenterOfMassVelocity() const;  ///< [m/s]
  /// J with J v the velocity of the center of mass. (3 x n)
  void CenterOfMassJacobian(Eigen::Ref<Eigen::MatrixXd> jacobian) const;
  Vec3 CenterOfMassBias() const;  ///< dJ/dt v [m/s^2]

  Vec3 LinearMomentum() const;   ///< [kg m/s]
  Vec3 AngularMomentum() const;  ///< about the center of mass [kg m^2/s]
  /// A with A v the angular momentum about the center of mass, then the linear one (Orin, Goswami and Lee 2013). (6 x
  /// n)
  void MomentumMatrix(Eigen::Ref<Eigen::MatrixXd> matrix) const;
  Vec6 MomentumBias() const;  ///< dA/dt v: rates of the angular [N m] and of the linear momentum [N]

  /// Composite inertia of a body with all its descendants (RBDA, section 6.2); for the root body, of the whole
  /// character.
  Inertia CompositeInertia(int body) const;

  double KineticEnergy() const;    ///< [J]
  double PotentialEnergy() const;  ///< of gravity, zero at y = 0 [J]

 private:
  using Mat63 = Eigen::Matrix<double, 6, 3>;

  /// Inertia about the fixed point (RBDA, section 2.13), unfolded.
  struct SpatialInertia {
    double mass = 0;
    Vec3 moment = Vec3::Zero();  ///< mass times center
    Mat3 tensor = Mat3::Zero();

    Vec6 operator*(const Vec6& motion) const;
    SpatialInertia& operator+=(const SpatialInertia& other);
    Mat6 Matrix() const;
  };

  /// A body and the joint to its parent. The root is the first; joint j moves node j + 1.
  struct Node {
    int body = -1;
    size_t parent = 0;
    bool hinge = false;
    int axis = 0;
    std::optional<Vec3> oblique;  // the hinge's axis in the parent, where it is none of the three
    double armature = 0;
    int first = 0;  // of the joint's coordinates
    Vec3 anchor_in_parent = Vec3::Zero();
    Vec3 anchor_in_child = Vec3::Zero();
    double mass = 0;
    Mat3 tensor = Mat3::Zero();  // about the center of mass, in the body's axes

    // of the motion
    Mat3 rotation = Mat3::Identity();
    Vec3 center = Vec3::Zero();
    Mat63 subspace = Mat63::Zero();  // S; a hinge uses the first column
    Vec6 velocity = Vec6::Zero();
    Vec6 product = Vec6::Zero();  // velocity-product acceleration of the joint, dS/dt v
    Vec6 bias = Vec6::Zero();     // acceleration where that of the coordinates is zero, without gravity
    SpatialInertia inertia;
    SpatialInertia composite;
    Vec6 bias_force = Vec6::Zero();  // that these need, of the body with all that hangs on it

    // scratch of inverse and forward dynamics
    Vec6 acceleration = Vec6::Zero();
    Vec6 force = Vec6::Zero();
    Mat6 articulated = Mat6::Zero();
    Mat63 projected = Mat63::Zero();  // U = I S
    Mat3 inverse = Mat3::Zero();      // D^-1
    Vec3 pull = Vec3::Zero();         // u
  };

  const Node& NodeOf(int body) const { return nodes_[node_of_[static_cast<size_t>(body)]]; }
  void SetRoot(const character::Pose& pose, const Eigen::Ref<const Eigen::VectorXd>& velocity);
  void SetJoint(const Quat& rotation, const Eigen::Ref<const Eigen::VectorXd>& velocity, Node& node) const;
  void SetBody(Node& node) const;
  Vec6 ForceOf(const Wrench& wrench, const Node& node) const;
  template <int kAxes>
  void EliminateJoint(const Eigen::Ref<const Eigen::VectorXd>& forces, Node& node);

  Coordinates coordinates_;
  double gravity_ = 0;
  bool planar_ = false;
  std::vector<Node> nodes_;      // (bodies)
  std::vector<size_t> node_of_;  // (bodies)
  Vec3 origin_ = Vec3::Zero();   // the fixed point
  character::Pose pose_;         // scratch of SetMotion of a state
  Eigen::VectorXd velocity_;     // (n) the same
};

}  // namespace retrace::dynamics
