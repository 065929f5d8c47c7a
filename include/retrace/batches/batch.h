/// Many reconstructions: one per clip and seed, each on one thread or on one group of ranks, many at once.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "retrace/jobs/reconstruction.h"
#include "retrace/parallel/mpi_session.h"
#include "retrace/parallel/rank_group.h"
#include "retrace/parallel/task_farm.h"
#include "retrace/results/run_table.h"
#include "retrace/runs/inputs/clip_list.h"

namespace retrace::runs {

/// One run of the plan.
struct PlannedRun {
  size_t clip = 0;  ///< index in the list
  uint64_t seed = 1;
  bool selected = true;  ///< to be run; else only its existing results are used
  std::filesystem::path folder;
};

/// What is the same on all ranks.
struct Batch {
  JobOptions job;                   ///< clip and seed are those of the runs
  std::optional<int> samples = {};  ///< holds whatever a row of the list sets
  std::optional<int> saved = {};    ///< likewise
  std::vector<ListedClip> clips;
  std::string list_sha256;       ///< of the list that named them
  std::vector<PlannedRun> runs;  ///< by clip, then by seed
  KeptFiles kept = KeptFiles::kControl;
  std::string program = "evaluate";  ///< as the manifests have it
  std::string command;
  std::function<void()> report_alive = {};  ///< called after each iteration of a run: RankGroup::ReportAlive
  double time_limit = 0;                    ///< of all runs together, from `start` on [s]; 0: none
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
};

/// The options of a reconstruction of a listed clip. What its row sets comes after the batch's configuration and before
/// the batch's numbers of samples.
JobOptions JobOptionsOf(const Batch& batch, size_t clip, uint64_t seed);

/// Throws InputError with the position in the list for a row with settings that do not exist.
void CheckSettings(const Batch& batch);

/// What ranks that work on a batch must agree in: {"program", "list": hash, "configuration", "solvers": of each clip}.
io::Json IdentityOf(const Batch& batch);

/// The ranks that work on one run after another, led by this one, and the data of the latest run that they need.
class ProcessGroup {
 public:
  /// A group of the leader alone.
  explicit ProcessGroup(const Batch& batch) : batch_(batch) {}
  /// A group of the leader and other ranks, which are to serve MakeMemberFactory of the same batch. `timeout`
  /// is that of RankGroup::MakeFarm.
  ProcessGroup(const Batch& batch, parallel::RankGroup& group, double timeout);

  /// Reconstructs, measures, reads the control back and replays it, and writes the run's folder. Whatever is wrong with
  /// the input is in the row; only OutputError is thrown, and StoppedError when the run was stopped with a
  /// checkpoint.
  results::RunRow Run(size_t index);

 private:
  void Reconstruct(size_t index, results::RunRow& row);

  const Batch& batch_;
  std::unique_ptr<parallel::TaskFarm> farm_;  // of several ranks; null: one
  const Job* job_ = nullptr;                  // of the run in progress
};

/// Workers of a group's other ranks: what a task belongs to is prepared when its first one arrives.
parallel::WorkerFactory MakeMemberFactory(const Batch& batch);

/// Makes the team of a thread or a leading rank.
using TeamFactory = std::function<std::shared_ptr<ProcessGroup>()>;

/// Workers whose task is the index of a run, and whose result is its row.
parallel::WorkerFactory MakeRunFactory(const TeamFactory& make_team);

/// Called with each row as it is finished, with all rows there are so far, in the order of the plan, and with how many
/// are still to come.
using RowCallback =
    std::function<void(const results::RunRow& row, const std::vector<results::RunRow>& all, size_t left)>;

/// Runs what is selected and not yet done, and returns the rows that there are, in the order of the plan. A run is done
/// when its folder holds a manifest of the same program version, configuration and input hashes. One that differs is
/// run again with `force`; else UsageError names what differs, before anything is run. All seed-1 runs go first, then
/// all of seed 2, and so on.
std::vector<results::RunRow> RunBatch(const Batch& batch, parallel::TaskFarm& farm, bool force,
                                      const RowCallback& on_row);

/// What the runs of a batch are spread over.
struct BatchWorkers {
  int threads = 0;        ///< runs at once in a plain process; 0: one per core
  int ranks_per_run = 0;  ///< 0: so many that all runs are done soonest
  double timeout = 0;     ///< for ranks that do not answer [s]; 0: none
};

/// Called by all ranks of a job, or by a plain process. Rank 0 calls `work` with a farm for RunBatch; the others
/// compute, and false is returned there.
bool WithRunFarm(Batch& batch, const BatchWorkers& workers, parallel::MpiSession& mpi,
                 const std::function<void(parallel::TaskFarm&)>& work);

}  // namespace retrace::runs
