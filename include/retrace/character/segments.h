/// Bodies and joints by the segments of a person that they stand for.
#pragma once

#include <string>

#include "retrace/character/character.h"

namespace retrace::character {

/// Number of the body of a segment, or -1.
inline int BodyOfSegment(const Character& character, const std::string& segment) {
  for (size_t b = 0; b < character.bodies.size(); ++b) {
    if (character.bodies[b].segment == segment) return static_cast<int>(b);
  }
  return -1;
}

/// Joint that moves the body of a segment, or null.
inline const Joint* JointOfSegment(const Character& character, const std::string& segment) {
  for (const Joint& joint : character.joints) {
    if (character.bodies[static_cast<size_t>(joint.child)].segment == segment) return &joint;
  }
  return nullptr;
}

}  // namespace retrace::character
