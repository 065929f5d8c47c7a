#include "retrace/methods/idling/idle.h"

#include <algorithm>

#include "motion_tree.h"
#include "player.h"
#include "retrace/io/cpu_time.h"
#include "retrace/io/error.h"
#include "retrace/methods/idling/relax.h"

namespace retrace::idling {
namespace {

void CheckWorld(const Problem& problem) {
  if (const auto wrong = problem.options.Validate()) throw UsageError(*wrong);
  for (const simulation::Box& box : problem.world.environment.boxes) {
    // What is planned at one time would not hold at another.
    if (box.course)
      throw UsageError("found a world in which " + box.name + " moves on a course, expected none for idling");
  }
}

}  // namespace

Summary Run(const Problem& problem, const Hooks& hooks) {
  CheckWorld(problem);
  const double begin = io::ThreadCpuSeconds();
  Summary summary;
  for (const KeyPose& key : problem.keys) {
    summary.keys.push_back(Relax(problem, key));
    summary.planning_seconds += problem.options.settling_time;
  }
  const Support support = FindSupport(problem, summary.keys);
  summary.object = support.object();
  Simulator simulator(problem);
  summary.control = {problem.world, summary.keys[0].settled, {}};
  summary.end = summary.control.start;
  {
    // Paths take most of the time, and lead nowhere where the first key cannot be held.
    Simulator first(problem);
    if (!Player(problem, support, summary.keys, summary.paths, first).CanBegin()) {
      summary.status = Status::kDeadEnd;
      summary.simulated_seconds = summary.planning_seconds;
      summary.cpu_seconds = io::ThreadCpuSeconds() - begin;
      return summary;
    }
  }
  PathPlanner planner(problem, support, summary.keys, simulator);
  for (size_t from = 0; from < summary.keys.size(); ++from) {
    for (size_t to = 0; to < summary.keys.size(); ++to) {
      if (from == to) continue;
      std::vector<Path> paths = planner.FindPaths({from, to}, hooks.stop);
      summary.pairs.push_back({{from, to}, static_cast<int>(paths.size())});
      std::move(paths.begin(), paths.end(), std::back_inserter(summary.paths));
    }
  }
  summary.simulated_seconds = summary.planning_seconds;
  summary.planning_seconds += simulator.seconds();
  Player player(problem, support, summary.keys, summary.paths, simulator);
  summary.status = player.Play(hooks, summary);
  summary.simulated_seconds += simulator.seconds();
  summary.cpu_seconds = io::ThreadCpuSeconds() - begin;
  return summary;
}

}  // namespace retrace::idling
