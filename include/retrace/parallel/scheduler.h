/// The policy of the MPI farm: which worker computes which part of a list of tasks, and when the part is sent. It uses
/// neither messages nor clocks, only what was assigned and what came back, so that the simulation of tests/bench drives
/// the same code with ranks that do not exist.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

namespace retrace::parallel {

struct SchedulerOptions {
  /// Batches that a worker holds beside the one it computes, so that it goes on without waiting for the master.
  size_t reserve = 2;
  /// A message should be worth so much computing [s]: where tasks are short, it carries several. Some 50 times what a
  /// message costs the master.
  double batch_seconds = 2e-4;
  /// What a message and its answer take of the master's time [s]. With many workers messages carry more, so that the
  /// master can serve all of them while each is busy with one.
  double message_seconds = 5e-6;
  /// With more workers than this the master assigns work but computes none: its messages leave little time, and all
  /// others would wait for its own results.
  size_t largest_computing_master = 24;
};

/// The policy. Worker 0 is the master itself. Begin starts each list of tasks, which are assigned in their order; the
/// estimated duration of tasks is kept between lists.
class Scheduler {
 public:
  explicit Scheduler(size_t workers, const SchedulerOptions& options = {});

  /// A new list of so many tasks. Nothing may be outstanding.
  void Begin(size_t tasks);

  struct Assignment {
    size_t worker = 0;
    std::vector<size_t> tasks;  ///< in the order in which they are to be computed
  };

  /// The next batch to be sent to one of the workers from 1 on; none when all have enough. To be called until it
  /// returns none, at the beginning and whenever a batch came back.
  std::optional<Assignment> Assign();

  /// What the master computes now, when no message is waiting. Counts as outstanding.
  std::optional<size_t> NextHere();

  /// The oldest outstanding batch of a worker came back after so much computing [s]; 0: unknown.
  void Finished(size_t worker, double seconds);

  /// From now on only tasks before this one are begun: what comes after it is of no use once it has failed.
  void StopAt(size_t task);

  size_t num_computing() const { return held_.size() - (master_computes() ? 0 : 1); }
  size_t outstanding() const { return outstanding_; }  ///< batches, of all workers
  size_t outstanding(size_t worker) const { return held_[worker].size(); }
  size_t tasks_left() const { return tasks_.size(); }    ///< not yet assigned
  double task_seconds() const { return task_seconds_; }  ///< estimate; 0: nothing measured yet

 private:
  std::vector<size_t> Take();
  bool master_computes() const { return held_.size() == 1 || held_.size() <= options_.largest_computing_master; }
  void Hold(size_t worker, size_t tasks);
  void Queue(size_t worker);

  SchedulerOptions options_;
  std::vector<std::deque<size_t>> held_;     // (workers) tasks of each batch, oldest first
  std::vector<std::deque<size_t>> waiting_;  // (held batches) workers that may be asked for more, oldest first
  std::deque<size_t> tasks_;                 // left, in order
  std::deque<size_t> here_;                  // what the master took and has not yet computed
  size_t outstanding_ = 0;
  double task_seconds_ = 0;
};

/// Units [first, first + count) of a group.
struct Part {
  size_t group = 0;
  size_t first = 0;
  size_t count = 0;
};

/// How large tasks are.
struct CutOptions {
  size_t most_units = 64;  ///< of a task
  size_t most_groups = 8;  ///< of which a task has units: as many units as are computed side by side
};

/// Cuts groups of units into tasks that so many workers take one after the other and finish at about the same time. All
/// units take about as long, those of one task being computed side by side, whatever their groups; the units of a group
/// share some work, which each task repeats that has some of them but not the first. So tasks are as large as they may
/// be, of whole groups, as long as there is one for each worker; what is left is shared out in equal parts.
///
/// @param groups how many units each has, at least 1
/// @return the parts of each task, in the order of the groups
std::vector<std::vector<Part>> CutGroups(std::span<const size_t> groups, size_t workers,
                                         const CutOptions& options = {});

/// About which share of the time the ranks of one search are at work, where an iteration has so many samples
/// (scripts/experiments/scaling/RESULTS.md has the simulation that this is fitted to, to a tenth or so).
double BusyShare(int ranks, int samples);

/// How many ranks each of several runs should get, so that all of them are done soonest: a search on more ranks takes
/// less time but keeps them less busy, the more so the fewer samples it draws in an iteration.
int ChooseRanksPerRun(int ranks, size_t runs, int samples);

}  // namespace retrace::parallel
