/// A tracked motion from clip to folder: the tracking method, the replay of its commands in a new world, the files.
///
///     retrace::runs::JobOptions options;
///     options.clip.file = "walk.bvh";
///     const retrace::runs::Job job(options);
///     const auto result = retrace::runs::Track(job);
///     retrace::results::RunFolder folder("results/walk", false);
///     retrace::runs::WriteTracking(folder, job, result, {});
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "retrace/jobs/reconstruction_job.h"
#include "retrace/methods/tracking/track.h"
#include "retrace/metrics/gates.h"
#include "retrace/results/provenance.h"
#include "retrace/results/run_folder.h"
#include "retrace/runs/stored/manifest.h"
#include "retrace/runs/stored/run_files.h"

namespace retrace::runs {

/// A tracked motion, simulated once more from its commands and compared with the reference. As with a Reconstruction,
/// the motion itself is not kept.
struct Tracking {
  tracking::PreparedReference prepared;
  std::vector<control::Push> pushes;  ///< that it was to withstand
  tracking::Summary summary;
  size_t num_steps = 0;   ///< that were simulated
  bool diverged = false;  ///< in the new world
  metrics::Evaluation evaluation;
  std::optional<metrics::Evaluation> against_recording =
      {};                            ///< with the unrepaired motion (Job::Unrepaired); none: none
  results::RunTimer timer;           ///< begun with the tracking
  double preparing_cpu_seconds = 0;  ///< of the reference: feet, balance

  bool success() const { return evaluation.success(); }
  /// Whether it is a result without a search: within tolerance, near the reference in the world, from which the
  /// tolerances allow any drift, and near in posture, for a body that lost its seat may fold up within tolerance.
  bool suffices() const { return success() && evaluation.near_in_world() && evaluation.near_in_posture(); }
  /// Wall time of everything but the replay [s].
  double cpu_seconds() const { return preparing_cpu_seconds + summary.cpu_seconds; }
  /// How it ended and when, as a part of a sentence: "fell after 1.32 s".
  std::string Ending() const;
};

/// Tracks the job's motion under pushes, which are texts as control::ParsePush has them. Contact scales, which belong
/// to servos of full strength, are left out. Candidates (tracking::Options::candidates) are tried on threads; 0: one
/// per core. Throws std::logic_error when the commands do not lead to the same state in a new world, bit for bit, and
/// UsageError for a push that makes no sense.
Tracking Track(const Job& job, const std::vector<std::string>& pushes = {}, const tracking::Hooks& hooks = {},
               int threads = 0);

/// The manifest of a tracked motion. `more` are members that are added or replaced.
io::Json TrackingManifest(const Job& job, const Tracking& result, const RunContext& context, const io::Json& more);

/// Writes the folder of a run, its manifest last: what a search writes but its costs, and tracking.csv instead. `more`
/// are members that are added to the manifest or replaced. Throws OutputError.
void WriteTracking(results::RunFolder& folder, const Job& job, const Tracking& result, const RunContext& context,
                   KeptFiles kept = KeptFiles::kAll, const io::Json& more = io::NoMembers());

/// tracking.csv, one row per quadratic program: time; contacts; variables, iterations; squared_error, slack,
/// largest_torque, vertical_force (tracking::SolveRecord); solved as 0 or 1; cpu_microseconds, the only column that
/// differs from run to run.
std::string FormatTracking(const std::vector<tracking::SolveRecord>& records);

}  // namespace retrace::runs
