#include "retrace/simulation/world_lanes.h"

#include <stdexcept>

#include "available_passes.h"
#include "stepped_world.h"
#include "world_stepper.h"

namespace retrace::simulation {

WorldLanes::WorldLanes(std::span<const character::Character* const> characters, const WorldOptions& options,
                       int num_lanes) {
  const TreePasses* const passes = num_lanes == 0 ? &WidestPasses() : FindPasses(num_lanes);
  if (passes == nullptr) throw std::invalid_argument("this processor has no vectors of so many numbers");
  for (int l = 0; l < passes->lanes; ++l) {
    worlds_.push_back(std::make_unique<World>(characters, options));
    made_.push_back(worlds_.back()->impl_.get());
  }
  if (made_.front()->reduced) stepper_ = std::make_unique<WorldStepper>(*made_.front(), *passes);
}
WorldLanes::~WorldLanes() = default;

void WorldLanes::Step(std::span<const std::span<const JointCommand>> commands, std::span<bool> moving) {
  if (stepper_) {
    stepper_->Step(made_, commands, moving);
    return;
  }
  for (size_t l = 0; l < worlds_.size(); ++l) moving[l] = moving[l] && worlds_[l]->Step(commands[l]);
}

}  // namespace retrace::simulation
