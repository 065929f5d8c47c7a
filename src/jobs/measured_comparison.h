/// An estimate of forces beside measured ones.
#pragma once

#include <vector>

#include "retrace/jobs/estimated_forces.h"
#include "retrace/jobs/reconstruction_job.h"

namespace retrace::runs {

/// Times of "states" whose steps have the poses in their middle.
std::vector<double> StepTimes(const character::ReferenceMotion& reference);

/// Adds the measurement of the job, where it has one, what it comes to in the comparison, and what is to be doubted.
/// Throws InputError and UsageError for a measurement that does not fit.
void CompareWithMeasured(const Job& job, ForceEstimate& estimate);

}  // namespace retrace::runs
