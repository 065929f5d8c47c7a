/// What a reconstruction depends on: equal identities, equal bytes (but for the compiler and the machine's libraries).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/reconstruct_job.h"
#include "retrace/io/json.h"

namespace retrace::apps {

/// Files of a recording: the clip, and its skeleton if it has one of its own.
std::vector<std::filesystem::path> InputFiles(const ClipOptions& clip);

/// {"program", "configuration", "clip", "inputs": {name: SHA-256}}. Throws InputError for files that cannot be read.
io::Json Identity(const JobOptions& options);

/// What two identities differ in, for a message; they must differ.
std::string Differences(const io::Json& then, const io::Json& now);

}  // namespace retrace::apps
