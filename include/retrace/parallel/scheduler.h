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

/// Units [first, first + count) of a task.
struct Part {
  size_t task = 0;
  size_t first = 0;
  size_t count = 0;
};

struct SchedulerOptions {
  /// Batches that a worker holds beside the one it computes, so that it goes on without waiting for the master.
  size_t reserve = 2;
  /// A message should be worth so much computing [s]: where units are short, it carries several tasks or larger parts.
  /// Some 50 times what a message costs the master.
  double batch_seconds = 2e-4;
  /// What a message and its answer take of the master's time [s]. With many workers messages carry more, so that the
  /// master can serve all of them while each is busy with one.
  double message_seconds = 5e-6;
  /// While the master computes, it polls its messages about this often [s].
  double slice_seconds = 2e-4;
  /// So many units are computed side by side, in little more time than one: the master takes no fewer at once.
  size_t smallest_slice = 8;
  /// With more workers than this the master assigns work but computes none: its messages leave little time, and all
  /// others would wait for its own results.
  size_t largest_computing_master = 24;
};

/// The policy. Worker 0 is the master itself. Begin starts each list of tasks; the
/// estimated duration of units is kept between lists.
///
/// Tasks consist of units of about the same length that can be computed apart, but share some work that the first part
/// of a task does (samples of one start state and their feedforward offsets). So most tasks are assigned whole,
/// in their order. The last ones, two per worker, are halved: first all their heads, then, in pieces that become
/// smaller, their rests, whose shared work is known by then. Towards the end this leaves every worker something small
/// to continue with, and hardly any work is done twice.
class Scheduler {
 public:
  explicit Scheduler(size_t workers, const SchedulerOptions& options = {});

  /// A new list, by the units (at least 1) of each task. Nothing may be outstanding.
  void Begin(std::span<const size_t> units);

  struct Assignment {
    size_t worker = 0;
    std::vector<Part> parts;  ///< in the order in which they are to be computed
  };

  /// The next batch to be sent to one of the workers from 1 on; none when all have enough. To be called until it
  /// returns none, at the beginning and whenever a batch came back.
  std::optional<Assignment> Assign();

  /// What the master computes now, when no message is waiting: a part that is short. Counts as outstanding.
  std::optional<Part> NextHere();

  /// The oldest outstanding batch of a worker came back after so much computing [s]; 0: unknown.
  void Finished(size_t worker, double seconds);

  /// From now on only work before this task is begun: what comes after it is of no use once it has failed.
  void StopAt(size_t task);

  size_t outstanding() const { return outstanding_; }  ///< batches, of all workers
  size_t outstanding(size_t worker) const { return held_[worker].size(); }
  size_t units_left() const { return units_left_; }      ///< not yet assigned
  double unit_seconds() const { return unit_seconds_; }  ///< estimate; 0: nothing measured yet

 private:
  struct Piece {
    size_t task;
    size_t first;
    size_t end;
  };
  struct Held {
    std::vector<Part> parts;
    size_t units;
  };

  std::vector<Part> Take();
  std::optional<Part> TakeRest(size_t limit);
  size_t Share(size_t times) const;
  size_t Worthwhile() const;
  bool master_computes() const { return held_.size() == 1 || held_.size() <= options_.largest_computing_master; }
  void Hold(size_t worker, std::vector<Part> parts);
  void Queue(size_t worker);

  SchedulerOptions options_;
  std::vector<std::deque<Held>> held_;       // (workers) oldest first
  std::vector<std::deque<size_t>> waiting_;  // (held batches) workers that may be asked for more, oldest first
  std::deque<Piece> begins_;                 // whole tasks and heads, in order
  std::deque<Piece> rests_;                  // of the halved tasks, in order
  std::vector<bool> known_;                  // (tasks) a part of it came back
  std::vector<Part> here_;                   // what the master took and has not yet computed, last first
  size_t outstanding_ = 0;
  size_t units_left_ = 0;
  double unit_seconds_ = 0;
};

/// How many ranks each of several runs should get, so that all of them are done soonest: a search on more ranks takes
/// less time but keeps them less busy, the more so the fewer samples it draws in an iteration (tests/bench/SCALING.md
/// has the simulation that this is fitted to).
int ChooseRanksPerRun(int ranks, size_t runs, int samples);

}  // namespace retrace::parallel
