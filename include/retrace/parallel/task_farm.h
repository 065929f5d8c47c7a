/// Runs many independent tasks on the threads of this process or on the ranks of an MPI job. Tasks and
/// results are bytes, the same ones in both cases, so that a result cannot depend on where it was computed.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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

/// Tasks that are packed when they are handed out. The caller, who knows what is in them, chooses their size: CutGroups
/// cuts work to size for a farm. All members are called on the thread that called Run.
class Work {
 public:
  virtual ~Work() = default;
  virtual size_t num_tasks() const = 0;
  /// The task's bytes; what was handled before may be in them.
  virtual Bytes Pack(size_t task) = 0;
  virtual void Handle(size_t task, std::span<const std::byte> result) = 0;
  /// Called once per run when the workers have been given something to do: work that can wait until then belongs here.
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

}  // namespace retrace::parallel
