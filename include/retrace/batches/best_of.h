/// Several controls of one motion, of which the best becomes the run.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "retrace/batches/batch.h"
#include "retrace/parallel/mpi_session.h"
#include "retrace/results/run_table.h"

namespace retrace::runs {

/// Holds a whole run folder for each seed, inside the folder of the run.
inline constexpr std::string_view kTriedFolder = "tried";
/// A row for each seed (results::FormatRuns).
inline constexpr std::string_view kTriedFile = "tried.csv";

struct BestOfOptions {
  JobOptions job;  ///< with the first seed
  int count = 1;   ///< seeds
  std::filesystem::path output;
  std::string command = {};  ///< as a shell takes it back
  bool force = false;        ///< write into a folder that holds other results
  bool resume = false;       ///< take what was finished of the same
  bool samples = false;      ///< write the costs of every sample too
  double time_limit = 0;     ///< of all together [s]; 0: none
  BatchWorkers workers = {};
};

struct BestOf {
  std::vector<results::RunRow> rows;  ///< by seed
  size_t best = 0;                    ///< index of the row that became the run
};

/// The plan of the runs, the same on all ranks.
Batch PlanBestOf(const BestOfOptions& options);

/// Which of several runs is the best: those within tolerance come first, of these those from whose end the character
/// can go on. Among these it is the one with the least product of joint error, error of the ground force and jerk ratio
/// at 30 Hz, so that a tenth less of one counts as much as a tenth less of another. Nothing where no run was made.
std::optional<size_t> ChooseBest(const std::vector<results::RunRow>& rows);

/// Makes the runs side by side, on threads or on groups of ranks, and copies the best of them into the output folder.
/// Called by all ranks; nothing is returned on those that only computed. Throws InputError where no run could be made,
/// and StoppedError when it was stopped.
std::optional<BestOf> FindBestOf(const BestOfOptions& options, Batch& batch, parallel::MpiSession& mpi,
                                 const RowCallback& on_row = {});

}  // namespace retrace::runs
