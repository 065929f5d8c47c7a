/// Feet that stay where they are while the body above them is moved. Internal to the repair module.
#pragma once

#include <vector>

#include "retrace/character/character.h"
#include "retrace/character/state.h"

namespace retrace::repair {

/// Bends the legs of moved poses so that feet near the floor are where they were, but for `floor`: by how much the
/// floor under the unmoved poses is to be raised (poses) [m]. `moved` are the unmoved poses with their roots moved.
/// @param flies how far each pose is in flight, with no foot held (poses): 0 to 1
/// @param beside for each body, heights of its stance over the floor after that (poses) [m]; empty: on the floor
void HoldFeet(const character::Character& character, const std::vector<character::Pose>& unmoved,
              const std::vector<double>& floor, const std::vector<double>& flies,
              const std::vector<std::vector<double>>& beside, std::vector<character::Pose>& moved);

}  // namespace retrace::repair
