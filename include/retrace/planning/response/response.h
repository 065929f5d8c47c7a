/// What a body does after an impact: the control of a run goes on, or the motion of a library that the body is about to
/// resemble is searched for and entered (Zordan et al. 2005). There the recorded motion is blended in; here the
/// transition into it is searched, and all of it is simulated, unless a kinematic transition is asked for.
///
/// Times are those of the run [s], but a start time T is counted from the beginning of the push.
#pragma once

#include "retrace/planning/response/response_problem.h"

namespace retrace::runs {

/// Threads: 0 is one per core; the result does not depend on them. Throws std::logic_error when a replay does not end
/// in the state that the search ended in, bit for bit.
Response Respond(const ResponseProblem& problem, int threads = 0, const ResponseHooks& hooks = {});

}  // namespace retrace::runs
