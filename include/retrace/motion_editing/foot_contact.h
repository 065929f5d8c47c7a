/// The feet of a recorded motion put as deep into a soft floor as the forces that it requires press them.
#pragma once

#include <string>
#include <vector>

#include "retrace/character/reference_motion.h"
#include "retrace/io/json.h"
#include "retrace/simulation/environment.h"

namespace retrace::task {

/// A motion whose feet were moved in height, and how much was changed.
struct FootSeating {
  std::vector<character::Pose> poses;  ///< at the times of the reference's
  double lowering = 0;                 ///< of the whole motion [m]
  double largest_shift = 0;            ///< of an ankle in height besides [m]
  std::vector<std::string> notes;      ///< the same as sentences

  io::Json ToJson() const;
};

/// Each loaded foot is moved in height until springs under the corners of its sole would carry what the reference
/// requires of it (metrics::RequiredForcesOf) on what is under it: the whole motion by the mean of that, the legs by
/// the rest. Feet are neither turned nor held in place; those that swing keep a clearance.
/// @param stiffness of a corner [N/m] @param gravity downwards [m/s^2] @param ground what the motion stands on
FootSeating SeatFeet(const character::ReferenceMotion& reference, double stiffness, double gravity,
                     const simulation::Environment& ground = {});

}  // namespace retrace::task
