/// Worlds of one make that are stepped together, each in a lane of the processor's vectors: several times as many
/// steps per second as one after the other, and each world with the same bytes as by itself.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "retrace/character/character.h"
#include "retrace/simulation/joint_command.h"
#include "retrace/simulation/world.h"
#include "retrace/simulation/world_options.h"

namespace retrace::simulation {

class WorldLanes {
 public:
  /// As World. `num_lanes` is 1, 4 (AVX2) or 8 (AVX-512); 0: as many as are fastest on this processor. Throws
  /// std::invalid_argument where the processor has no vectors of so many numbers.
  WorldLanes(std::span<const character::Character* const> characters, const WorldOptions& options, int num_lanes = 0);
  ~WorldLanes();
  WorldLanes(const WorldLanes&) = delete;
  WorldLanes& operator=(const WorldLanes&) = delete;

  size_t num_lanes() const { return worlds_.size(); }
  /// One of the worlds, to set and to read its state and all else that a world has.
  World& world(size_t lane) { return *worlds_[lane]; }

  /// One step of some of the worlds; the others keep their state.
  /// @param commands (lanes) those for the joints of each world that takes the step
  /// @param moving (lanes) which worlds take the step; becomes what World::Step returns
  void Step(std::span<const std::span<const JointCommand>> commands, std::span<bool> moving);

 private:
  std::vector<std::unique_ptr<World>> worlds_;  // (lanes)
  std::vector<SteppedWorld*> made_;             // (lanes) of the worlds
  std::unique_ptr<WorldStepper> stepper_;       // none: ODE's own solver
};

/// Whether so many simulations are done sooner side by side, in so many lanes, than one after the other: lanes that are
/// mostly idle take longer.
inline bool FillsLanes(size_t count, size_t lanes) {
  return lanes > 1 && 2 * count >= lanes;
}

}  // namespace retrace::simulation
