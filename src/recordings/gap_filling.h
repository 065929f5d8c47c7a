/// Places of markers while they were not seen.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "retrace/recordings/markers.h"

namespace retrace::recordings {

/// What was filled, over all markers.
struct FilledGaps {
  struct Longest {
    double seconds = 0;
    size_t column = 0;
  };
  Longest by_neighbors;  ///< of gaps in which markers around tell where the marker was
  Longest by_curve;      ///< of gaps in which nothing does
};

/// Whether the position of a marker is unknown that is not seen for so long, with nothing around it [s].
inline constexpr double kLongestGuess = 0.2;

/// The path of a marker, with its gaps filled. Where three or more markers that keep their distances from it, and do
/// not stand in a line, are seen throughout a gap, it moves with them as with a rigid body, from where it was before
/// the gap to where it is after it. Else a gap of at most kLongestGuess becomes a cubic curve with the velocities at
/// its ends, a longer one a straight line, and one at an end of the recording a rest. The marker is seen at least once.
/// @param others columns of markers of the same performer
std::vector<Vec3> FillGaps(const Markers& markers, size_t column, const std::vector<size_t>& others,
                           FilledGaps& filled);

}  // namespace retrace::recordings
