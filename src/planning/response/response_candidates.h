/// The positions of a library at which a receiver may go on (Zordan et al. 2005, section 4). Internal to the
/// module.
#pragma once

#include <vector>

#include "retrace/planning/response/impact_simulation.h"
#include "retrace/planning/response/response_problem.h"

namespace retrace::runs {

/// What a change of velocity that no force makes counts as, where candidates of a blend are ordered [s].
inline constexpr double kHiddenTime = 0.5;

/// Those that the motion is about to resemble, in the order in which they are to be tried. The motion has been
/// simulated for as long as the windows look.
std::vector<ResponseCandidate> FindCandidates(const ImpactSimulation& struck);

/// When its motion has stood for a while, late enough, and until when it goes on so; false where it does not. By
/// `start` and `time` of the candidate.
bool FindEnd(const ImpactSimulation& struck, ResponseCandidate& candidate);

}  // namespace retrace::runs
