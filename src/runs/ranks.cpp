#include "retrace/runs/ranks.h"

#include <algorithm>
#include <thread>

#include "retrace/io/number.h"
#include "retrace/parallel/scheduler.h"
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

std::string IdleRanksWarning(int ranks, const Configuration& configuration) {
  const Method method = configuration.run.method;
  if (method == Method::kTracking || method == Method::kWindows) return "";
  const int samples = configuration.sampling.samples;
  const double busy = parallel::BusyShare(ranks, samples);
  if (busy >= 0.5) return "";
  return std::to_string(ranks) + " ranks are more than a search with " + std::to_string(samples) +
         " samples per iteration keeps at work: about " + io::Fixed(100 * busy, 0) +
         " % of their time; with --best-of N they find N controls side by side, of which the best is kept";
}

io::Json DescribeWorkers(bool ranks, const parallel::TaskFarm& farm) {
  return {{"kind", ranks ? "ranks" : "threads"}, {"count", farm.num_workers()}};
}

}  // namespace retrace::runs
