/// One drive after the other, in one world. Internal to the module.
#pragma once

#include "retrace/control/control.h"
#include "retrace/control/simulate.h"
#include "retrace/control/time_grid.h"
#include "retrace/methods/idling/problem.h"

namespace retrace::idling {

class Simulator {
 public:
  explicit Simulator(const Problem& problem) : world_(*problem.character, problem.world), h_(problem.world.time_step) {}

  /// Targets go from `from` to those of the drive. `observe(state, contacts)` is called after each step, and returns
  /// whether it is to go on. Returns false when it was not or when the simulation diverged.
  template <typename Observe>
  bool Run(const character::State& start, const control::TargetPose& from, const Drive& drive, int first_step,
           character::State& end, const Observe& observe) {
    const control::Fragment fragment{first_step, drive.num_steps, {from, drive.target}};
    bool go_on = true;
    const bool sane = control::SimulateFragment(world_, start, fragment, scratch_, end_, [&](int) {
      ++steps_;
      if (!go_on) return;
      world_.GetState(state_);
      go_on = observe(state_, world_.contacts());
    });
    if (!sane || !go_on) return false;
    end = end_;
    return true;
  }

  int StepsOf(double seconds) const { return control::TimeGrid{h_}.PartSteps(seconds); }
  /// That were simulated so far.
  double seconds() const { return static_cast<double>(steps_) * h_; }
  simulation::World& world() { return world_; }

 private:
  simulation::World world_;
  double h_;
  control::SimulationScratch scratch_;
  character::State state_, end_;
  size_t steps_ = 0;
};

}  // namespace retrace::idling
