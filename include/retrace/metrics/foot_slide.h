/// How fast feet slide over the ground.
#pragma once

#include <span>

#include "retrace/character/character.h"
#include "retrace/character/state.h"

namespace retrace::metrics {

/// Height of the ball of a foot over y = 0 under which it counts as on the ground, at both ends of a step [m].
inline constexpr double kSlideHeight = 0.03;

/// Mean horizontal speed of the balls of the feet while they are on plain ground, over states that are `time_step`
/// apart [m/s]; 0 where no foot is. The ball is on the sole at 70 % of the foot's length, as in
/// MotionMetrics::skate_ratio: a heel that is raised does not count as sliding.
double FootSlide(const character::Character& character, std::span<const character::State> states, double time_step);

/// Depth of the deepest point of the body under y = 0, over all states [m]; 0 where none is.
double DeepestPoint(const character::Character& character, std::span<const character::State> states);

}  // namespace retrace::metrics
