/// References of composed motions, frame by frame (kCompositionFrame). Internal to the module.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "retrace/character/character.h"
#include "retrace/character/reference_motion.h"
#include "retrace/character/state.h"

namespace retrace::runs {

/// Number of frames of a motion of that duration [s], with its first and its last frame.
size_t NumCompositionFrames(double duration);
/// Duration of a motion of these frames [s].
double DurationOf(const std::vector<character::Pose>& poses);

/// Appends poses that begin at an instant [s], after the frames that there are. All frames are even from the beginning
/// on, whenever the poses begin.
void AppendPoses(const character::Character& character, const std::vector<character::Pose>& poses, double begin,
                 std::vector<character::Pose>& reference);

/// A motion from its beginning on, for so long [s].
std::vector<character::Pose> PosesOf(const character::ReferenceMotion& motion, double duration);

/// Appends what is simulated, after the frames that there are.
/// @param states after each step, from the beginning of the motion on
void AppendStates(const character::Character& character, std::span<const character::State> states, double time_step,
                  std::vector<character::Pose>& reference);

}  // namespace retrace::runs
