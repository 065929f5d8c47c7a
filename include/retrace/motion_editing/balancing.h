/// A recorded motion moved so that its feet can carry it. What a recording requires of the ground (Newton and Euler on
/// the reference) often lies some centimeters beside the soles: the masses of the character are not those of the
/// performer, and feet were fitted. No controller can follow such a motion for long.
#pragma once

#include <string>
#include <vector>

#include "retrace/character/reference_motion.h"
#include "retrace/io/json.h"
#include "retrace/simulation/environment.h"

namespace retrace::task {

/// A motion whose root was moved, and how much was changed.
struct Balancing {
  std::vector<character::Pose> poses;  ///< at the times of the reference's
  double largest_shift = 0;            ///< of the root, horizontally [m]
  double outside_before = 0;           ///< root mean square distance of the required center of pressure from the soles
  double outside_after = 0;            ///< over the time in which the character stands [m]
  std::vector<std::string> notes;      ///< the same as sentences

  io::Json ToJson() const;
};

/// Moves the root horizontally, and bends the legs so that the feet stay, until the required center of pressure is
/// within what touches the ground, or near. In flight, where there is nothing to push on, the path of the center of
/// mass keeps its curvature. @param gravity downwards [m/s^2]
Balancing BalanceMotion(const character::ReferenceMotion& reference, const simulation::Environment& environment,
                        double gravity);

}  // namespace retrace::task
