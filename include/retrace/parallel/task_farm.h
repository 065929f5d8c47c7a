/// One way to run many independent tasks: on the threads of this process, or on the ranks of an MPI job. Tasks and
/// results are bytes, the same ones in both cases, so that a result cannot depend on where it was computed.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "retrace/parallel/scheduler.h"

namespace retrace::parallel {

using Bytes = std::vector<std::byte>;

/// Text as bytes, and back.
inline Bytes ToBytes(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}
inline std::string ToText(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Computes the result of one task; `result` is empty on entry. A worker belongs to one thread and may keep scratch
/// memory between tasks; its result must depend on the task's bytes alone.
using Worker = std::function<void(std::span<const std::byte> task, Bytes& result)>;

/// Lets the messages of this rank go on. Workers whose tasks take milliseconds call it between two pieces of a task:
/// meanwhile others may wait for an answer, or for the next task. Does nothing on a thread that has no messages.
void PassMessages();

/// Makes a worker on the thread that will use it, before that thread's first task; it is destroyed on that thread too.
/// Called from several threads at once. What it throws counts as thrown by that task.
using WorkerFactory = std::function<Worker()>;

/// Receives results in the order in which they finish, on the thread that called Run.
using ResultHandler = std::function<void(size_t task_index, std::span<const std::byte> result)>;

/// Tasks that are packed when they are handed out. How large they are is up to whoever knows what is in them: CutGroups
/// cuts work to size for a farm. All members are called on the thread that called Run.
class Work {
 public:
  virtual ~Work() = default;
  virtual size_t num_tasks() const = 0;
  /// The task's bytes; what was handled before may be in them.
  virtual Bytes Pack(size_t task) = 0;
  virtual void Handle(size_t task, std::span<const std::byte> result) = 0;
  /// Called once per run when the workers have been given something to do: the place for what can wait until then.
  virtual void WhileBusy() {}
};

class TaskFarm {
 public:
  virtual ~TaskFarm() = default;

  /// Computes every task once; returns when all results have been handled. Tasks are begun in about the
  /// order of their indices. An exception thrown by a worker or by the handler ends the run: what was begun is
  /// finished, results not yet handled are dropped, and of all exceptions the one with the lowest task index is
  /// rethrown here. As every task before it is computed too, the lowest task that throws in a worker is the same one
  /// for any number of workers. The farm can be used again after an exception.
  virtual void Run(Work& work) = 0;

  /// The same for tasks that are packed already.
  void Run(std::span<const Bytes> tasks, const ResultHandler& on_result);

  /// Threads or ranks that compute.
  virtual int num_workers() const = 0;
};

/// A farm of `threads` (at least 1) threads that exist as long as the farm; 1 computes on the caller's thread.
std::unique_ptr<TaskFarm> MakeThreadFarm(int threads, const WorkerFactory& factory);

/// Ranks that work together: a master, rank 0, and the others, which compute for it.
class RankGroup {
 public:
  /// This process alone.
  RankGroup();
  ~RankGroup();
  RankGroup(const RankGroup&) = delete;
  RankGroup& operator=(const RankGroup&) = delete;

  int rank() const;
  int size() const;

  /// Master side (rank 0): a farm over all ranks, this one included, used on this thread only. While it exists the
  /// other ranks must be in Serve; its destructor releases them. One at a time. An exception thrown on another rank
  /// arrives with that rank and its host in front of the message: a retrace::Error with the same exit code, anything
  /// else as std::runtime_error.
  ///
  /// With a `timeout` above 0 [s], a rank that has work and does not answer for so long ends the run with
  /// StoppedError, which names it and its host. No later run of the farm can succeed then, and as waiting for
  /// that rank may never end, the others stay in Serve until the session ends the whole job, which it does when it is
  /// destroyed, with exit code 75. The same holds for the farm that this farm's master serves, if it does.
  std::unique_ptr<TaskFarm> MakeFarm(const WorkerFactory& factory, double timeout = 0);

  /// Worker side (other ranks): computes tasks until the master's farm is destroyed. Without work it sleeps.
  void Serve(const WorkerFactory& factory);

  /// From within a task that may outlast the master's timeout: reports to the master that this rank is working, ten
  /// times a second at most. Does nothing on rank 0.
  void ReportAlive();

 private:
  friend class MpiSession;
  struct State;
  std::unique_ptr<State> state_;
};

/// A job divided into groups of ranks: the part that concerns one rank.
struct RankGroups {
  std::unique_ptr<RankGroup> own;
  std::unique_ptr<RankGroup> leaders;  ///< the masters of all groups; null on other ranks
};

/// The MPI job that this process belongs to, or a job of one when it was not started by an MPI launcher. One per
/// process, made before any farm and destroyed last (it finalises MPI).
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

  /// Of RankGroup, for all ranks.
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
