/// Motions as estimates from video give them: everything trembles, the body drifts up and down, and the feet that carry
/// it slide along. Internal to the repair module.
#pragma once

#include <vector>

#include "course.h"
#include "retrace/character/reference_motion.h"
#include "retrace/character/state.h"

namespace retrace::repair {

/// What is done about it, before anything else is looked at. Drift and slides are looked for together.
struct Steadying {
  double smoothing = 0;                  ///< deviation of a Gaussian with which nothing trembles [s]; 0: nothing did
  double moment_before = 0, moment = 0;  ///< missing without and with it, by the weight [m]
  double drift = 0;  ///< largest height of the floor that the steps show, over or under the floor [m]; 0: none drifts
  double slide = 0;  ///< speed of the feet that carry the body, in the median [m/s]; 0: none slide
  std::vector<character::Pose> poses;  ///< steadied; as they were where all is 0
};

/// @param gravity downwards [m/s^2]; 0: nothing is found
Steadying Steady(const character::ReferenceMotion& reference, double gravity);

}  // namespace retrace::repair
