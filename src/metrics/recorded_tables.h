/// What the hands of a recording bear on. Internal to the module.
#pragma once

#include <vector>

#include "recorded_support.h"

namespace retrace::metrics {

/// Whether a body leans on its hands: the center of pressure is aside of all that touches, and hands that are at rest
/// in the air, off the body itself and not above the chest, are where it lies. (poses)
/// @param averaged what each pose requires (Averaged)
/// @param surfaces what bears otherwise
std::vector<bool> LeansOnHands(const character::ReferenceMotion& reference, const std::vector<character::State>& states,
                               const std::vector<Requirement>& averaged, const std::vector<RecordedSurface>& surfaces);

/// Level surfaces under hands on which a body leans. Hands on one level and within reach of one another share one.
std::vector<RecordedSurface> FindTables(const character::ReferenceMotion& reference,
                                        const std::vector<character::State>& states,
                                        const std::vector<Requirement>& averaged,
                                        const std::vector<RecordedSurface>& surfaces);

}  // namespace retrace::metrics
