/// Names of the parts of a body in character files.
#pragma once

#include <utility>

#include "retrace/character/part.h"

namespace retrace::character {

inline constexpr std::pair<const char*, Part> kParts[] = {{"body", Part::kBody},
                                                          {"lower_leg", Part::kLowerLeg},
                                                          {"foot", Part::kFoot},
                                                          {"lower_arm", Part::kLowerArm},
                                                          {"hand", Part::kHand}};

}  // namespace retrace::character
