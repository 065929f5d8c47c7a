/// The terms of which the cost of a motion is the sum.
#pragma once

#include <array>
#include <cstddef>

#include "retrace/methods/trajectory/options.h"

namespace retrace::trajectory {

/// What a motion costs, weighted. The first ones have names by Options::cost (TermNames).
inline constexpr size_t kNumTerms = 8;
using Terms = std::array<double, kNumTerms>;
inline constexpr size_t kGateTerm = 6, kTorqueTerm = 7;

/// Names of the terms: of the paper com, com_velocity, pose, velocity, root, jerk (equations 3 to 8), or those of the
/// task; then tolerances and torque.
std::array<const char*, kNumTerms> TermNames(Cost cost);

}  // namespace retrace::trajectory
