#include "retrace/simulation/world.h"

#include "available_passes.h"
#include "stepped_world.h"
#include "world_stepper.h"

namespace retrace::simulation {

using character::Character;
using character::State;

World::World(std::span<const Character* const> characters, const WorldOptions& options)
    : impl_(std::make_unique<SteppedWorld>(characters, options)) {
  if (impl_->reduced) stepper_ = std::make_unique<WorldStepper>(*impl_, kScalarPasses);
}
World::World(const Character& character, const WorldOptions& options)
    : World(std::vector<const Character*>{&character}, options) {}
World::~World() = default;

const WorldOptions& World::options() const {
  return impl_->options;
}
const Layout& World::layout() const {
  return impl_->layout();
}
Solver World::solver() const {
  return impl_->reduced ? Solver::kReduced : Solver::kStock;
}

void World::SetState(const State& state, int step) {
  impl_->SetState(state, step);
}

void World::GetState(State& state) const {
  state.resize(impl_->bodies.size());
  for (size_t i = 0; i < impl_->bodies.size(); ++i) {
    const BodyMotion& body = impl_->bodies[i];
    state[i] = {body.position, body.orientation, body.linear_velocity, body.angular_velocity};
  }
}

void World::Restart(size_t character) {
  impl_->Restart(character);
}

void World::ApplyForce(int body, const Vec3& force) {
  impl_->ApplyForce(body, force);
}

bool World::Step(std::span<const JointCommand> commands) {
  if (!stepper_) return impl_->StepByItself(commands);
  SteppedWorld* const world = impl_.get();
  bool moving = true;
  stepper_->Step({&world, 1}, {&commands, 1}, {&moving, 1});
  return moving;
}

void World::set_recording(bool recording) {
  contacts();  // of the last step, with what was recorded of it
  impl_->recording = recording;
}
const std::vector<Contact>& World::contacts() const {
  if (impl_->contacts_of_step) impl_->RecordContacts();
  return impl_->contacts;
}
const std::vector<Vec3>& World::torques() const {
  return impl_->torques;
}

}  // namespace retrace::simulation
