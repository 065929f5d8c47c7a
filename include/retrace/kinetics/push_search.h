/// Pushes in a recorded motion: forces that it requires and that the ground cannot give through the feet.
///
/// A push on the trunk accelerates a person and turns it about its feet. The ground can give much of the force, but not
/// without a moment that the soles are too short for; what is left over is the push, or a part of it. So the strength
/// is a lower bound, and a push that feet can answer is not seen. An acted push is seen where the motion
/// would need a real one.
#pragma once

#include <utility>
#include <vector>

#include "retrace/character/reference_motion.h"
#include "retrace/math/types.h"

namespace retrace::kinetics {

struct PushSearchOptions {
  double smooth_time = 0.06;  ///< over which forces are averaged, a standard deviation [s]
  double least_force = 0.1;   ///< along the ground, weaker ones are none [body weights]
  double least_ratio = 4;     ///< of a push to what is left over elsewhere in the motion
  double shortest = 0.1;      ///< [s]
  double longest = 0.6;       ///< [s]
  double apart = 0.5;         ///< from one push to the next, of which the stronger counts [s]
  double margin = 0.15;       ///< at both ends of a motion, where accelerations are uncertain [s]
};

struct FoundPush {
  int body = 0;               ///< on which the force explains the moment best; no foot, hand, shin or lower arm
  Vec3 force = Vec3::Zero();  ///< mean along the ground, in world axes [N]
  double start = 0;           ///< [s]
  double duration = 0;        ///< [s]
  double deviation = 0;       ///< standard deviation of such a mean where no push is, of each component [N]
  double moment_misfit = 0;   ///< share of the moment that a force on the body does not explain, 0 to 1
};

/// In the order of their times.
std::vector<FoundPush> FindPushes(const character::ReferenceMotion& reference, const PushSearchOptions& options = {});

/// Share of the instants of a motion at which it requires a force along the ground that feet cannot give and that is
/// not weaker than `least_force`: where it is out of balance. Instants less than 0.1 s from a push that is known
/// (beginning and end [s]) do not count.
double ShareOutOfBalance(const character::ReferenceMotion& reference,
                         const std::vector<std::pair<double, double>>& pushes, const PushSearchOptions& options = {});

}  // namespace retrace::kinetics
