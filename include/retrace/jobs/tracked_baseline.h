/// A tracked motion as a start for the search.
#pragma once

#include "retrace/character/reference_motion.h"
#include "retrace/jobs/reconstruction_job.h"
#include "retrace/jobs/tracking_run.h"

namespace retrace::runs {

/// Poses at the times of the job's reference at which the character's servos, with their full gains, give the mean
/// torques that the tracked motion has there. From shortly before that motion exceeds the tolerances they are the
/// reference's.
character::ReferenceMotion TrackedBaseline(const Job& job, const Tracking& tracked);

/// The job with the baseline that its configuration asks for: tracks the motion where that is a tracked one, which
/// FindControl then does not do again. Where tracking alone is the result, and where it has no torques to offer, the
/// baseline is the reference.
Job WithBaseline(Job job);

}  // namespace retrace::runs
