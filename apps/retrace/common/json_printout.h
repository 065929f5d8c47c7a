/// Printouts for scripts: with --json a command prints one JSON document on standard output, and nothing else.
#pragma once

#include <optional>

#include "cli/command.h"
#include "retrace/io/json.h"
#include "retrace/metrics/gates.h"

namespace retrace::apps {

/// --json: what is printed, for scripts.
cli::Option AddJsonOption(cli::Command& command, bool& json);

/// Prints a document in one line.
void PrintJson(const io::Json& document);

/// An evaluation, or null.
io::Json JsonOf(const std::optional<metrics::Evaluation>& evaluation);

}  // namespace retrace::apps
