/// Finds the impact that a response answers.
#pragma once

#include <string>

#include "retrace/planning/response/response_problem.h"

namespace retrace::runs {

/// The first impact of another character. Where the two do not part, it ends at the first start time. Throws InputError
/// where no other character touches; the message says how near one comes.
/// @param after earliest start of the impact [s]
Impact FindImpact(const ResponseProblem& problem, double after);

/// The first touch of a body of the world that moves freely, until the two part. Throws InputError likewise.
/// @param worlds names of the worlds, for messages
Impact FindImpactOfObject(const ResponseProblem& problem, const std::string& worlds);

}  // namespace retrace::runs
