/// A warning about ranks that a search does not keep at work.
#pragma once

#include <string>

#include "retrace/runs/configuration/configuration.h"

namespace retrace::runs {

/// A warning when one search has more ranks than it keeps busy for half of the time; else an empty text.
std::string IdleRanksWarning(int ranks, const Configuration& configuration);

}  // namespace retrace::runs
