/// A warning about ranks that a search does not keep at work.
#pragma once

#include <string>

#include "retrace/runs/configuration/configuration.h"

namespace retrace::runs {

/// What to tell whoever gives one search more ranks than it keeps at work for half of the time; else an empty text.
std::string IdleRanksWarning(int ranks, const Configuration& configuration);

}  // namespace retrace::runs
