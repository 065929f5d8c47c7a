/// What a reconstruction depends on: equal identities, equal bytes (but for the compiler and the machine's libraries).
#pragma once

#include <string>

#include "common/reconstruct_job.h"
#include "retrace/io/json.h"

namespace retrace::apps {

/// {"program", "configuration", "clip", "inputs": {role: SHA-256}}. Throws InputError for files that cannot be read.
io::Json Identity(const JobOptions& options);

/// What two identities differ in, for a message; they must differ.
std::string Differences(const io::Json& then, const io::Json& now);

}  // namespace retrace::apps
