/// When the bodies of a motion touch the ground.
#pragma once

#include <functional>
#include <vector>

#include "retrace/character/reference_motion.h"
#include "retrace/character/state.h"

namespace retrace::metrics {

/// Whether a body touches the floor at each pose of a reference (motion::DetectContact on its lowest point).
std::vector<bool> TouchesFloor(const character::ReferenceMotion& reference, const std::vector<character::State>& states,
                               int body);

/// Height of the lowest point of a body over what is under it [m].
using BodyHeight = std::function<double(const character::Body& body, const character::BodyState& state)>;

/// The same on a surface that is not a plane.
std::vector<bool> Touches(const character::ReferenceMotion& reference, const std::vector<character::State>& states,
                          int body, const BodyHeight& height_of);

}  // namespace retrace::metrics
