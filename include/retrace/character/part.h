/// What the bodies of a character are to its motion.
#pragma once

namespace retrace::character {

/// What a body is to the motion, whatever the creature: the file's `part`, else what the segment's name ends with.
enum class Part {
  kBody,      ///< carries the others: trunk, pelvis, head, neck, thigh, upper arm; not meant to touch the floor
  kLowerLeg,  ///< ends with shin
  kFoot,      ///< stands on the floor; ends with foot or toe
  kLowerArm,  ///< ends with lower_arm
  kHand,      ///< touches the floor now and then; ends with hand
};

}  // namespace retrace::character
