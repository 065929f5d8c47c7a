#pragma once

#include "retrace/math/types.h"

namespace retrace::recordings {

/// Where the markers of one body are at one frame: a column each [m].
using MarkerShape = Eigen::Matrix3Xd;

/// The rotation that brings one shape nearest to another, both about their means (Kabsch 1976).
Mat3 FitRotation(const MarkerShape& from, const MarkerShape& to);

/// Whether markers spread beside their main direction so far that they determine a rotation: the root of the sum of
/// their squared distances from it exceeds @p distance [m].
bool IsWide(const MarkerShape& shape, double distance);

}  // namespace retrace::recordings
