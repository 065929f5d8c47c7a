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

/// A controller that counts steps from one of the whole motion on, and knows of its own character alone.
class From final : public control::Controller {
 public:
  From(control::Controller& controller, const character::Character& character, int first_step, double time_step)
      : controller_(controller),
        layout_(character, simulation::Environment()),
        first_step_(first_step),
        time_step_(time_step) {}

  void Command(const control::StepContext& now, std::span<simulation::JointCommand> commands) override {
    const int step = now.step - first_step_;
    own_ = now.layout.StateOf(now.state, now.character);
    controller_.Command({step, step * time_step_, own_, layout_, 0}, commands);
  }
  bool RestartsAt(int step) override { return controller_.RestartsAt(step - first_step_); }

 private:
  control::Controller& controller_;
  simulation::Layout layout_;
  int first_step_;
  double time_step_;
  character::State own_;
};

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

  From from(controller, problem.character, problem.first_step, h);
  control::CommandRecorder recorder(from);
  std::vector<const character::Character*> characters = {&problem.character};
  std::vector<control::Controller*> controllers = {&recorder};
  // All are restarted where the fragments begin (ImpactSimulation::SceneOf).
  std::vector<int> restarts;
  for (int step = 0; step < steps; step += controller.fragment_steps()) restarts.push_back(problem.first_step + step);
  restarts.push_back(problem.first_step + steps);
  std::vector<std::vector<control::Fragment>> fragments;
  for (const sampling::CoSimulated& companion : problem.companions) {
    characters.push_back(companion.character);
    fragments.push_back(control::SplitAt(restarts, companion.fragments));
  }
  std::vector<control::OpenLoop> others(fragments.begin(), fragments.end());
  for (control::OpenLoop& other : others) controllers.push_back(&other);
  control::Trajectory whole =
      control::Simulate(characters, problem.world, problem.start, controllers, problem.first_step, steps);

  FoundSegment way;
  way.end_state = whole.states.back();
  way.end = control::Fingerprint(way.end_state);
  way.fragments = recorder.TakeFragments();
  way.reached = static_cast<double>(whole.num_steps()) * h;
  if (characters.size() > 1) {
    whole = control::TrajectoryOf(whole, simulation::Layout(characters, problem.world.environment), 0);
  }
  way.reached_end = !whole.diverged &&
                    metrics::Evaluate(problem.character, whole, motion, steps * h, configuration.task.gates).success();
  const auto root = static_cast<size_t>(problem.character.root);
  const double low = kStandingRoot * problem.character.bodies[root].rest_position.y();
  way.reached_end = way.reached_end && std::all_of(whole.states.begin(), whole.states.end(),
                                                   [&](const auto& state) { return state[root].position.y() > low; });
  way.cpu_seconds = io::ThreadCpuSeconds() - begin;
  return way;
}

}  // namespace retrace::runs
