/// The options of every program that reconstructs.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "retrace/runs/reconstruction.h"

namespace retrace::apps {

void AddWorldOption(CLI::App& app, std::vector<std::string>& worlds);

/// The options but those of the clip and the seed.
void AddJobOptions(CLI::App& app, runs::JobOptions& options);

}  // namespace retrace::apps
