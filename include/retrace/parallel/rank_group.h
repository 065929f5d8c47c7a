/// Ranks of an MPI job that work together, and the task farm over them. Where there is no MPI a group is this process.
#pragma once

#include <memory>

#include "retrace/parallel/task_farm.h"

namespace retrace::parallel {

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

}  // namespace retrace::parallel
