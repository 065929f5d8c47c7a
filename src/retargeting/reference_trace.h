/// What a reference motion was made from, for the return to the skeleton of the recording. Internal to the module.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "retrace/character/character.h"
#include "retrace/character/reference_motion.h"
#include "retrace/character/state.h"
#include "retrace/math/rotation.h"
#include "retrace/motion/clip.h"
#include "retrace/retargeting/reference_options.h"
#include "retrace/retargeting/reference_report.h"

namespace retrace::character {

/// The turn of a file whose `up_axis` (ReferenceOptions; auto: y) points up to one whose y axis does.
inline Quat TurnToY(const std::string& up_axis) {
  if (up_axis == "auto" || up_axis == "y") return Quat::Identity();
  if (up_axis == "-y") return AxisRotation(0, kPi);
  const Vec3 up = Vec3::Unit(up_axis.back() - 'x');
  return ShortestArc(up_axis.front() == '-' ? Vec3(-up) : up, Vec3::UnitY());
}

struct ReferenceTrace {
  std::vector<Pose> recorded;         ///< at the clip's frames, as Retarget gives them
  double first_time = 0;              ///< of the first of these, by the clip's clock [s]
  double start = 0;                   ///< instant of the clip at which the reference begins [s]
  double end = 0;                     ///< and ends [s]
  Vec3 belt_velocity = Vec3::Zero();  ///< that was taken out, in lengths of the reference [m/s]
  /// From where the recorded poses are to where the reference has them: turned, then moved [m].
  Quat turn = Quat::Identity();
  Vec3 offset = Vec3::Zero();

  /// Another turn about the origin and a move after it.
  void Move(const Quat& further_turn, const Vec3& further_offset) {
    turn = further_turn * turn;
    offset = further_turn * offset + further_offset;
  }
};

/// The clip with the frame rate that is given, and mirrored, where the options say so; nothing where it stays.
std::optional<motion::Clip> ChangedClip(const motion::Clip& clip, const ReferenceOptions& options);

/// MakeReference of retargeting/reference.h, which also fills the trace.
ReferenceMotion MakeReference(const Character& character, const motion::Clip& clip, const std::string& name,
                              const ReferenceOptions& options, ReferenceReport& report, ReferenceTrace& trace);

}  // namespace retrace::character
