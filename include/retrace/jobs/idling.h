/// Idling from files to folder: key poses, furniture, the method, the replay of its control in a new world, the files.
///
///     retrace::runs::IdlingOptions options;
///     options.keys = "sitting";
///     options.worlds = {"armchair"};
///     const retrace::runs::IdlingJob job(options);
///     const auto result = retrace::runs::Idle(job);
///     retrace::results::RunFolder folder("results/sitting", false);
///     retrace::runs::WriteIdling(folder, job, result, {});
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "retrace/methods/idling/idle.h"
#include "retrace/results/provenance.h"
#include "retrace/results/run_folder.h"
#include "retrace/runs/inputs/inputs.h"
#include "retrace/runs/inputs/key_poses.h"
#include "retrace/runs/stored/manifest.h"
#include "retrace/task/world_variation.h"

namespace retrace::runs {

/// What a user sets.
struct IdlingOptions {
  std::string keys;                  ///< a JSON file, or the name of key poses that come with the toolkit
  std::string character = "human";   ///< likewise
  std::vector<std::string> worlds;   ///< likewise; they are combined
  std::vector<std::string> choices;  ///< paths that may be played, "FROM:TO:NUMBER[,NUMBER]..."; of other pairs all
  idling::Options options;
};

/// Everything that follows from the options and the files. Stays where it was made, because the problem points into it.
/// Throws UsageError and InputError for what cannot be used.
struct IdlingJob {
  /// Reads every input file once.
  explicit IdlingJob(const IdlingOptions& options);
  IdlingJob(const IdlingJob&) = delete;
  IdlingJob& operator=(const IdlingJob&) = delete;

  IdlingOptions options;
  std::vector<InputRecord> inputs;
  task::WorldVariation world;
  character::Character character;  ///< with the world's loads and the gain
  KeyPoses keys;
  idling::Problem problem;

 private:
  IdlingJob(const IdlingOptions& options, std::span<const InputFile> files);
};

/// A motion that idles, simulated once more from its control and judged at every step of that.
struct Idling {
  idling::Summary summary;
  size_t num_steps = 0;            ///< that were simulated
  bool diverged = false;           ///< in the new world
  size_t invalid_steps = 0;        ///< judged by idling::Judge
  double largest_root_offset = 0;  ///< from the key, or the line between two [m]
  double mean_joint_rate = 0;      ///< rms over joints, mean over steps [rad/s]
  double largest_turn = 0;         ///< of the thing that carries the character, from where it was first [rad]
  results::RunTimer timer;         ///< begun with the method

  /// The motion is as long as it was to be, and valid at every step.
  bool success() const;
};

/// Throws std::logic_error when the control does not lead to the same state in a new world, bit for bit; else as
/// idling::Run.
Idling Idle(const IdlingJob& job, const idling::Hooks& hooks = {});

/// Writes the folder of a run, its manifest last. Throws OutputError.
void WriteIdling(results::RunFolder& folder, const IdlingJob& job, const Idling& result, const RunContext& context);

/// idling.csv, one row per part: start, end; from, to: keys; path: its number among those of the pair from 1 on, 0
/// where the key was held; candidates that were tried, in the last row of a continuation.
std::string FormatIdling(const idling::Summary& summary, double time_step);

/// Keys, paths and figures as lines for people.
std::string Describe(const IdlingJob& job, const Idling& result);

}  // namespace retrace::runs
