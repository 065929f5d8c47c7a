/// A motion at other instants, and smoother.
#pragma once

#include <span>
#include <vector>

#include "retrace/character/state.h"

namespace retrace::character {

/// Poses at positions among evenly spaced ones: at 1.5 halfway between the second and the third. By Catmull-Rom cubics,
/// clamped to the ends; at least one pose.
std::vector<Pose> PosesAt(const std::vector<Pose>& poses, std::span<const double> places);

/// Evenly spaced poses through a Gaussian filter. @param deviation standard deviation [poses]
std::vector<Pose> SmoothPoses(const std::vector<Pose>& poses, double deviation);

}  // namespace retrace::character
