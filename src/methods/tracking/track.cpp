#include "retrace/methods/tracking/track.h"

#include <algorithm>

#include "candidate_search.h"
#include "recorder.h"
#include "retrace/control/time_grid.h"
#include "retrace/io/cpu_time.h"
#include "retrace/io/error.h"
#include "retrace/io/number.h"
#include "retrace/metrics/gates.h"
#include "retrace/parallel/thread_farm.h"

namespace retrace::tracking {
namespace {

/// The controller as it is, from beginning to end.
Summary Follow(const Problem& problem, const Hooks& hooks) {
  const double begin = io::ThreadCpuSeconds();
  const character::Character& character = *problem.task.character;
  TrackingController controller(problem);
  Recorder recorder(controller);
  control::Controller* const controllers[] = {&recorder};
  Summary summary;
  summary.control = {problem.task.world, controller.StartState(), {}};
  simulation::World world(character, problem.task.world);
  world.SetState(summary.control.start);
  control::SimulationScratch scratch;
  character::State reference;
  const int patience = control::TimeGrid{problem.time_step()}.Nearest(kPatience);
  int outside = 0;  // steps since it exceeded the tolerances
  summary.end = summary.control.start;
  while (summary.status == Status::kReachedEnd && summary.control.num_steps() < problem.num_steps()) {
    const int first = summary.control.num_steps();
    const int steps = std::min(controller.fragment_steps(), problem.num_steps() - first);
    if (first > 0) world.Restart(0);
    const bool sane = control::Simulate(world, controllers, first, steps, problem.pushes, scratch, [&](int step) {
      world.GetState(summary.end);
      problem.task.reference->StateAt((step + 1) * problem.time_step(), reference);
      const double ratio = metrics::LargestGateRatio(character, summary.end, reference, problem.task.gates);
      if (ratio > 1 || outside > 0) ++outside;
    });
    control::Fragment& fragment = summary.control.fragments.emplace_back();
    fragment.first_step = first;
    fragment.commands = recorder.Take();
    fragment.num_steps = static_cast<int>(fragment.commands.size());
    if (!sane) summary.status = Status::kDiverged;
    if (sane && outside > patience) summary.status = Status::kFell;
    if (hooks.on_progress) hooks.on_progress(summary.control.duration());
    const bool goes_on = summary.status == Status::kReachedEnd && summary.control.num_steps() < problem.num_steps();
    if (goes_on && hooks.stop && hooks.stop()) summary.status = Status::kStopped;
  }
  summary.records = controller.records();
  summary.cpu_seconds = io::ThreadCpuSeconds() - begin;
  return summary;
}

void CountSolutions(Summary& summary) {
  for (const SolveRecord& record : summary.records) {
    summary.unsolved += record.status == optimization::Status::kOptimal ? 0 : 1;
    summary.solve_cpu_seconds += record.cpu_seconds;
  }
}

}  // namespace

parallel::WorkerFactory MakeWorkerFactory(const Problem& problem) {
  return MakeCandidateWorkerFactory(problem);
}

Summary Run(const Problem& problem, parallel::TaskFarm& farm, const Hooks& hooks) {
  if (const auto wrong = problem.options.Validate()) throw UsageError(*wrong);
  Summary summary;
  if (problem.options.candidates > 0) summary = SearchCandidates(problem, farm, hooks);
  // Where every candidate diverges at once there is nothing to show: what the controller does by itself is shown then.
  if (summary.control.fragments.empty()) summary = Follow(problem, hooks);
  CountSolutions(summary);
  return summary;
}

Summary Run(const Problem& problem, const Hooks& hooks) {
  return Run(problem, *parallel::MakeThreadFarm(1, MakeWorkerFactory(problem)), hooks);
}

}  // namespace retrace::tracking
