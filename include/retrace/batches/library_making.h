/// A library of controls from a list of clips: each is reconstructed, with one seed after the other until it succeeds,
/// and what was found is indexed.
///
///     retrace::runs::LibraryOptions options;
///     options.list = "configs/library.tsv";
///     options.output = "library";
///     const auto made = retrace::runs::MakeLibrary(options);
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "retrace/batches/evaluation.h"
#include "retrace/jobs/reconstruction_job.h"
#include "retrace/results/run_table.h"
#include "retrace/runs/libraries/control_library.h"

namespace retrace::runs {

struct LibraryOptions {
  std::filesystem::path list;        ///< of clips, see ParseClipList
  std::filesystem::path clips = {};  ///< folder of the recordings; empty: that of the list
  JobOptions job = {};               ///< for all clips
  std::optional<int> samples = {};   ///< for all clips, whatever a row of the list sets
  std::optional<int> saved = {};     ///< likewise
  int seeds = 0;                     ///< that are tried at most, from 1 on; 0: as in the list, else 3
  std::string only = {};             ///< regular expression: clips in whose name it is found; empty: all
  std::filesystem::path output;      ///< folder
  std::string command = {};          ///< as a shell takes it back
  bool force = false;                ///< make again what was made with another configuration or version
  int threads = 0;                   ///< runs at once; 0: one per core
};

struct MadeLibrary {
  std::vector<results::RunRow> rows;  ///< of each clip that was asked for, the latest try
  LibraryIndex index;                 ///< of those that succeeded; without controls there is no file of it

  /// Success where each clip has a control; else below the tolerance, or what EvaluationResult::Judge says that is
  /// worse.
  ExitCode Judge() const;
};

/// Called with each run as it is finished.
using MadeCallback = std::function<void(const results::RunRow& row)>;

/// Writes a folder for each clip, with the run that succeeded or the last that did not, and the index. What an earlier
/// call has made stays. Throws UsageError and InputError for a list that cannot be used, InputError where controls are
/// of different characters or worlds, StoppedError when it was stopped; the same call goes on from there.
MadeLibrary MakeLibrary(const LibraryOptions& options, const MadeCallback& on_run = {});

}  // namespace retrace::runs
