/// Many clips and seeds in, tables of success, quality and cost out: everything of `evaluate` but its options and what
/// it prints.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "retrace/batches/batch.h"
#include "retrace/batches/negative_controls.h"
#include "retrace/io/error.h"
#include "retrace/parallel/mpi_session.h"
#include "retrace/results/run_table.h"

namespace retrace::runs {

/// Files of the folder of an evaluation. The runs are in a folder `runs` beside them.
inline constexpr std::string_view kSummaryFile = "summary.csv";
inline constexpr std::string_view kSummaryPage = "summary.md";
inline constexpr std::string_view kControlsFile = "negative_controls.csv";
inline constexpr std::string_view kComparisonFile = "compare.csv";

struct EvaluationOptions {
  std::filesystem::path list;        ///< of clips, see ParseClipList
  std::filesystem::path clips = {};  ///< folder of the recordings; empty: that of the list
  JobOptions job = {};               ///< for all clips
  std::optional<int> samples = {};   ///< for all clips, whatever a row of the list sets
  std::optional<int> saved = {};     ///< likewise
  int seeds = 0;                     ///< run seeds 1 to this; 0: as in the list, else 5
  std::string only = {};             ///< regular expression: clips in whose name it is found; empty: all
  size_t share = 1;                  ///< of `shares`, this one is run, counted from 1
  size_t shares = 1;
  std::filesystem::path output;  ///< folder
  KeptFiles kept = KeptFiles::kControl;
  std::string command = {};        ///< as a shell takes it back
  bool force = false;              ///< run again what was made with another configuration or version
  double time_limit = 0;           ///< of all runs together [s]; 0: none
  bool negative_controls = false;  ///< run seed 1 alone, and test what must fail the tolerances
  int threads = 0;                 ///< runs at once in a plain process; 0: one per core
  int ranks_per_run = 0;           ///< 0: so many that all runs are done soonest
  double timeout = 0;              ///< for ranks that do not answer [s]; 0: none
};

/// The runs of an evaluation. Throws InputError for a bad list, UsageError for options that select nothing.
Batch PlanBatch(const EvaluationOptions& options);

struct EvaluationResult {
  std::vector<results::RunRow> rows;
  std::vector<results::RunSummary> summaries;
  std::vector<NegativeControl> controls;

  /// Success, unless a clip succeeds in less than this share of its runs, a negative control was accepted, an input
  /// could not be used, or a run met a bug; of several, the last of these.
  ExitCode Judge(double required) const;
  /// How many runs could not be made, with the first reason, as a sentence; empty where all were.
  std::string DescribeFailures() const;
};

/// Runs what is left to do of a batch on the ranks of a job or on threads, and writes the tables. Called by all ranks;
/// nothing is returned on those that only computed. Throws StoppedError when it was stopped.
std::optional<EvaluationResult> Evaluate(const EvaluationOptions& options, Batch& batch, parallel::MpiSession& mpi,
                                         const RowCallback& on_row = {});

/// Compares the runs of two folders, paired by clip and seed, and writes the table into `output`. Throws InputError
/// when no run is in both.
std::vector<results::RunComparison> CompareFolders(const std::filesystem::path& a, const std::filesystem::path& b,
                                                   const std::filesystem::path& output);

/// A run as a line for people.
std::string Describe(const results::RunRow& row);

}  // namespace retrace::runs
