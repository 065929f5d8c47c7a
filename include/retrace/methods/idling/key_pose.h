/// Poses between which a character idles.
#pragma once

#include <string>

#include "retrace/character/state.h"

namespace retrace::idling {

/// A pose as the user gives it. Where it is in the world counts: the furniture stands there.
struct KeyPose {
  std::string name;
  character::Pose pose;
  std::string place;  ///< where it was read, for messages: "file: /json/pointer"
};

}  // namespace retrace::idling
