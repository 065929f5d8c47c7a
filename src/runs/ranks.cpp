#include "retrace/runs/ranks.h"

#include <algorithm>
#include <thread>

#include "retrace/runs/identity.h"

namespace retrace::runs {

void PrepareRanks(parallel::MpiSession& mpi, double timeout, const std::function<io::Json()>& prepare) {
  const auto difference = [](const std::string& on_master, const std::string& here) {
    return Differences(io::ParseJson(on_master, "identity"), io::ParseJson(here, "identity"), " on rank 0 is ",
                       ", and here ");
  };
  mpi.Prepare([&] { return io::Dump(prepare()); }, difference, timeout);
}

std::unique_ptr<parallel::TaskFarm> MakeThreadFarm(int threads, const parallel::WorkerFactory& factory) {
  const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  return parallel::MakeThreadFarm(threads > 0 ? threads : cores, factory);
}

std::unique_ptr<parallel::TaskFarm> MakeFarm(parallel::MpiSession& mpi, int threads,
                                             const parallel::WorkerFactory& factory, double timeout) {
  return mpi.active() ? mpi.MakeFarm(factory, timeout) : MakeThreadFarm(threads, factory);
}

io::Json DescribeWorkers(bool ranks, const parallel::TaskFarm& farm) {
  return {{"kind", ranks ? "ranks" : "threads"}, {"count", farm.num_workers()}};
}

}  // namespace retrace::runs
