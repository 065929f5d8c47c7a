/// The feet of a recorded motion put on its floor. A retargeted recording has them some centimeters in the floor or
/// over it, and rolled to one side: a method that pushes with its feet at every instant needs them where they push.
#pragma once

#include <string>
#include <vector>

#include "retrace/character/reference_motion.h"
#include "retrace/character/state.h"
#include "retrace/io/json.h"
#include "retrace/simulation/environment.h"

namespace retrace::task {

/// A motion whose feet were put on the floor, and how much was changed.
struct FootCleaning {
  std::vector<character::Pose> poses;  ///< at the times of the reference's
  double largest_shift = 0;            ///< of an ankle in height [m]
  double largest_tilt = 0;             ///< by which a foot was turned [rad]
  double largest_lowering = 0;         ///< of the root, where a leg would not reach the floor with its knee bent [m]
  double largest_separation = 0;       ///< by which legs that touched one another were moved apart [m]
  double supported = 0;                ///< share of the time in which a foot stands
  std::vector<std::string> notes;      ///< the same as sentences

  io::Json ToJson() const;
};

/// A foot that is low and slow stands, and so does one that rests up to some centimeters over the floor: it is turned
/// level across, and along where heel and toes are both low, and its lowest corner is put on the floor. Other feet keep
/// a clearance. Hips, knees and ankles give way, and the root comes down where a standing leg would be stretched. Legs
/// that touch one another in passing are moved apart, the swinging one first: a simulated body would stumble over them.
/// A character without legs (character::LegsOf) stays as it is.
///
/// @param ground what the motion stands on: a foot is put on the floor, the step or the slope under it
FootCleaning CleanFeet(const character::ReferenceMotion& reference, const simulation::Environment& ground = {});

}  // namespace retrace::task
