/// What a response model observes of a motion (Ye and Liu 2010, section 3.1): positions of the centers of mass of the
/// bodies in the heading frame of the pose, with heel and toe instead of a foot's, the velocity of the root along
/// the ground and its yaw rate, of two poses in a row.
///
/// The heading frame of a pose stands on the ground under the root and is turned by its heading, y up. The x and z of
/// the root are always zero there and are left out. The velocity of a pose is that of the displacement from the pose
/// before, in the heading frame of that one; so an observation takes three poses.
///
/// Two poses are either the paper's pair, or a pose and the velocities of its points instead of the pose before.
/// Both are the same but for a linear map; but a model whose dimensions have scales (learning/latent_model.h) tells a
/// small change of momentum from noise only where velocities are dimensions of their own.
#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "retrace/character/character.h"
#include "retrace/character/state.h"
#include "retrace/dynamics/character_dynamics.h"

namespace retrace::response_model {

struct FeatureOptions {
  double frame_time = 1.0 / 30;  ///< between poses [s]
  /// By which the velocities of points are multiplied to be lengths; 0: the pose before instead, as the paper
  /// has it [s].
  double velocity_time = 0.1;
  /// The same for the velocity of the root. The paper has none: meters per second stand beside meters [s].
  double root_time = 1;
};

/// A point of a body that is observed.
struct ObservedPoint {
  int body = -1;
  Vec3 place = Vec3::Zero();  ///< in the body's frame [m]
  bool foot = false;          ///< heel or toe: it may stand on the ground
};

/// What is observed of a pose alone.
struct Posture {
  Eigen::VectorXd places;    ///< (positions) of the points, in the heading frame [m]
  Eigen::MatrixXd jacobian;  ///< (positions x n) by a displacement of the pose; empty where it was not asked for
  Eigen::VectorXd turn;      ///< (n) of the heading by the same [rad]
  Vec3 root = Vec3::Zero();  ///< [m]
  double heading = 0;        ///< about y, from z towards x [rad]
  std::vector<Vec3> feet;    ///< (feet) positions of heels and toes in the world [m]
  /// (feet) (3 x n) derivatives of these by a displacement of the pose; empty where `jacobian` is.
  std::vector<Eigen::MatrixXd> feet_jacobians;
};

/// An object belongs to one thread.
class FeatureMap {
 public:
  /// The character must outlive the map.
  FeatureMap(const character::Character& character, const FeatureOptions& options);

  const FeatureOptions& options() const { return options_; }
  const std::vector<ObservedPoint>& points() const { return points_; }
  const dynamics::Coordinates& coordinates() const { return dynamics_.coordinates(); }
  Eigen::Index num_places() const { return static_cast<Eigen::Index>(3 * points_.size()) - 2; }
  /// D: numbers of an observation.
  Eigen::Index size() const { return 2 * (num_places() + 3); }
  /// What a number of an observation is, for tables: body, axis, unit.
  std::vector<std::string> Names() const;

  void Observe(const character::Pose& pose, bool with_jacobian, Posture& posture);
  /// The observation (D) of the last of three postures.
  void Combine(const Posture& first, const Posture& second, const Posture& last, Eigen::VectorXd& features) const;
  /// Its derivative by a displacement of the last pose (D x n).
  void CombineJacobian(const Posture& second, const Posture& last, Eigen::MatrixXd& jacobian) const;

  /// The observations (D x poses - 2) of a motion from its third pose on.
  Eigen::MatrixXd ObserveAll(const std::vector<character::Pose>& poses);

 private:
  FeatureOptions options_;
  std::vector<ObservedPoint> points_;
  Eigen::Index root_point_ = -1;
  dynamics::CharacterDynamics dynamics_;
  Eigen::VectorXd rest_;            // (n) velocities, all zero
  Eigen::MatrixXd point_jacobian_;  // (3 x n)
};

/// The heading of an orientation, about y from z towards x [rad].
double HeadingAngle(const Quat& orientation);

}  // namespace retrace::response_model
