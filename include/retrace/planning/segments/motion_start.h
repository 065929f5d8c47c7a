/// Poses that begin where a state is.
#pragma once

#include <vector>

#include "retrace/character/character.h"
#include "retrace/character/state.h"

namespace retrace::runs {

/// The state of a pose at rest.
character::State RestingState(const character::Character& character, const character::Pose& pose);

/// In which a difference between two motions fades away [s].
inline constexpr double kFade = 0.3;

/// The motion begins with `pose`; the difference from its first pose fades away.
void FadeFrom(const character::Pose& pose, double frame_time, std::vector<character::Pose>& poses, double fade = kFade);

/// A motion put where the state `to` is, as `from` is one of its own: turned and moved along the ground.
void PlaceOnGround(const character::Character& character, const character::State& to, const character::State& from,
                   std::vector<character::Pose>& poses);

/// A motion put where a state is: turned and moved along the ground, and within the time of `fade` [s] what the state
/// still differs by fades away.
std::vector<character::Pose> StartingFrom(const character::Character& character, const character::State& state,
                                          std::vector<character::Pose> poses, double frame_time, double fade = kFade);

}  // namespace retrace::runs
