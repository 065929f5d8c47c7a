/// How a motion that was found to where it stands goes on standing or walking. Internal to the module.
#pragma once

#include <functional>
#include <vector>

#include "retrace/planning/segments/segment_search.h"

namespace retrace::runs {

/// What is to be gone on with.
struct SettleProblem {
  const SegmentProblem& way;                  ///< that was found to where its poses end
  const std::vector<character::Pose>& poses;  ///< those of the way, and what follows them
  /// The same, but it comes to rest in the pose in which the motion is slowest; nothing: that is how `poses` end.
  const std::vector<character::Pose>& at_rest;
};

/// From one of the last places of a way feedback follows the poses to their end; or it keeps the pose at hand, or it
/// comes to rest; where it falls in all of these ways, a search goes on in its place, and where that is lost, too, once
/// more from two seconds before.
/// @param way what is found goes into it: as far as anything was found where that is not to the end
/// @param followed poses of the way; likewise
/// @param feedback_from step at which feedback takes over; kept where none does
/// @return whether it is found to the end of the poses
bool Settle(const SettleProblem& problem, FoundSegment& way, std::vector<character::Pose>& followed,
            int& feedback_from);

}  // namespace retrace::runs
