/// Joint rotations of a character from a recorded skeleton, frame by frame, by matching segment directions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "retrace/character/character.h"
#include "retrace/character/state.h"
#include "retrace/motion/clip.h"
#include "retrace/retargeting/reference_options.h"
#include "retrace/retargeting/reference_report.h"
#include "retrace/retargeting/skeleton_map.h"

namespace retrace::character {

/// Whether a character has the legs of a human, to which recorded humans are fitted: thighs, shins and feet.
bool IsHumanlike(const Character& character);

/// Length of a unit of a clip's file.
struct FileUnit {
  double meters = 0;
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

}  // namespace retrace::character
