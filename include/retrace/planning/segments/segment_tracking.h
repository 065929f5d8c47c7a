/// A control that leads on from a state along given poses, by feedback that foresees an instant. Internal to the
/// module.
#pragma once

#include "retrace/planning/segments/segment_search.h"

namespace retrace::runs {

/// The same as SearchSegment for a character that stands or walks, in a hundredth of the time; `effort`,
/// `share_of_budget` and `threads` do not count. It has reached the end where it stays within tolerance with its root
/// above `lowest_root`. One whose root goes lower is no segment at all.
FoundSegment TrackSegment(const SegmentProblem& problem);

}  // namespace retrace::runs
