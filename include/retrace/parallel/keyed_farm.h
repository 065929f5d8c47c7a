/// One task farm for several problems, one after the other: workers of a farm are made for one problem, and the ranks
/// of an MPI job serve one farm. Here every task begins with a number that says which problem it belongs to.
#pragma once

#include <cstdint>
#include <functional>

#include "retrace/parallel/task_farm.h"

namespace retrace::parallel {

/// Makes the worker of a problem.
using KeyedFactory = std::function<Worker(uint64_t key)>;

/// Workers for a KeyedFarm. Each keeps what `make` made for the latest key that it met.
WorkerFactory MakeKeyedFactory(const KeyedFactory& make);

/// A view of a farm whose workers come from MakeKeyedFactory, for the work of one problem. The farm must outlive it.
class KeyedFarm final : public TaskFarm {
 public:
  KeyedFarm(TaskFarm& farm, uint64_t key) : farm_(farm), key_(key) {}

  using TaskFarm::Run;
  void Run(Work& work) override;
  int num_workers() const override { return farm_.num_workers(); }

 private:
  TaskFarm& farm_;
  uint64_t key_;
};

}  // namespace retrace::parallel
