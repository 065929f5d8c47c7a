/// The belt of a treadmill, found in the motion.
#pragma once

#include <optional>
#include <vector>

#include "retrace/character/character.h"
#include "retrace/character/state.h"
#include "retrace/retargeting/reference_report.h"

namespace retrace::character {

/// Finds a belt: feet that are on the floor all move with one velocity, while the body as a whole stays where it is.
/// Feet on a floor that stands still have the velocity zero, so that nothing is found there; nor where the velocities
/// differ, as those of feet that slide do.
/// @param rate poses per second
std::optional<Belt> FindBelt(const Character& character, const std::vector<Pose>& poses, double rate);

/// Takes a belt out of a motion: as if the body went over a floor that stands still. The first pose stays.
void TakeOutBelt(const Vec3& velocity, double rate, std::vector<Pose>& poses);

}  // namespace retrace::character
