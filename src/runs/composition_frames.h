/// References of composed motions, frame by frame (kCompositionFrame). Internal to the module.
#pragma once

#include <cstddef>
#include <vector>

#include "retrace/character/character.h"
#include "retrace/character/state.h"

namespace retrace::runs {

/// Of a motion of that duration [s], with its first and its last frame.
size_t NumCompositionFrames(double duration);

/// Appends poses that begin at an instant [s], after the frames that there are. All frames are even from the beginning
/// on, whenever the poses begin.
void AppendPoses(const character::Character& character, const std::vector<character::Pose>& poses, double begin,
                 std::vector<character::Pose>& reference);

}  // namespace retrace::runs
