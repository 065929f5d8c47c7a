/// Vector and quaternion types used everywhere. SI units and radians; y is up; frames are right-handed.
#pragma once

#include <Eigen/Core>
#include <Eigen/Geometry>

namespace retrace {

using Vec3 = Eigen::Vector3d;
using Mat3 = Eigen::Matrix3d;

/// Unit quaternion, stored unaligned: a state is then an array of doubles without padding, so that it can be compared,
/// hashed and sent as bytes.
using Quat = Eigen::Quaternion<double, Eigen::DontAlign>;

/// Gravity of a world that sets no other [m/s^2].
inline constexpr double kStandardGravity = 9.81;

}  // namespace retrace
