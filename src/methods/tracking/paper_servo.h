/// The proportional-derivative feedback of da Silva et al. 2008, equations 8 to 10, by the letter. Internal to the
/// tracking method.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "retrace/character/character.h"
#include "retrace/dynamics/character_dynamics.h"

namespace retrace::tracking {

/// Joints with one axis: u = k_s (q_r - q) - 2 sqrt(k_s) q'. Ball joints: u = k_s I d(q_r, q) + 2 sqrt(k_s I) (q'_r -
/// q'), with I the sum of the rotational inertias of all that the joint carries, without parallel axes, as equation 9
/// is printed. The root of a matrix is that of a symmetric one: the paper's, of each element, has none for a negative
/// product of inertia. The stiffness k_s of a joint is k times that of Table 3 for the body that it moves, of a planar
/// character that of Table 2.
class PaperServo {
 public:
  /// The character must outlive the object. @param stiffness k @param relative a hinge is damped by the difference of
  /// the rates, like a ball joint: q'_r - q' instead of - q'
  PaperServo(const character::Character& character, double stiffness, bool relative);

  /// Adds the torques of all joints. @param dynamics of the present motion @param error (n) from the present pose to
  /// the wanted one @param velocity (n) the present one @param wanted (n) the wanted one @param torque (n)
  void AddTorques(const dynamics::CharacterDynamics& dynamics, const Eigen::VectorXd& error,
                  const Eigen::VectorXd& velocity, const Eigen::VectorXd& wanted, Eigen::VectorXd& torque) const;

 private:
  const character::Character& character_;
  bool relative_;
  std::vector<double> stiffness_;          // (joints)
  std::vector<std::vector<int>> carried_;  // (joints) bodies that a joint moves
};

}  // namespace retrace::tracking
