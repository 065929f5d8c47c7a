#include "retrace/runs/stored/manifest.h"

#include <nlohmann/json.hpp>
#include <utility>

namespace retrace::runs {

io::Json BeginManifest(const std::string& program, const std::string& status) {
  return {{"format", results::kRunFormat}, {"version", 2}, {"program", program}, {"status", status}};
}

io::Json DescribeWorkers(bool ranks, const parallel::TaskFarm& farm) {
  return {{"kind", ranks ? "ranks" : "threads"}, {"count", farm.num_workers()}};
}

void FinishWith(results::RunFolder& folder, io::Json manifest) {
  manifest["files"] = folder.Files();
  folder.Finish(manifest);
}

}  // namespace retrace::runs
