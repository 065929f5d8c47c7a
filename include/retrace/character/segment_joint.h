/// The joint of a named segment.
#pragma once

#include <string>

#include "retrace/character/character.h"

namespace retrace::character {

/// Joint that moves the body of a segment, or null.
inline const Joint* JointOfSegment(const Character& character, const std::string& segment) {
  for (const Joint& joint : character.joints) {
    if (character.bodies[static_cast<size_t>(joint.child)].segment == segment) return &joint;
  }
  return nullptr;
}

}  // namespace retrace::character
