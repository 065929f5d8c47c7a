/// Newton's and Euler's laws along the poses of a reference: what each pose requires from outside, and what its joints
/// do once it is known which forces press on which bodies.
///
/// Velocities and accelerations are central differences over the poses. What holds a planar character in its plane is
/// not counted anywhere.
#pragma once

#include <Eigen/Core>
#include <array>
#include <vector>

#include "retrace/character/reference_motion.h"
#include "retrace/dynamics/character_dynamics.h"
#include "retrace/dynamics/support_force.h"

namespace retrace::optimization {
struct QuadraticProgram;
}

namespace retrace::dynamics {

/// 1 up to the first limit, 0 from the second on: how much of its force a point keeps.
double Fade(double value, const std::array<double, 2>& limits);

class PoseDynamics {
 public:
  /// The reference must outlive it. @param gravity downwards [m/s^2]
  PoseDynamics(const character::ReferenceMotion& reference, double gravity);

  /// The character in the latest pose.
  const CharacterDynamics& dynamics() const { return dynamics_; }
  /// By which forces are divided, also where nothing falls [N].
  double weight() const { return weight_; }

  /// Goes to a pose, neither the first nor the last, on which nothing presses yet.
  void SetPose(size_t i);
  /// Time, center of mass, force and moment of the latest pose.
  void Require(RequiredForces& result);

  /// A program over the forces at points [body weights], three numbers each: they push and stay inside the friction
  /// pyramid. Its objective is the caller's. `supply` (6 x 3 points) gives force and moment about the center of mass.
  void Constrain(const std::vector<SupportPoint>& points, const Vec3& center_of_mass, double friction,
                 optimization::QuadraticProgram& program, Eigen::MatrixXd& supply) const;
  /// Presses with the solution of such a program, and adds it to the result by bodies.
  void Press(const std::vector<SupportPoint>& points, const Eigen::VectorXd& solution, RequiredForces& result);
  /// Presses on a body with a force that is known.
  void Press(const SupportForce& support);

  /// Torques and powers of the joints, and what is missing, once all that presses is known.
  void FindTorques(RequiredForces& result);

 private:
  /// Takes away what holds a planar character in its plane: no ground has to supply it.
  template <typename Wrench>
  void RemoveHeld(Wrench&& wrench) const;
  /// The moment of the forces on the root, which act at its center.
  Vec3 AboutCenterOfMass(const Vec3& center) const;

  const character::ReferenceMotion& reference_;
  const character::Character& character_;
  CharacterDynamics dynamics_;
  double weight_;
  size_t pose_ = 0;
  Eigen::VectorXd before_;
  Eigen::VectorXd after_;
  Eigen::VectorXd velocity_;
  Eigen::VectorXd acceleration_;
  Eigen::VectorXd forces_;
  std::vector<Wrench> wrenches_;
};

}  // namespace retrace::dynamics
