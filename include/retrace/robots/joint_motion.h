/// Tables of joint angles as motions of a robot's character, and back.
#pragma once

#include <string>
#include <vector>

#include "retrace/character/character.h"
#include "retrace/motion/clip.h"
#include "retrace/recordings/joint_table.h"

namespace retrace::robots {

/// The hinges of a character in the order in which it lists them, which is that of the robot's file.
std::vector<int> HingesOf(const character::Character& character);

/// Where the frame of the root link is in the robot's file, at rest, in the axes of that file; that of the world where
/// the character is not made of a robot.
struct RootFrame {
  Vec3 position = Vec3::Zero();  ///< in our axes, in the rest pose [m]
  Quat rotation = Quat::Identity();
};
RootFrame RootFrameOf(const character::Character& character);

/// Vectors and rotations of ours in the axes of robots' files: x forward, y to the left, z up.
Vec3 ToFileAxes(const Vec3& vector);
Quat ToFileAxes(const Quat& rotation);

/// A table as a recording of the robot's own skeleton (character::SkeletonOf), y up. Joints that the table does not
/// have stay as they are at rest; angles beyond their ranges are doubted. Throws InputError for a joint that the robot
/// does not have, with the nearest name. @param name stands for the table in messages
motion::Clip ClipOfJoints(const recordings::JointTable& table, const character::Character& character,
                          const std::string& name);

}  // namespace retrace::robots
