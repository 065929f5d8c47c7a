/// A tracked motion as a start for the search. Internal to the runs module.
#pragma once

#include "retrace/character/reference.h"
#include "retrace/runs/job.h"

namespace retrace::runs {

/// Poses at the times of the job's reference at which the character's servos, with their full gains, give the mean
/// torques that the tracked motion has there. From shortly before that motion leaves the gates they are the
/// reference's.
character::ReferenceMotion TrackedBaseline(const Job& job);

}  // namespace retrace::runs
