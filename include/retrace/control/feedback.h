/// Linear feedback along a control: torques in proportion to what the motion differs from the one that the control is
/// known to make (Al Borno et al. 2018, equation 16). Where nothing differs the torques are zero, and the motion is
/// that of the control alone to the bit.
///
/// The differences are those of dynamics/tangent.h, with 2 n numbers; torques are numbers 6 to n of generalized forces
/// (dynamics/coordinates.h), those of the joints. They act beside the servos, as JointCommand::torque does.
#pragma once

#include <Eigen/Core>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "retrace/character/character.h"
#include "retrace/dynamics/tangent.h"

namespace retrace::control {

/// The feedback of one control, as data. Torques are found at *nodes*, `interval` steps apart from the first step of
/// the control on, and held in between.
struct Feedback {
  std::string control_sha256;    ///< of the control file that it belongs to
  std::string character_sha256;  ///< of that file's character, as CharacterSha256 has it
  int first_step = 0;            ///< of the control
  int num_steps = 0;             ///< of the control, from the first one on
  int interval = 0;              ///< steps from node to node; the last interval may be shorter
  bool full_servos = false;      ///< whether the servos are brought to full strength where the motion is another one
  /// The motion without disturbance at each node, and at the end (nodes + 1).
  std::vector<dynamics::MotionPoint> nominal;
  /// L of each node (nodes x 2 n x m), column by column, from numbers of the difference to torques [N m].
  std::vector<float> gains;
  Eigen::VectorXd largest_torque;  ///< of each axis of a joint (m) [N m]

  int num_nodes() const { return static_cast<int>(nominal.size()) - 1; }
  Eigen::Index num_differences() const { return nominal.empty() ? 0 : 2 * nominal.front().velocity.size(); }
  Eigen::Index num_torques() const { return largest_torque.size(); }
  /// (2 n x m) of a node.
  std::span<const float> GainOf(int node) const;
};

/// SHA-256 of a character's document.
std::string CharacterSha256(const character::Character& character);

/// The text of feedback.bin: one line of JSON with the sizes, the hashes and that of what follows, then the nominal
/// points (doubles: root position, root orientation w x y z, rotation of each joint w x y z, velocities), the largest
/// torques (doubles) and the gains (floats), all little-endian.
std::string FormatFeedback(const Feedback& feedback);
/// Reads it. `name` stands for the file. Throws InputError saying what was found and what was expected: another format,
/// sizes that do not fit together, other bytes than were written, numbers that are none.
Feedback ParseFeedback(std::string_view bytes, const std::string& name);

}  // namespace retrace::control
