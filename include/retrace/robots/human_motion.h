/// A person's motion on a robot: the whole pose is fitted, frame by frame.
#pragma once

#include <string>

#include "retrace/character/character.h"
#include "retrace/motion/clip.h"

namespace retrace::robots {

/// Whether a character is a robot's: it is made of a URDF or MJCF file, or of what was written of one.
bool IsRobot(const character::Character& character);

/// Whether a recording is of the character's own skeleton (a table of joint angles, or an exported motion).
bool IsOfOwnSkeleton(const motion::Clip& clip, const character::Character& character);

/// A recording of the robot's own skeleton that does what the person does. The recording first becomes a motion of
/// `human`, as any recording (retargeting/reference.h), at 120 frames per second. Legs, arms and trunk of the robot are
/// found by the shape of its tree (limbs.h). In each frame all joints together, within their ranges, and the root are
/// fitted by damped least squares to: positions of ankles and the middle of the hips, which are those of the human
/// times the ratio of leg lengths; directions of thighs, upper arms and forearms; orientations of pelvis, trunk and
/// feet; heights of hands, knees, pelvis and trunk where the person leans on them; the floor, under which nothing is to
/// be. Wrists stay at rest. A robot without arms keeps the rest. What was lost is in the notes of the result. Throws
/// InputError for a recording that is none of a person, and for a robot without two legs. @param name stands for the
/// recording in messages
motion::Clip HumanMotionOf(const character::Character& robot, const character::Character& human,
                           const motion::Clip& clip, const std::string& name);

}  // namespace retrace::robots
