/// A tracked motion as a start for the search.
#pragma once

#include "retrace/character/reference_motion.h"
#include "retrace/jobs/reconstruction_job.h"
#include "retrace/jobs/tracking_run.h"
#include "retrace/planning/hybrid/hybrid_control.h"

namespace retrace::runs {

/// Poses at the times of the job's reference at which the character's servos, with their full gains, give the mean
/// torques that the motion of a control has there. From the time `usable` on [s] they are the reference's.
character::ReferenceMotion BaselineOf(const Job& job, const control::OpenLoopControl& control, double usable);

/// The job with the baseline that its configuration asks for: tracks the motion where that is a tracked one, which
/// FindControl then does not do again. Where tracking alone is the result, and where it has no torques to offer, the
/// baseline is the reference. Threads (0: one per core) do not change the result.
Job WithBaseline(Job job, int threads = 1, const HybridHooks& hooks = {});

}  // namespace retrace::runs
