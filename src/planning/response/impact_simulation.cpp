#include "retrace/planning/response/impact_simulation.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "retrace/control/cutting.h"
#include "retrace/matching/motion_library.h"
#include "retrace/planning/segments/falling.h"
#include "retrace/planning/segments/frame_sequence.h"
#include "retrace/planning/segments/joined_control.h"
#include "retrace/planning/segments/rest.h"

namespace retrace::runs {
namespace {

/// For how long after the beginning of the impact the run's own control goes on [s]. In the paper the second simulation
/// begins there, also while the impact lasts; until the delay is over its servos follow the motion before.
double UntilExit(const ResponseProblem& problem) {
  return problem.settings.paper ? 0 : std::max(problem.settings.delay, problem.impact.duration);
}

}  // namespace

ImpactSimulation::ImpactSimulation(const ResponseProblem& problem)
    : problem_(problem),
      impact_(StepOf(problem.impact.start)),
      exit_(std::min(StepAfter(problem.impact.start + UntilExit(problem)), problem.control.num_steps())),
      others_(problem.run.scene.fragments) {
  // Without others and things it can be simulated without the impact.
  const simulation::Layout layout = problem.run.scene.layout();
  if (problem.settings.kinematic && !problem.has_others() && layout.num_free_bodies() == 0) FindOwnMotion();
}

int ImpactSimulation::StepOf(double time) const {
  return static_cast<int>(std::lround(time / h()));
}

int ImpactSimulation::StepAfter(double time) const {
  return static_cast<int>(std::ceil(time / h() - 1e-9));
}

void ImpactSimulation::Simulate(int steps) {
  control::OpenLoop open_loop(problem_.control.fragments);
  whole_ = SimulateAll(problem_.run.scene.start, open_loop, 0, steps);
  naive_ = OneOf(whole_, ResponseProblem::kReceiver);
}

void ImpactSimulation::SimulateLimp(int steps, double friction) {
  if (steps <= exit_ || static_cast<int>(whole_.num_steps()) < exit_) return;
  const std::vector<control::Fragment> limp = RagdollFromExit(steps);
  control::OpenLoop open_loop(limp);
  control::Trajectory rest = SimulateAll(WholeState(exit_), open_loop, exit_, steps - exit_, friction);
  const auto from = static_cast<size_t>(exit_);
  whole_.states.resize(from);
  whole_.contacts.resize(from);
  whole_.torques.resize(from);
  std::move(rest.states.begin(), rest.states.end(), std::back_inserter(whole_.states));
  std::move(rest.contacts.begin(), rest.contacts.end(), std::back_inserter(whole_.contacts));
  std::move(rest.torques.begin(), rest.torques.end(), std::back_inserter(whole_.torques));
  whole_.diverged = rest.diverged;
  naive_ = OneOf(whole_, ResponseProblem::kReceiver);
}

const character::State& ImpactSimulation::NaiveState(int step) const {
  return naive_.states[std::min(static_cast<size_t>(step), naive_.states.size() - 1)];
}

const character::State& ImpactSimulation::WholeState(int step) const {
  return whole_.states[std::min(static_cast<size_t>(step), whole_.states.size() - 1)];
}

control::Trajectory ImpactSimulation::OwnFromExit() const {
  control::Trajectory own;
  own.time_step = h();
  own.states.assign(naive_.states.begin() + std::min<std::ptrdiff_t>(exit_, std::ssize(naive_.states)),
                    naive_.states.end());
  return own;
}

control::Trajectory ImpactSimulation::OneOf(control::Trajectory whole, size_t character) const {
  if (!problem_.has_others()) return whole;
  return control::TrajectoryOf(whole, problem_.run.scene.layout(), character);
}

control::Trajectory ImpactSimulation::SimulateAll(const character::State& start, control::Controller& controller,
                                                  int first, int steps, std::optional<double> friction) const {
  const control::Scene& scene = problem_.run.scene;
  simulation::WorldOptions world = scene.world;
  world.friction = friction.value_or(world.friction);
  std::vector<const character::Character*> characters;
  std::vector<control::OpenLoop> open_loops(others_.begin(), others_.end());
  std::vector<control::Controller*> controllers;
  for (size_t c = 0; c < scene.characters.size(); ++c) {
    characters.push_back(&scene.characters[c]);
    controllers.push_back(c == ResponseProblem::kReceiver ? &controller : &open_loops[c]);
  }
  return control::Simulate(characters, world, start, controllers, first, steps, problem_.pushes, endings_of_others_);
}

control::Scene ImpactSimulation::SceneOf(const control::OpenLoopControl& control, bool searched) const {
  control::Scene scene = problem_.run.scene;
  scene.fragments = others_;
  scene.fragments[ResponseProblem::kReceiver] = control.fragments;
  scene.endings = endings_of_others_;
  if (control.ending) scene.endings.push_back(*control.ending);
  if (!searched) return scene;
  std::vector<int> steps;
  for (const control::Fragment& fragment : control.fragments) {
    if (fragment.first_step >= exit_) steps.push_back(fragment.first_step);
  }
  steps.push_back(control.num_steps());
  for (size_t c = 0; c < scene.fragments.size(); ++c) {
    if (c == ResponseProblem::kReceiver) continue;
    std::vector<int> own = steps;
    if (const control::KinematicEnding* const ending = scene.EndingOf(c)) {
      std::erase_if(own, [&](int step) { return step > ending->step; });  // nothing is simulated in vain
    }
    scene.fragments[c] = control::SplitAt(own, scene.fragments[c]);
  }
  return scene;
}

void ImpactSimulation::FindOwnMotion() {
  control::OpenLoopControl control = problem_.control;
  control.pushes = problem_.run.AllPushes();
  std::vector<character::Pose> poses;
  AppendStates(character(), control::Replay(character(), control).states, h(), poses);
  own_motion_.emplace(character(), kCompositionFrame, std::move(poses),
                      problem_.settings.configuration.task.reference.velocity_interval);
}

const character::ReferenceMotion& ImpactSimulation::MotionOf(const ResponseCandidate& candidate) const {
  if (candidate.own) return own_motion_ ? *own_motion_ : *problem_.run.characters[ResponseProblem::kReceiver].reference;
  return problem_.library.motions().ReferenceOf(candidate.motion);
}

void ImpactSimulation::PoseOf(const ResponseCandidate& candidate, double time, character::Pose& pose) const {
  RestingPoseAt(MotionOf(candidate), candidate.last, time, pose);
}

double ImpactSimulation::StandOf(const ResponseCandidate& candidate) const {
  return candidate.own || problem_.settings.paper ? 0 : problem_.settings.stand;
}

bool ImpactSimulation::GoesOnUntil(const ResponseCandidate& candidate) const {
  return problem_.settings.kinematic && candidate.own;
}

CrossfadeController ImpactSimulation::ServosOf(const ResponseCandidate& candidate, double gain) const {
  const double enters = problem_.impact.start + candidate.start;
  const double begins = problem_.settings.paper ? problem_.impact.start + problem_.settings.delay : exit_time();
  return CrossfadeController(character(), {*problem_.run.characters[ResponseProblem::kReceiver].reference, 0},
                             {MotionOf(candidate), candidate.time - enters}, std::min(begins, enters), enters, gain);
}

control::Trajectory ImpactSimulation::SecondSimulation(const ResponseCandidate& candidate, double gain,
                                                       double past) const {
  CrossfadeController servos = ServosOf(candidate, gain);
  return OneOf(SimulateAll(WholeState(exit_), servos, exit_, impact_ + StepOf(candidate.start + past) - exit_ + 1),
               ResponseProblem::kReceiver);
}

std::vector<control::Fragment> ImpactSimulation::RagdollFromExit(int end) const {
  std::vector<control::Fragment> fragments = control::Truncate(exit_, problem_.control.fragments);
  if (end <= exit_) return fragments;
  control::Fragment& limp = fragments.emplace_back();
  limp.first_step = exit_;
  limp.num_steps = end - exit_;
  limp.commands.push_back(HoldingWith(kRagdollStrength, character(), NaiveState(exit_)));
  return fragments;
}

}  // namespace retrace::runs
