/// What a push does to the next pose, by Lagrange's equations (Ye and Liu 2010, equations 6 to 8).
///
/// The forces that the pose would have needed without the push stay as they are. With the paper's finite differences
/// the mass matrix is that of the present pose, so that the equations are linear in the displacement dq of the next
/// pose:
///
///     G = M dq / dt^2 - J^T f,
///
/// and a foot that stands is to stay where it is, C = J_c dq. The paper takes the smallest |G|^2 + |C|^2. Its joints
/// give way: nothing resists but the inertia of light limbs, and a push on the trunk folds the body about the waist. By
/// default joints get a little inertia of their own, G is measured by the inverse of the mass matrix (Gauss' principle:
/// newtons and newton meters become energies), and the foot holds as if so many kilograms hung on it.
#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <span>
#include <vector>

#include "retrace/dynamics/character_dynamics.h"
#include "retrace/response_model/example.h"
#include "retrace/response_model/features.h"

namespace retrace::response_model {

struct DeformationOptions {
  bool paper = false;           ///< the smallest |G|^2 + foot_weight |C|^2, without joint_inertia
  double joint_inertia = 0.03;  ///< of each axis of a joint [kg m^2]
  double foot_weight =
      1e4;  ///< of the displacement of a standing point [kg]; of `paper` a weight on its square [N^2/m^2]
  double standing_speed = 0.4;    ///< a heel or toe that is slower stands [m/s]
  double standing_height = 0.05;  ///< if it is also at most so high over the ground [m]
};

/// An object belongs to one thread.
class PushDeformation {
 public:
  /// The character must outlive the object.
  PushDeformation(const character::Character& character, const DeformationOptions& options);

  /// The displacement (n) of the pose that follows `now` after frame_time; zero where no push acts. `time` is that of
  /// `now`; `feet` are the positions of all heels and toes there, and `next_feet` those in the pose that would follow.
  /// Returns whether a push acts.
  bool Solve(const character::Pose& now, std::span<const Push> pushes, double time, double frame_time,
             const std::vector<ObservedPoint>& points, const std::vector<Vec3>& feet,
             const std::vector<Vec3>& next_feet, Eigen::VectorXd& displacement);

 private:
  DeformationOptions options_;
  dynamics::CharacterDynamics dynamics_;
  Eigen::VectorXd rest_, forces_;             // (n)
  Eigen::MatrixXd mass_, matrix_, jacobian_;  // (n x n), (n x n), (3 x n)
  Eigen::LDLT<Eigen::MatrixXd> factor_;
};

}  // namespace retrace::response_model
