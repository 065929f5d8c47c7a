/// How much of measured forces is read.
#pragma once

#include <cstddef>

namespace retrace::motion {

/// Limits of what is read, far above what any laboratory measures.
inline constexpr size_t kMostInstants = 5'000'000;
inline constexpr size_t kMostMeasuredForces = 64;
inline constexpr double kLargestMeasuredForce = 1e6;  ///< of a component [N]

}  // namespace retrace::motion
