/// What a reconstruction depends on: equal identities, equal bytes (but for the compiler and the libraries).
#pragma once

#include <span>
#include <string>

#include "retrace/io/json.h"
#include "retrace/runs/job.h"

namespace retrace::runs {

/// Everything that the user can set and every file: {"program", "configuration", "clip", "inputs": {role: SHA-256},
/// "solver": the one in use in this process}. A configuration file does not count as such: its settings do.
/// @param inputs the files of InputsOf the options, as they were read
io::Json Identity(const JobOptions& options, std::span<const InputRecord> inputs);
/// The same, for which it reads the files. Throws InputError for those that cannot be read.
io::Json Identity(const JobOptions& options);

/// What two identities differ in, for a message; they must differ: "POINTER was THIS and is THAT", or other words
/// in the place of " was " and " and is ".
std::string Differences(const io::Json& then, const io::Json& now, const std::string& was = " was ",
                        const std::string& is = " and is ");

}  // namespace retrace::runs
