/// Where two recorded motions are put so that a body of the one strikes a body of the other: the body that strikes is
/// found from the motion, and the other one is placed where the strike lands (Zordan et al. 2005, figure 2).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "retrace/character/approach.h"
#include "retrace/character/reference_motion.h"
#include "retrace/io/json.h"

namespace retrace::runs {

/// What a user sets. Bodies are names of the character.
struct AimOptions {
  std::string with = {};              ///< strikes; empty: the end of a limb that is fastest while it reaches out
  std::string at = {};                ///< is hit; empty: the head or a body of the trunk at the height of the strike
  double facing = 0;                  ///< of the receiver: 0 faces the strike, pi/2 has it come from its left [rad]
  std::optional<double> height = {};  ///< at which the strike is to land [m]; none: where it is fastest
  /// Between the roots when the strike lands, along the ground, as near as the motion allows [m]; none: as it is
  /// fastest.
  std::optional<double> distance = {};
};

inline constexpr io::Range kFacings{-360, 360};    ///< [degrees]
inline constexpr io::Range kBlowHeights{0, 10};    ///< [m]
inline constexpr io::Range kBlowDistances{0, 10};  ///< [m]

/// A strike of a motion.
struct Blow {
  int with = -1;                 ///< body that strikes
  double time = 0;               ///< of the motion, at which it is fastest [s]
  double speed = 0;              ///< there [m/s]
  Vec3 position = Vec3::Zero();  ///< of its center, there [m]
  Vec3 velocity = Vec3::Zero();  ///< likewise [m/s]
};

/// The fastest strike of a motion in [from, to]: a body counts while it moves on from the root or past it, not back.
/// @param with body that strikes; negative: the end of any limb
Blow FindBlow(const character::ReferenceMotion& motion, int with, double from, double to);

/// How two motions meet.
struct Aim {
  Blow blow;                        ///< of the attacker, at the instant at which it is to land
  int at = -1;                      ///< body of the receiver that is to be hit
  double attacker_start = 0;        ///< seconds of the attacker's motion at which both begin [s]
  double receiver_start = 0;        ///< likewise
  Quat turn = Quat::Identity();     ///< of the receiver's motion about the vertical, then
  Vec3 offset = Vec3::Zero();       ///< its displacement along the ground [m]
  double distance = 0;              ///< between the roots there, along the ground [m]
  character::Approach first_touch;  ///< of the two as they are put; first: of the receiver; time since both begin
  bool as_aimed() const { return first_touch.bodies.second == blow.with && first_touch.bodies.first == at; }
};

/// Puts the receiver so that the strike lands, with its own motion shifted in time where another body would be met
/// first: up to `most` placements, the best first, all of which land as aimed; or the one that comes nearest to that.
/// Throws InputError, with the heights of both, where the bodies do not meet at any instant of the strike; a body that
/// is not the character's is a FieldError of `with` or `at`.
/// @param attacker,receiver from the instants on at which they may begin
/// @param within of the attacker's motion, in which the strike is looked for [s]
/// @param names of the files, for messages: the attacker's, then the receiver's
std::vector<Aim> AimsAt(const character::ReferenceMotion& attacker, const character::ReferenceMotion& receiver,
                        const AimOptions& options, double within, const std::string& name, size_t most = 1);

}  // namespace retrace::runs
