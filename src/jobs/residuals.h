/// What motion and forces disagree about, made smaller: the job of kinetics::ReduceResiduals, and its files.
#pragma once

#include <string>
#include <vector>

#include "retrace/jobs/estimated_forces.h"
#include "retrace/jobs/reconstruction_job.h"
#include "retrace/results/run_folder.h"

namespace retrace::runs {

/// Forces of the feet through the low-pass of the motion, where they carry something: what is compared with
/// accelerations has passed the same filter as these.
std::vector<std::vector<metrics::SupportForce>> Smoothed(
    const std::vector<std::vector<metrics::SupportForce>>& supports, double deviation, double frame_time);

/// Changes the motion, and the masses where forces were measured, so that they agree with forces. Fills
/// `estimate.reduced` and adds to the notes.
/// @param supports (poses) of the feet: measured, or estimated @param measured whether they were
/// Throws InputError where too little was measured.
void ReduceResiduals(const Job& job, const std::vector<std::vector<metrics::SupportForce>>& supports, bool measured,
                     ForceEstimate& estimate);

/// Writes residuals over time, the changes of bodies, and the changed motion and character. Does nothing without them.
void WriteResiduals(results::RunFolder& folder, const Job& job, const ForceEstimate& estimate);

/// The same for a manifest.
io::Json ResidualsToJson(const kinetics::ReducedResiduals& reduced);

}  // namespace retrace::runs
