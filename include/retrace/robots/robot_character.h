/// A robot as a character of the toolkit.
#pragma once

#include <string>
#include <vector>

#include "retrace/character/character.h"
#include "retrace/robots/robot.h"

namespace retrace::robots {

struct RobotCharacter {
  character::Character character;
  std::vector<std::string> notes;  ///< what was left out or approximated, a sentence each
};

/// The robot with y up, z forward and x to its left, from a file with z up, x forward and y to the left; at rest all of
/// its links are as the file has them. Its links become bodies, those that are fixed become one. A hinge keeps
/// its name, axis, range and motor; several joints between two links get bodies between them that weigh next to
/// nothing. Meshes become boxes and capsules. What no file says follows from the shape of the tree: feet are the ends
/// of limbs that reach the floor, hands those of the others; servos without gains get them from the largest torques of
/// the motors, or from those of the human in proportion to weight and height.
/// Throws InputError where that is no character. @param name stands for the file in messages
RobotCharacter MakeRobotCharacter(Robot robot, const std::string& name);

}  // namespace retrace::robots
