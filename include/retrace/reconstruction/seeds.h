/// One task farm for several searches that differ in their seed alone: workers of a farm are made for one problem, and
/// the ranks of an MPI job serve one farm.
#pragma once

#include <cstdint>

#include "retrace/parallel/task_farm.h"
#include "retrace/reconstruction/problem.h"

namespace retrace::reconstruction {

/// Makes workers for a SeededFarm of this problem, whose own seed does not matter. The problem must outlive them.
parallel::WorkerFactory MakeSeededWorkerFactory(const Problem& problem);

/// A view of a farm whose workers come from MakeSeededWorkerFactory: RunSearch with a problem of this seed gives the
/// same bytes as with a farm of that problem's own. The farm must outlive it.
class SeededFarm final : public parallel::TaskFarm {
 public:
  SeededFarm(parallel::TaskFarm& farm, uint64_t seed) : farm_(farm), seed_(seed) {}

  void Run(std::span<const parallel::Bytes> tasks, const parallel::ResultHandler& on_result) override;
  int num_workers() const override { return farm_.num_workers(); }

 private:
  parallel::TaskFarm& farm_;
  uint64_t seed_;
};

}  // namespace retrace::reconstruction
