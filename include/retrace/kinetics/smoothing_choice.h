/// How much a recording has to be smoothed before its accelerations mean anything.
#pragma once

#include "retrace/character/reference_motion.h"

namespace retrace::kinetics {

/// Standard deviations of a Gaussian that are tried, the first of which does for what a laboratory has filtered [s].
inline constexpr double kLeastSmoothing = 0.015;
inline constexpr double kMostSmoothing = 0.05;
/// That of the reference that ChooseSmoothing looks at [s].
inline constexpr double kLookedAtSmoothing = 0.008;

/// The smallest of these with which the vertical force changes as forces of people do: by the root of the mean square,
/// between 6 and 24 Hz no more than between 3 and 6 Hz (violent motions 1.3 times as much). A recording that has more
/// is rough: it is smoothed until it has less by that much to the power 1.5. This is a residual analysis of the force
/// instead of the positions, which shows errors of kinematics that filters of markers leave, because these are not
/// white. Filtered walks have 0.5 to 0.9, runs 0.3, a jump 1.1; unfiltered walks 1.2 to 1.8.
/// @param reference smoothed by kLookedAtSmoothing
double ChooseSmoothing(const character::ReferenceMotion& reference);

}  // namespace retrace::kinetics
