/// The cycle of a walk.
#pragma once

#include <optional>
#include <vector>

#include "retrace/response_model/features.h"
#include "retrace/retargeting/cycle.h"

namespace retrace::response_model {

/// The best cycle in which each foot steps. A turn, or the shifting of weight, may fit better than a walk.
std::optional<character::Cycle> CycleOfSteps(FeatureMap& features, const std::vector<character::Pose>& poses);

}  // namespace retrace::response_model
