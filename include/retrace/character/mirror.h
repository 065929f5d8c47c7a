/// The mirror image of a motion: left for right, about the vertical plane x = 0 between them.
#pragma once

#include <optional>
#include <vector>

#include "retrace/character/character.h"
#include "retrace/character/reference_motion.h"
#include "retrace/character/state.h"

namespace retrace::character {

/// Bodies and joints of a symmetric character, by what is on the other side.
class Mirror {
 public:
  /// None where the character is not its own mirror image: where a body `left_...` has no counterpart `right_...`, or
  /// masses, positions in the rest pose or joints differ. The character must outlive the mirror.
  static std::optional<Mirror> Of(const Character& character);

  Pose Image(const Pose& pose) const;
  ReferenceMotion Image(const ReferenceMotion& motion) const;
  int BodyOf(int body) const { return bodies_[static_cast<size_t>(body)]; }

 private:
  Mirror() = default;

  std::vector<int> bodies_;     // (bodies)
  std::vector<size_t> joints_;  // (joints)
};

}  // namespace retrace::character
