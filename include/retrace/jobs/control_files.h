/// A control and its motion in the folder of a run.
#pragma once

#include <cstddef>
#include <span>

#include "retrace/control/control.h"
#include "retrace/io/json.h"
#include "retrace/jobs/reconstruction_job.h"
#include "retrace/results/run_folder.h"
#include "retrace/runs/stored/run_files.h"

namespace retrace::runs {

/// A control and its motion in the files of a run.
struct WrittenControl {
  const control::OpenLoopControl& control;
  std::span<const control::Push> pushes;
  size_t num_steps = 0;  ///< of the motion
};

/// Writes the control and what is kept of its motion. Returns members for the manifest: where the tables are not kept,
/// their hashes, with which `replay --verify` compares. Throws OutputError.
io::Json WriteControlAndMotion(results::RunFolder& folder, const Job& job, const WrittenControl& written,
                               KeptFiles kept);

}  // namespace retrace::runs
