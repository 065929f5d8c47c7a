/// How long the search of a library takes: 28 windows of a motion beside 20,000 frames.
#include <benchmark/benchmark.h>

#include "matching/any_motion.h"
#include "retrace/matching/window_search.h"

namespace retrace::bench {
namespace {

void Search(benchmark::State& bench, bool early) {
  const matching::MotionLibrary library = matching::AnyLibrary(1, 110, 6);
  const std::vector<matching::Frame> query = matching::FramesOf(task::Motion(matching::AnyMotion(7), 1.5));
  std::vector<size_t> starts;
  for (size_t start = 8; start < 36; ++start) starts.push_back(start);
  const matching::WindowSearch search(library, query, starts);
  for (auto _ : bench) benchmark::DoNotOptimize(early ? search.Nearest() : search.NearestByBruteForce());
  bench.counters["frames"] = static_cast<double>(library.frames().size());
}

BENCHMARK_CAPTURE(Search, all_starts, true)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Search, brute_force, false)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace retrace::bench

BENCHMARK_MAIN();
