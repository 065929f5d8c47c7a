/// Poses as signals. Internal to the character module.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "retrace/character/state.h"

namespace retrace::character {

/// Poses as rows of numbers, so that they can be interpolated and filtered: root position, root orientation, joint
/// rotations; quaternions with continuous sign.
inline Eigen::MatrixXd ToSignal(const std::vector<Pose>& poses) {
  const Eigen::Index n = static_cast<Eigen::Index>(poses.size());
  const Eigen::Index joints = static_cast<Eigen::Index>(poses.front().joint_rotations.size());
  Eigen::MatrixXd signal(n, 3 + 4 * (1 + joints));
  for (Eigen::Index i = 0; i < n; ++i) {
    const Pose& pose = poses[static_cast<size_t>(i)];
    signal.row(i).head<3>() = pose.root_position;
    for (Eigen::Index j = 0; j <= joints; ++j) {
      const Quat& q = j == 0 ? pose.root_orientation : pose.joint_rotations[static_cast<size_t>(j - 1)];
      auto block = signal.row(i).segment<4>(3 + 4 * j);
      block = q.coeffs().transpose();
      if (i > 0 && block.dot(signal.row(i - 1).segment<4>(3 + 4 * j)) < 0) block *= -1;
    }
  }
  return signal;
}

/// The pose of a row.
inline Pose ToPose(const Eigen::RowVectorXd& row) {
  Pose pose;
  pose.root_position = row.head<3>();
  for (Eigen::Index j = 0; 3 + 4 * j < row.size(); ++j) {
    Quat q;
    q.coeffs() = row.segment<4>(3 + 4 * j);
    q.normalize();
    if (j == 0) {
      pose.root_orientation = q;
    } else {
      pose.joint_rotations.push_back(q);
    }
  }
  return pose;
}

}  // namespace retrace::character
