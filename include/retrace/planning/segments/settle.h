/// How a motion that was found to where it stands goes on standing or walking. Internal to the module.
#pragma once

#include <functional>
#include <vector>

#include "retrace/planning/segments/segment_search.h"

namespace retrace::runs {

/// What is to be gone on with.
struct SettleProblem {
  const SegmentProblem& way;                  ///< that was found to where its poses end
  const std::vector<character::Pose>& poses;  ///< those of the segment, and what follows them
  /// The same, but it comes to rest in the pose in which the motion is slowest; nothing: that is how `poses` end.
  const std::vector<character::Pose>& at_rest;
};

/// Feedback follows the poses to their end from one of the last fragments of a segment; or it keeps the present pose,
/// or it comes to rest. If the character falls in all three cases, a search continues instead, and if that fails, too,
/// one that starts two seconds earlier.
/// @param way receives what is found, which may end early
/// @param followed poses of the segment; likewise
/// @param feedback_from step at which feedback takes over; kept where none does
/// @return whether it is found to the end of the poses
bool Settle(const SettleProblem& problem, FoundSegment& way, std::vector<character::Pose>& followed,
            int& feedback_from);

}  // namespace retrace::runs
