/// The MPI job that this process belongs to: its beginning, its groups of ranks, and its end.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "retrace/parallel/rank_group.h"
#include "retrace/parallel/task_farm.h"

namespace retrace::parallel {

/// The MPI job that this process belongs to, or a job of one when it was not started by an MPI launcher. One per
/// process, made before any farm and destroyed last (it finalizes MPI).
///
/// A job ends well when every rank leaves its session: each waits there for the others, rank 0 no longer than the
/// timeout of Prepare, after which it names the rank that does not come and ends the job with exit code 75. A rank
/// that fails while others wait for it must call Abort; a session destroyed by an exception that passes through it does
/// so itself, as waiting for the others could last for ever, but then with the exit code of a bug.
class MpiSession {
 public:
  /// Throws UsageError in a job of several ranks whose messages this build cannot exchange: it has no MPI, or the
  /// launcher belongs to another MPI. (Else each rank would do the whole job, and all would write the same results.)
  MpiSession(int* argc, char*** argv);
  ~MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;

  /// True when the build has MPI and the process was started by a launcher with it (also with `-n 1`).
  bool active() const;
  int rank() const { return job().rank(); }
  int size() const { return job().size(); }
  static bool built_with_mpi();

  /// All ranks.
  RankGroup& job();
  const RankGroup& job() const;

  /// Cuts the job into `count` groups of consecutive ranks, whose sizes differ by one at most. Called by all ranks at
  /// once. The groups must not outlive the session.
  RankGroups Split(int count);

  /// How all ranks begin, at once: each does `prepare` (reads its files), which returns what it found, as text. When
  /// one fails, all throw what the first of them threw, with its rank and host in front (unless that is rank 0), so
  /// that all can leave. When one found something else than rank 0 did, all throw InputError with what `difference`
  /// returns for the two. When one does not come within `timeout` seconds after rank 0 (0: without end), StoppedError
  /// on rank 0, as in MakeFarm.
  using Difference = std::function<std::string(const std::string& on_master, const std::string& here)>;
  void Prepare(const std::function<std::string()>& prepare, const Difference& difference, double timeout = 0);

  /// As RankGroup, for all ranks.
  std::unique_ptr<TaskFarm> MakeFarm(const WorkerFactory& factory, double timeout = 0) {
    return job().MakeFarm(factory, timeout);
  }
  void Serve(const WorkerFactory& factory) { job().Serve(factory); }

  /// Ends the whole job at once with an exit code, for a rank that fails while the others wait.
  [[noreturn]] void Abort(int exit_code);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace retrace::parallel
