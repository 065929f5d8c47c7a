/// The motions of results and of stored runs as values: states, contacts and torques of every step.
#pragma once

#include <cstddef>
#include <vector>

#include "retrace/control/motion.h"
#include "retrace/jobs/reconstruction.h"
#include "retrace/runs/stored/stored_run.h"

namespace retrace::runs {

/// The motion of a reconstruction, which is simulated once more: the result keeps the control alone, and the motion is
/// the same to the bit.
control::Motion SimulateAgain(const Job& job, const Reconstruction& result);

/// The motion of each character of a stored run, in a new world, under the stored pushes and under `pushes`. Without
/// these it is the stored motion.
std::vector<control::Motion> SimulateAgain(const StoredRun& run, const std::vector<control::Push>& pushes = {});

}  // namespace retrace::runs
