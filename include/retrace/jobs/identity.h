/// What a reconstruction depends on: equal identities, equal bytes (but for the compiler and the libraries).
#pragma once

#include <span>
#include <string>

#include "retrace/io/json.h"
#include "retrace/jobs/job_options.h"

namespace retrace::runs {

/// Everything that the user can set and every file: {"program", "configuration", "clip", "inputs": {role: SHA-256},
/// "solver": the one in use in this process}. A configuration file does not count as such: its settings do.
/// @param inputs the files of InputsOf the options, as they were read
io::Json Identity(const JobOptions& options, std::span<const InputRecord> inputs);
/// The same, for which it reads the files. Throws InputError for those that cannot be read.
io::Json Identity(const JobOptions& options);

}  // namespace retrace::runs
