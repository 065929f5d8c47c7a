/// Speed of feedback: its torques at a node, the linear system of a node, a step of the regulator.
#include <benchmark/benchmark.h>

#include "control/sample_control.h"
#include "retrace/control/feedback_law.h"
#include "retrace/methods/stabilization/reindexing.h"
#include "retrace/methods/stabilization/stabilize.h"
#include "retrace/parallel/task_farm.h"
#include "retrace/parallel/thread_farm.h"

namespace retrace::bench {
namespace {

using character::Human;

/// Standing for a second, stabilized.
struct Stabilized {
  Stabilized() : problem(stabilization::MakeProblem(Human(), control, {}, {})) {
    farm = parallel::MakeThreadFarm(1, stabilization::MakeWorkerFactory(problem));
    feedback = stabilization::Run(problem, *farm).feedback;
  }
  control::OpenLoopControl control = control::Standing(10);
  stabilization::Problem problem;
  std::unique_ptr<parallel::TaskFarm> farm;
  control::Feedback feedback;
};

Stabilized& Standing() {
  static Stabilized standing;
  return standing;
}

void Torques(benchmark::State& bench) {
  Stabilized& standing = Standing();
  control::FeedbackLaw law(Human(), standing.feedback);
  const character::State& state = standing.problem.nominal.states[30];  // of another node: not the nominal one
  for (auto _ : bench) benchmark::DoNotOptimize(law.TorquesAt(10, state).data());
}

void LinearSystemOfANode(benchmark::State& bench) {
  Stabilized& standing = Standing();
  double cpu_seconds = 0;
  for (auto _ : bench) {
    stabilization::Linearize(
        standing.problem, *standing.farm, 20, 21,
        [](int, optimization::LinearStep step) { benchmark::DoNotOptimize(step.state.data()); }, cpu_seconds);
  }
}

void RegulatorStep(benchmark::State& bench) {
  Stabilized& standing = Standing();
  optimization::LinearStep step;
  double cpu_seconds = 0;
  stabilization::Linearize(
      standing.problem, *standing.farm, 20, 21, [&](int, optimization::LinearStep found) { step = std::move(found); },
      cpu_seconds);
  optimization::RiccatiRecursion regulator(stabilization::CostOf(Human(), {}));
  Eigen::MatrixXd gain;
  for (auto _ : bench) benchmark::DoNotOptimize(regulator.StepBack(step, gain));
}

/// A second of standing under feedback, after a push at its start; with a choice of nodes ten times, or without.
void Second(benchmark::State& bench, int candidates) {
  Stabilized& standing = Standing();
  stabilization::ReindexingOptions options;
  options.candidates = candidates;
  options.enough = 0;  // always choose
  simulation::World world(Human(), standing.control.world);
  character::State start = standing.control.start;
  for (character::BodyState& body : start) body.linear_velocity.z() += 0.1;
  control::SimulationScratch scratch;
  for (auto _ : bench) {
    stabilization::ReindexingController controller(
        {&Human(), &standing.control, standing.control.fragments, &standing.feedback}, options);
    control::Controller* const pointer = &controller;
    world.SetState(start);
    benchmark::DoNotOptimize(control::Simulate(world, {&pointer, 1}, 0, 240, {}, scratch, [](int) {}));
  }
}

BENCHMARK(Torques)->Unit(benchmark::kMicrosecond);
BENCHMARK(LinearSystemOfANode)->Unit(benchmark::kMillisecond);
BENCHMARK(RegulatorStep)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Second, ByTime, 0)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Second, ChosenNodes, 20)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace retrace::bench

BENCHMARK_MAIN();
