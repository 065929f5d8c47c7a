/// A tracked motion as a start for the search.
#pragma once

#include "retrace/character/reference_motion.h"
#include "retrace/jobs/reconstruction_job.h"
#include "retrace/jobs/tracking_run.h"
#include "retrace/planning/hybrid/hybrid_control.h"

namespace retrace::runs {

/// Poses at the times of the job's reference at which the character's servos, with their full gains, give the mean
/// torques that the motion of a control has there. From the time `usable` on [s] they give those of inverse dynamics of
/// the reference, with contacts of the whole body: open loop they lead to no motion, but a search begins nearer.
character::ReferenceMotion BaselineOf(const Job& job, const control::OpenLoopControl& control, double usable);

/// The job with the baseline that its configuration asks for: tracks the motion where that is a tracked one, which
/// FindControl then does not do again. Where tracking alone is the result, the job keeps the reference as its baseline.
/// Threads (0: one per core) do not change the result.
Job WithBaseline(Job job, int threads = 1, const HybridHooks& hooks = {});

}  // namespace retrace::runs
