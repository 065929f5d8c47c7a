#pragma once

#include "retrace/math/types.h"

namespace retrace::recordings {

/// Where the markers of one body are at one frame: a column each [m].
using MarkerShape = Eigen::Matrix3Xd;

/// The rotation that brings one shape nearest to another, both about their means (Kabsch 1976).
Mat3 FitRotation(const MarkerShape& from, const MarkerShape& to);

/// Whether some marker is far enough from the line through the others: @p distance [m], as the root of a sum of
/// squares.
bool IsWide(const MarkerShape& shape, double distance);

}  // namespace retrace::recordings
