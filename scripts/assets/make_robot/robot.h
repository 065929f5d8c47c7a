/// The Asimo-like robot that comes with the toolkit (Liu et al. 2010, figure 2b and table 3): its meshes, and the
/// character that follows from them.
#pragma once

#include <string>
#include <vector>

#include "retrace/math/triangle_mesh.h"

namespace retrace::make_robot {

inline constexpr double kHeight = 1.2;       // [m] Liu et al. 2010, section 3.1
inline constexpr double kTotalMass = 49.5;   // [kg] the same
inline constexpr double kResolution = 1e-6;  // of the places in the file [m]

/// A rigid part of the robot, of one density with all others.
struct Part {
  std::string name;
  std::string segment;  // which part of a recorded skeleton moves it
  /// Convex, in the world of the rest pose: a T-pose with bent knees, y up, z forward, x to the left.
  std::vector<TriangleMesh> meshes;
};

struct Robot {
  std::vector<Part> parts;  // the root first
  Vec3 neck = Vec3::Zero();
  // on the left; the right is their mirror image
  Vec3 shoulder = Vec3::Zero();
  Vec3 elbow = Vec3::Zero();
  Vec3 wrist = Vec3::Zero();
  Vec3 hip = Vec3::Zero();
  Vec3 knee = Vec3::Zero();
  Vec3 ankle = Vec3::Zero();
};

Robot MakeRobot();

/// @param neck_axes 1 as in table 3, or 3, with which the paper's robot succeeded in the backward roll
std::string FormatCharacter(const Robot& robot, int neck_axes);

}  // namespace retrace::make_robot
