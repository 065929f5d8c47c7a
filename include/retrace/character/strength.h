/// How strong a character is: the gains of its servos, and the largest torques about its joints.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "retrace/character/character.h"
#include "retrace/io/describe.h"

namespace retrace::character {

/// What the servos of a body follow that was made from another one (of a mesh, of a skeleton, with another mass).
enum class Servos {
  kScaled,  ///< size and mass: gains and largest torques are in proportion to what loads the joints
  kKept,    ///< nothing: they are those of the other body, so that a heavier one is weaker for its weight
  kPaper,   ///< those of Al Borno et al. 2018, section 4.1: every joint has kp 700, kd 1 and 100 N m
};
io::Words<Servos> ServosWords();

inline constexpr double kPaperStiffness = 700;  ///< [N m/rad]
inline constexpr double kPaperDamping = 1;      ///< [N m s/rad]
inline constexpr double kPaperEffort = 100;     ///< about each axis [N m]

/// A largest torque about each axis of some joints.
struct JointEffort {
  std::string joint;  ///< its name, or the end of it after a side: knee is left_knee and right_knee; empty: all joints
  double effort = 0;  ///< [N m]; 0: any
};
inline constexpr io::Range kEfforts{0, 1e9};

/// JOINT=N or N. Throws UsageError.
JointEffort ParseJointEffort(const std::string& text);

/// The character with other servos. @param made_from the body that it was made from, whose joints have the same names
/// @param notes what was chosen is added as a sentence, where it is not kScaled
Character WithServos(const Character& character, const Character& made_from, Servos servos,
                     std::vector<std::string>& notes);

/// The character with largest torques, later ones over earlier ones. Throws UsageError for a joint that it does not
/// have. @param notes what was chosen is added as a sentence
Character WithEfforts(const Character& character, const std::vector<JointEffort>& efforts,
                      std::vector<std::string>& notes);

}  // namespace retrace::character
