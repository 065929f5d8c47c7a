#include "retrace/parallel/rank_report.h"

#include <nlohmann/json.hpp>

#include "retrace/io/json_difference.h"
#include "retrace/parallel/thread_farm.h"

namespace retrace::parallel {

void PrepareRanks(MpiSession& mpi, double timeout, const std::function<io::Json()>& prepare) {
  const auto difference = [](const std::string& on_master, const std::string& here) {
    return io::Differences(io::ParseJson(on_master, "identity"), io::ParseJson(here, "identity"), " on rank 0 is ",
                           ", and here ");
  };
  mpi.Prepare([&] { return io::Dump(prepare()); }, difference, timeout);
}

std::unique_ptr<TaskFarm> MakeFarm(MpiSession& mpi, int threads, const WorkerFactory& factory, double timeout) {
  return mpi.active() ? mpi.MakeFarm(factory, timeout) : MakeThreadFarm(threads, factory);
}

}  // namespace retrace::parallel
