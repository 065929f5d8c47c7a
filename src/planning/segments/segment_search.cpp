#include "retrace/planning/segments/segment_search.h"

#include <algorithm>
#include <utility>

#include "retrace/control/cutting.h"
#include "retrace/methods/sampling/search.h"
#include "retrace/parallel/rank_report.h"
#include "retrace/parallel/task_farm.h"
#include "retrace/parallel/thread_farm.h"
#include "retrace/planning/segments/joined_control.h"

namespace retrace::runs {
namespace {

constexpr int kMostSamples = 1000000, kMostSaved = 100000;

}  // namespace

FoundSegment SearchSegment(const SegmentProblem& problem) {
  Configuration configuration = problem.configuration;
  configuration.sampling.samples = std::min(configuration.sampling.samples * problem.effort, kMostSamples);
  configuration.sampling.selection.saved =
      std::min(configuration.sampling.selection.saved * problem.effort, kMostSaved);
  configuration.sampling.max_back_offs = std::min(configuration.sampling.max_back_offs, problem.most_back_offs);
  configuration.sampling.budget *= problem.effort * problem.share_of_budget;
  const character::ReferenceMotion reference(problem.character, kCompositionFrame, problem.poses,
                                             configuration.task.reference.velocity_interval);
  task::Options options = configuration.task;
  options.world.environment = problem.world.environment;
  options.world.time_step = problem.world.time_step;
  task::Preparation preparation = task::Prepare(options, reference);
  preparation.task.world = problem.world;
  preparation.task.start = problem.start;
  sampling::Problem search{preparation.task, configuration.sampling};
  search.companions = problem.companions;
  for (sampling::CoSimulated& companion : search.companions) {
    for (control::Fragment& fragment : companion.fragments) fragment.first_step -= problem.first_step;
  }
  const auto farm = parallel::MakeThreadFarm(problem.threads, sampling::MakeWorkerFactory(search));
  sampling::Hooks hooks;
  hooks.stop = problem.stop;
  sampling::Summary summary = sampling::Run(search, *farm, hooks);
  FoundSegment way;
  way.reached_end = summary.reached_end();
  way.cpu_seconds = summary.cpu_seconds;
  way.reached = summary.control.duration();
  way.end = control::Fingerprint(summary.end);
  way.end_state = std::move(summary.end);
  way.fragments = std::move(summary.control.fragments);
  for (control::Fragment& fragment : way.fragments) fragment.first_step += problem.first_step;
  return way;
}

control::Trajectory SimulateSegment(const SegmentProblem& problem, std::span<const control::Fragment> fragments) {
  std::vector<int> restarts;  // of all in the world (ImpactSimulation::SceneOf)
  for (const control::Fragment& fragment : fragments) restarts.push_back(fragment.first_step);
  const int end = fragments.empty() ? problem.first_step : fragments.back().end_step();
  restarts.push_back(end);
  std::vector<const character::Character*> characters = {&problem.character};
  std::vector<std::vector<control::Fragment>> others;
  for (const sampling::CoSimulated& companion : problem.companions) {
    characters.push_back(companion.character);
    others.push_back(control::SplitAt(restarts, companion.fragments));
  }
  control::OpenLoop own(fragments);
  std::vector<control::OpenLoop> open_loops(others.begin(), others.end());
  std::vector<control::Controller*> controllers = {&own};
  for (control::OpenLoop& other : open_loops) controllers.push_back(&other);
  return control::Simulate(characters, problem.world, problem.start, controllers, problem.first_step,
                           end - problem.first_step, problem.pushes, problem.endings);
}

}  // namespace retrace::runs
