/// What a reconstruction depends on: equal identities, equal bytes (but for the compiler and the libraries).
#pragma once

#include <functional>
#include <string>

#include "retrace/io/json.h"
#include "retrace/parallel/task_farm.h"
#include "retrace/runs/reconstruction.h"

namespace retrace::runs {

/// {"program", "configuration", "clip", "inputs": {role: SHA-256}}. Throws InputError for files that cannot be read.
io::Json Identity(const JobOptions& options);

/// What two identities differ in, for a message; they must differ. Says "POINTER was THIS and is THAT", or other words
/// in the place of " was " and " and is ".
std::string Differences(const io::Json& then, const io::Json& now, const std::string& was = " was ",
                        const std::string& is = " and is ");

/// What each rank of a job does before the work begins (reads its files): `prepare`, which returns the identity of what
/// was found. Where it fails on one rank, or finds something else there than on rank 0, all ranks throw the same; see
/// MpiSession::Prepare.
void PrepareRanks(parallel::MpiSession& mpi, double timeout, const std::function<io::Json()>& prepare);

}  // namespace retrace::runs
