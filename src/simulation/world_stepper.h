/// Takes steps of worlds of one make together, each in a lane of a forest. Internal to the simulation module.
#pragma once

#include <span>
#include <vector>

#include "collision.h"
#include "contact_forces.h"
#include "forest_dynamics.h"
#include "retrace/simulation/joint_command.h"
#include "stepped_world.h"
#include "tree_passes.h"

namespace retrace::simulation {

class WorldStepper {
 public:
  /// @param make one of the worlds
  WorldStepper(const SteppedWorld& make, const TreePasses& passes);

  /// @param worlds (lanes)
  /// @param commands (lanes) for the joints of each
  /// @param moving (lanes) the worlds that take the step; becomes false for those that diverged
  void Step(std::span<SteppedWorld* const> worlds, std::span<const std::span<const JointCommand>> commands,
            std::span<bool> moving);

 private:
  ForestDynamics dynamics_;
  NearShapeFinder near_;
  ContactSolver contact_solver_;
  std::vector<LaneStep> steps_;  // (lanes)
};

}  // namespace retrace::simulation
