/// What no body can perform of a motion that is steadied already. Internal to the repair module.
#pragma once

#include <vector>

#include "retrace/character/character.h"
#include "retrace/motion_editing/finding.h"
#include "steadying.h"

namespace retrace::repair {

/// FindInfeasible of a motion that is steadied already.
std::vector<Finding> FindInfeasible(const character::Character& character, double frame_time,
                                    const Steadying& steadying, double gravity);

}  // namespace retrace::repair
