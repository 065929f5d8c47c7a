/// Controls that follow one another: the runs of a library are joined into one control, and pushes are answered, by
/// searching the transition into the next motion anew from the state that the character is really in (Liu et al. 2010,
/// section 4, "Motion Composition"; there the picture is blended, which is here the kinematic transition, and
/// labeled).
#pragma once

#include "retrace/planning/composition/composition_problem.h"

namespace retrace::runs {

/// Threads: 0 is one per core; the result does not depend on them. Throws std::logic_error when a replay does not end
/// in the state that the search ended in, bit for bit.
Composition Compose(const CompositionProblem& problem, int threads = 0, const CompositionHooks& hooks = {});

}  // namespace retrace::runs
