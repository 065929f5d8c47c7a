/// A character that stands and shifts about, without a recording: a random schedule of key poses becomes a motion whose
/// feet stay where they are, and the search finds the control that follows it. Liu et al. 2010 have nothing of this
/// kind; servos alone fall within seconds.
///
///     retrace::runs::StandingOptions options;
///     options.keys = "standing";
///     const retrace::runs::StandingJob job(options);
///     const auto result = retrace::runs::Stand(job);
///     retrace::results::RunFolder folder("results/standing", false);
///     retrace::runs::WriteStanding(folder, job, result, {});
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "retrace/methods/sampling/search.h"
#include "retrace/metrics/gates.h"
#include "retrace/results/provenance.h"
#include "retrace/results/run_folder.h"
#include "retrace/runs/inputs/inputs.h"
#include "retrace/runs/inputs/key_poses.h"
#include "retrace/runs/stored/manifest.h"

namespace retrace::runs {

/// What a user sets.
struct StandingOptions {
  std::string keys;                 ///< a JSON file, or the name of key poses that come with the toolkit
  std::string character = "human";  ///< likewise
  double duration = 60;             ///< of the motion [s]
  uint64_t seed = 1;
  double gain = 1.5;  ///< factor on the servos' kp; that on kd is its square root
  int samples = 40;   ///< of the search, per iteration
};

/// Holding a key, after the motion to it.
struct StandingPart {
  size_t from = 0;   ///< key
  size_t to = 0;     ///< key; the same: it is held
  double start = 0;  ///< [s]
  double end = 0;    ///< [s]
};

/// Whether keys are those of a standing character: then `idle` makes a StandingJob of them.
bool AreStanding(const std::string& keys);

/// Everything that follows from the options and the files. Stays where it was made. Throws UsageError and InputError
/// for what cannot be used: a pose that lies or sits, a character without legs.
struct StandingJob {
  explicit StandingJob(const StandingOptions& options);
  StandingJob(const StandingJob&) = delete;
  StandingJob& operator=(const StandingJob&) = delete;

  StandingOptions options;
  std::vector<InputRecord> inputs;
  character::Character character;  ///< with the gain
  KeyPoses keys;                   ///< with the feet where the first of them has them
  std::vector<StandingPart> parts;
  character::ReferenceMotion reference;  ///< from key to key, kinematic, balanced over its feet
  task::Preparation preparation;
  sampling::Problem problem;

 private:
  StandingJob(const StandingOptions& options, std::span<const InputFile> files);
};

struct Standing {
  sampling::Summary search;
  size_t num_steps = 0;
  bool diverged = false;       ///< in the new world
  double largest_creep = 0;    ///< of a foot from where it stood first, along the ground [m]
  double mean_joint_rate = 0;  ///< rms over joints, mean over steps [rad/s]
  metrics::Evaluation evaluation;
  /// When the same servos exceed the tolerances while they follow the reference itself; infinite: never [s].
  double servos_alone = 0;
  results::RunTimer timer;

  bool success() const { return search.reached_end() && !diverged && evaluation.success(); }
};

/// Threads: 0 is one per core; the result does not depend on them. Throws StoppedError when the hooks stop it, and
/// std::logic_error when the replay does not end where the search did.
Standing Stand(const StandingJob& job, int threads = 0, const sampling::Hooks& hooks = {});

/// Writes the folder of a run, its manifest last. Throws OutputError.
void WriteStanding(results::RunFolder& folder, const StandingJob& job, const Standing& result,
                   const RunContext& context);

/// Figures as lines for people.
std::string Describe(const StandingJob& job, const Standing& result);

}  // namespace retrace::runs
