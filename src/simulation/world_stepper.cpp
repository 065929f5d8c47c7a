#include "world_stepper.h"

namespace retrace::simulation {
namespace {

/// How the servos that are held are found, by block pivoting (Judice and Pires 1994). In nearly all steps they are
/// found with all at once. These may alternate for ever, which one after the other does not where there is a single
/// solution. With friction that is not certain, so that in the end servos are only held: there are only so many.
HoldRule RuleOf(int pass) {
  constexpr int kPassesOfAll = 8, kPassesOfOne = 16;
  if (pass < kPassesOfAll) return HoldRule::kAll;
  if (pass < kPassesOfAll + kPassesOfOne) return HoldRule::kOne;
  return pass == kPassesOfAll + kPassesOfOne ? HoldRule::kNone : HoldRule::kMore;
}

}  // namespace

WorldStepper::WorldStepper(const SteppedWorld& make, const TreePasses& passes)
    : dynamics_(make.forest, make.law, passes),
      near_(make.collision, passes),
      steps_(static_cast<size_t>(passes.lanes)) {}

void WorldStepper::Step(std::span<SteppedWorld* const> worlds, std::span<const std::span<const JointCommand>> commands,
                        std::span<bool> moving) {
  bool any = false;
  for (size_t l = 0; l < worlds.size(); ++l) {
    steps_[l] = {};
    moving[l] = moving[l] && worlds[l]->has_state;
    if (!moving[l]) continue;
    steps_[l].bodies = worlds[l]->bodies;
    steps_[l].holds = worlds[l]->holds;
    any = true;
  }
  if (!any) return;
  dynamics_.Take(steps_);
  near_.Find(dynamics_.bodies());
  any = false;
  const auto for_each = [&](const auto& visit) {
    for (size_t l = 0; l < worlds.size(); ++l) {
      if (moving[l]) visit(l, *worlds[l]);
    }
  };
  for_each([&](size_t l, SteppedWorld& world) {
    moving[l] = world.PrepareStep(commands[l], near_.OfLane(l), steps_[l].input);
    any = any || moving[l];
    if (!moving[l]) {
      steps_[l].bodies = {};
      world.EndStep(false);
      return;
    }
    if (world.recording) world.NoteRotations();
    if (world.options.servo == Servo::kExplicit) return;
    steps_[l].commands = commands[l];
    if (!world.options.contact_scale.empty()) steps_[l].scales = world.scale;
  });
  if (!any) return;
  dynamics_.Begin(steps_);
  for_each([&](size_t l, SteppedWorld&) { ContactSolver::Begin(steps_[l].input.contacts, dynamics_); });
  // Which torques are at their limits follows from velocities, and these from what is at its limit.
  unsigned settled = 0;
  for (int pass = 0;; ++pass) {
    dynamics_.FindResponses();
    for_each([&](size_t l, SteppedWorld& world) {
      if ((settled >> l & 1) == 0) world.FindContactForces(contact_solver_, dynamics_, l, steps_[l]);
    });
    dynamics_.FindVelocities();
    const unsigned changed = dynamics_.Hold(steps_, RuleOf(pass), ~settled);
    if (changed == 0) break;
    settled |= ~changed;
    dynamics_.BeginAgain(steps_, settled);
  }
  for_each([&](size_t l, SteppedWorld& world) {
    moving[l] = world.StepLeftOut(dynamics_, l, steps_[l]);
    if (moving[l]) return;
    steps_[l].bodies = {};
    world.EndStep(false);
  });
  dynamics_.Move(steps_);
  for_each([&](size_t l, SteppedWorld& world) {
    if (world.recording) world.RecordForces(dynamics_, l, steps_[l]);
    world.NoteStep(commands[l], steps_[l].input);
    world.EndStep(true);
    moving[l] = world.has_state;
  });
}

}  // namespace retrace::simulation
