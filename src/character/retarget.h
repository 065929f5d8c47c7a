/// Joint rotations of a character from a recorded skeleton, frame by frame, by matching segment directions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "retrace/character/character.h"
#include "retrace/character/reference.h"
#include "retrace/character/skeleton_map.h"
#include "retrace/motion/clip.h"

namespace retrace::character {

/// Whether a character has the legs of a human, to which recorded humans are fitted: thighs, shins and feet.
bool IsHumanlike(const Character& character);

/// Joint that moves the body of a segment, or null.
const Joint* JointOfSegment(const Character& character, const std::string& segment);

/// Length of a unit of a clip's file.
struct FileUnit {
  double metres = 0;
  std::string from;  ///< where that comes from: ReferenceReport::unit_from
};
/// As given, as the file states it, or from the size of the skeleton. @param leg thigh and shin [file units]
FileUnit UnitOf(const motion::Clip& clip, double leg, const ReferenceOptions& options);

/// From between the hips to between the shoulders in the rest pose, y up and z to the front [file units]; nothing for a
/// rest pose that does not stand, which shows no axes of the segments either. @param up_axis of ReferenceOptions
std::optional<Vec3> ShouldersOverHips(const motion::Clip& clip, const SkeletonMap& map, const std::string& up_axis);

/// Poses at the clip's frames, first after the lead-in; the root is where the recording has it, scaled so that the
/// source's legs are as long as the character's. Fills the report's
/// family, unit, height, up axis, scale, lead-in and notes.
std::vector<Pose> Retarget(const Character& character, const motion::Clip& clip, const std::string& name,
                           const ReferenceOptions& options, ReferenceReport& report);

/// The same for a character that is not human: each segment is moved by the joint of its name (see MapByNames). The
/// clip's rest pose must be the character's, but for the lengths of its bones. The scale is that of the limbs, all
/// together; the joints at the root are where the recording has them, on average.
std::vector<Pose> RetargetByNames(const Character& character, const motion::Clip& clip, const std::string& name,
                                  const ReferenceOptions& options, ReferenceReport& report);

/// Frames before the motion, which are skipped.
struct LeadIn {
  size_t frames = 0;
  std::string note;  ///< why, for the report; empty for none
};
/// @param unit metres per file unit
LeadIn FindLeadIn(const motion::Clip& clip, double unit, const ReferenceOptions& options);

}  // namespace retrace::character
