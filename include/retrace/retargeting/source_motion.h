/// The return: a motion of a character on the skeleton of the recording that its reference was made from.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "retrace/character/character.h"
#include "retrace/character/state.h"
#include "retrace/motion/clip.h"
#include "retrace/retargeting/reference_options.h"

namespace retrace::character {

/// Where the bodies of a character are at an instant of its motion, from 0 on [s].
using StateAtTime = std::function<void(double time, State& state)>;

struct SourceMotion {
  /// The recording's skeleton with its names, offsets and axes, in its unit and at its frame rate.
  motion::Clip clip;
  double start = 0;                ///< instant of the recording at which it begins [s]
  double unit = 0;                 ///< meters per unit of the file
  Quat turn = Quat::Identity();    ///< from the axes of the file to those in which y points up
  std::vector<std::string> moved;  ///< joints that bodies of the character turn; the others are as recorded
};

/// Each joint that moves a segment of a body is turned in the world as the body is turned against its recorded pose:
/// where the character moves as the recording does, the result is the recording. Joints of the spine between two of
/// them share the difference. All other joints (fingers, twist bones, props) keep their recorded rotations, and bones
/// their recorded lengths. The root is put so that the hips, or what else hangs on the character's root, are where the
/// character has them. What the reference had changed of the whole recording (unit, axes, a tilted floor, heading, belt
/// of a treadmill, time scale, left and right) is undone.
/// @param clip the recording, and `options` those with which MakeReference made the reference from it
/// @param name stands for the recording in messages
/// @param duration of the motion [s]
/// Throws InputError and UsageError as MakeReference does, and InputError for a character that moves in a plane.
SourceMotion OnSourceSkeleton(const Character& character, const motion::Clip& clip, const std::string& name,
                              const ReferenceOptions& options, double duration, const StateAtTime& at);

}  // namespace retrace::character
