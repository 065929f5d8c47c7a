/// Motions of robots as tables of joint angles: CSV and NPZ files.
#pragma once

#include <Eigen/Core>
#include <string>
#include <string_view>
#include <vector>

#include "retrace/math/types.h"

namespace retrace::recordings {

/// A row per frame, in the robot's axes (z up, x forward in most).
struct JointTable {
  std::vector<std::string> joints;  ///< (columns of angles) empty: all joints of the robot, in the order of its file
  double frame_time = 0;            ///< [s]
  bool frame_time_known = true;
  std::vector<Vec3> root_positions;     ///< (frames) of the frame of the robot's root link [m]
  std::vector<Quat> root_orientations;  ///< (frames) from that frame to the world
  Eigen::MatrixXd angles;               ///< (frames x columns) [rad]
  std::vector<std::string> notes;       ///< what was chosen in reading, as sentences
};

/// Whether an archive of arrays (NPZ) has the angles of joints rather than poses of a person: an array qpos, dof_pos,
/// joint_pos, ... False also for what is no archive.
bool HoldsJointAngles(std::string_view bytes, const std::string& name);

/// CSV without a header: position of the root, its quaternion x, y, z, w, then all joints of the robot. With a header:
/// `time`, root_x, root_y, root_z, root_qx, root_qy, root_qz, root_qw, and a column per joint with its name.
/// NPZ: `qpos` (position, quaternion w, x, y, z, joints, as MuJoCo has them; or the quaternion first), or arrays of the
/// root's positions and orientations and of the joints (root_pos, root_rot, dof_pos and alike); `fps`.
/// The order of a quaternion's numbers is the one named here, unless the robot lies on its head in the first frame with
/// it and stands with the other one, which is noted. Throws InputError with line and column, or with the array.
/// @param joints of the robot: how many angles a row without names has; further ones in `qpos` are those of objects
JointTable ParseJointTable(std::string_view bytes, const std::string& name, size_t joints);

}  // namespace retrace::recordings
