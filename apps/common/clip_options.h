/// The options of every program that reads a recording.
#pragma once

#include <CLI/CLI.hpp>

#include "retrace/runs/clip_input.h"

namespace retrace::apps {

void AddClipOptions(CLI::App& app, runs::ClipOptions& options);

}  // namespace retrace::apps
