#include "retrace/planning/segments/segment_tracking.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "retrace/control/command_recorder.h"
#include "retrace/control/control.h"
#include "retrace/control/cutting.h"
#include "retrace/control/feedback.h"
#include "retrace/io/cpu_time.h"
#include "retrace/methods/tracking/controller.h"
#include "retrace/methods/tracking/problem.h"
#include "retrace/metrics/gates.h"
#include "retrace/metrics/posture.h"
#include "retrace/planning/segments/joined_control.h"
#include "retrace/runs/libraries/control_library.h"
#include "retrace/task/task.h"

namespace retrace::runs {
namespace {

/// A body that is to stay upright has gone down.
struct WentDown {};

/// A controller that counts steps from one of the whole motion on, and knows of its own character alone.
class From final : public control::Controller {
 public:
  /// @param low height of the root below which it throws WentDown [m]
  /// @param restarts steps of the whole motion at which it is restarted besides
  From(control::Controller& controller, const character::Character& character, int first_step, double time_step,
       double low, std::span<const int> restarts)
      : controller_(controller),
        layout_(character, simulation::Environment()),
        root_(static_cast<size_t>(character.root)),
        first_step_(first_step),
        time_step_(time_step),
        low_(low),
        restarts_(restarts) {}

  void Command(const control::StepContext& now, std::span<simulation::JointCommand> commands) override {
    const int step = now.step - first_step_;
    own_ = now.layout.StateOf(now.state, now.character);
    if (own_[root_].position.y() <= low_) throw WentDown();
    controller_.Command({step, step * time_step_, own_, layout_, 0}, commands);
  }
  bool RestartsAt(int step) override {
    return controller_.RestartsAt(step - first_step_) ||
           std::find(restarts_.begin(), restarts_.end(), step) != restarts_.end();
  }

 private:
  control::Controller& controller_;
  simulation::Layout layout_;
  size_t root_;
  int first_step_;
  double time_step_, low_;
  std::span<const int> restarts_;
  character::State own_;
};

/// The fragments of another character, cut at these steps, and up to where its end is shown: a replay has none beyond.
std::vector<control::Fragment> SplitForReplay(const SegmentProblem& problem, size_t companion, std::vector<int> steps) {
  const size_t character = companion + (companion >= problem.place ? 1 : 0);
  std::vector<control::Fragment> fragments = problem.companions[companion].fragments;
  for (const control::KinematicEnding& ending : problem.endings) {
    if (ending.character != character) continue;
    std::erase_if(steps, [&](int step) { return step >= ending.step; });
    fragments = control::Truncate(ending.step, fragments);
  }
  return control::SplitAt(steps, fragments);
}

}  // namespace

FoundSegment TrackSegment(const SegmentProblem& problem) {
  const double begin = io::ThreadCpuSeconds();
  const Configuration& configuration = problem.configuration;
  const character::ReferenceMotion motion(problem.character, kCompositionFrame, problem.poses,
                                          configuration.task.reference.velocity_interval);
  tracking::Options options = configuration.tracking;
  options.perturbation = 0;
  options.candidates = 0;
  simulation::WorldOptions known = problem.world;  // to the controller: nothing that moves freely
  known.contact_scale.clear();
  known.environment.bodies.clear();
  const tracking::PreparedReference prepared = tracking::PrepareReference(motion, known, options);
  const double h = problem.world.time_step;
  const int steps = static_cast<int>(std::floor(motion.duration() / h + 1e-6));
  tracking::Problem tracked;
  tracked.task.character = &problem.character;
  tracked.task.reference = &motion;
  tracked.task.world = known;
  tracked.task.schedule.steps = {0, steps};
  tracked.tracked = &prepared.motion;
  tracked.options = options;
  tracked.flights = prepared.flight.flights;
  tracking::TrackingController controller(tracked);

  const auto root = static_cast<size_t>(problem.character.root);
  const double low = problem.lowest_root.value_or(kStandingRoot * problem.character.bodies[root].rest_position.y());
  From from(controller, problem.character, problem.first_step, h, low, problem.restarts);
  control::CommandRecorder recorder(from);
  std::vector<const character::Character*> characters;
  std::vector<control::Controller*> controllers;
  // All are restarted where the fragments begin (ImpactSimulation::SceneOf).
  std::vector<int> restarts;
  for (int step = 0; step < steps; step += controller.fragment_steps()) restarts.push_back(problem.first_step + step);
  restarts.push_back(problem.first_step + steps);
  std::vector<std::vector<control::Fragment>> fragments;
  for (const sampling::CoSimulated& companion : problem.companions) {
    characters.push_back(companion.character);
    fragments.push_back(problem.restarts_companions ? SplitForReplay(problem, fragments.size(), restarts)
                                                    : companion.fragments);
  }
  std::vector<control::OpenLoop> others(fragments.begin(), fragments.end());
  for (control::OpenLoop& other : others) controllers.push_back(&other);
  const auto place = static_cast<std::ptrdiff_t>(problem.place);
  characters.insert(characters.begin() + place, &problem.character);
  controllers.insert(controllers.begin() + place, &recorder);
  FoundSegment way;
  control::Trajectory whole;
  try {
    whole = control::Simulate(characters, problem.world, problem.start, controllers, problem.first_step, steps,
                              problem.pushes, problem.endings);
  } catch (const WentDown&) {
    way.cpu_seconds = io::ThreadCpuSeconds() - begin;
    return way;
  }
  way.end_state = whole.states.back();
  way.end = control::Fingerprint(way.end_state);
  way.fragments = recorder.TakeFragments();
  way.reached = static_cast<double>(whole.num_steps()) * h;
  if (characters.size() > 1) {
    whole = control::TrajectoryOf(whole, simulation::Layout(characters, problem.world.environment), problem.place);
  }
  way.reached_end = !whole.diverged &&
                    metrics::Evaluate(problem.character, whole, motion, steps * h, configuration.task.gates).success();
  way.reached_end = way.reached_end && std::all_of(whole.states.begin(), whole.states.end(),
                                                   [&](const auto& state) { return state[root].position.y() > low; });
  way.cpu_seconds = io::ThreadCpuSeconds() - begin;
  return way;
}

}  // namespace retrace::runs
