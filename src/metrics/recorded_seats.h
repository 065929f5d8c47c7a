/// Seats of a recording: where the pelvis rests and the center of pressure is aside of all that touches. Internal to
/// the module.
#pragma once

#include <vector>

#include "recorded_support.h"

namespace retrace::metrics {

/// @param averaged what each pose requires (Averaged)
/// @param surfaces what feet stand on
/// @param leans (poses) hands bear instead (LeansOnHands)
std::vector<RecordedSurface> FindSeats(const character::ReferenceMotion& reference,
                                       const std::vector<character::State>& states,
                                       const std::vector<Requirement>& averaged,
                                       const std::vector<RecordedSurface>& surfaces, const std::vector<bool>& leans);

}  // namespace retrace::metrics
