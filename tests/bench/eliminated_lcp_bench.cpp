/// Time of one step of the human with implicit servos at 1/240 s: ODE's own LCP solver against the elimination of the
/// joint rows, the latter with and without AVX2. The CPU column is the one to read.
#include <benchmark/benchmark.h>

#include <cstdio>

#include "simulation/lcp_humanoid.h"

namespace retrace::simulation::testing {
namespace {

constexpr int kRollout = 24;  // steps that are measured again and again: 0.1 s, like a sample of the search

struct Scene {
  State (*start)();
  Pose (*target)();
  int warm_up;  // steps from the start to the state from which is measured
};

void Rollout(benchmark::State& bench, const Scene& scene) {
  Humanoid humanoid;
  humanoid.SetTargets(scene.target());
  humanoid.Set(scene.start());
  for (int i = 0; i < scene.warm_up; ++i) humanoid.Step();
  const State start = humanoid.Get();
  ThreadLcpStatistics() = {};
  int64_t contacts = 0;
  int64_t steps = 0;
  for (auto _ : bench) {
    if (steps % kRollout == 0) {
      humanoid.Set(start);
      ResetWarmStart();
    }
    contacts += humanoid.Step();
    ++steps;
  }
  const LcpStatistics& statistics = ThreadLcpStatistics();
  const double count = static_cast<double>(steps);
  bench.counters["contacts"] = static_cast<double>(contacts) / count;
  bench.counters["fallbacks"] = static_cast<double>(statistics.fallbacks) / count;
  bench.counters["rounds"] = static_cast<double>(statistics.iterations) / count;
}

constexpr Scene kStand = {Standing, StandPose, 24};
constexpr Scene kRoll = {Rolling, CurlPose, 150};
constexpr Scene kLie = {Lying, StandPose, 60};
constexpr Scene kAir = {Airborne, StandPose, 24};

void Stock(benchmark::State& bench, const Scene& scene) {
  SelectLcpSolver(LcpSolver::kStock);
  Rollout(bench, scene);
}

void Eliminated(benchmark::State& bench, const Scene& scene) {
  SelectLcpSolver(LcpSolver::kEliminated);
  if (!SelectLcpKernels(LcpKernels::kAvx2)) bench.SetLabel("no AVX2: baseline kernels");
  Rollout(bench, scene);
}

void EliminatedBaseline(benchmark::State& bench, const Scene& scene) {
  SelectLcpSolver(LcpSolver::kEliminated);
  SelectLcpKernels(LcpKernels::kBaseline);
  Rollout(bench, scene);
}

BENCHMARK_CAPTURE(Stock, stand, kStand)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(Eliminated, stand, kStand)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(EliminatedBaseline, stand, kStand)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(Stock, roll, kRoll)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(Eliminated, roll, kRoll)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(EliminatedBaseline, roll, kRoll)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(Stock, lie, kLie)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(Eliminated, lie, kLie)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(EliminatedBaseline, lie, kLie)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(Stock, air, kAir)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(Eliminated, air, kAir)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(EliminatedBaseline, air, kAir)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace retrace::simulation::testing

int main(int argc, char** argv) {
  dInitODE2(0);
  dAllocateODEDataForThread(dAllocateMaskAll);
  if (const auto reason = retrace::simulation::ProveEliminatedSolver()) {
    std::fprintf(stderr, "eliminated_lcp_bench: %s\n", reason->c_str());
    return 1;
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}
