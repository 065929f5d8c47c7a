/// The physical world of one character: bodies, joints with servos, ground and self contact, stepped by the Open
/// Dynamics Engine. A world belongs to one thread. Every result is a function of the state that was set and the targets
/// given since, and of the forces that were set: it does not depend on what the world simulated before.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "retrace/character/character.h"
#include "retrace/character/state.h"
#include "retrace/simulation/world_options.h"

namespace retrace::simulation {

/// One contact point of the last step.
struct Contact {
  int body = -1;
  int other = -1;               ///< the other body of the character, -1 for the ground or an object
  Vec3 point = Vec3::Zero();    ///< [m]
  Vec3 force = Vec3::Zero();    ///< on `body` [N]; filled while recording
  Vec3 normal = Vec3::UnitY();  ///< towards `body`
  int object = -1;              ///< of the environment, -1 for the ground or a body of the character
};

class World {
 public:
  /// The character must outlive the world.
  World(const character::Character& character, const WorldOptions& options);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  const WorldOptions& options() const;
  /// kStock when the eliminated solver was asked for but could not be proven to work here.
  Solver solver() const;

  /// Bodies of the character and then the environment's free ones; without these, they are where they start. The next
  /// step is number `step`, counted from 0: where things move by themselves depends on it.
  void SetState(const character::State& state, int step = 0);
  void GetState(character::State& state) const;

  /// Forces from outside on the bodies' centres of mass (bodies), in world axes [N]; empty: none. They act in every
  /// step until they are set anew, also after SetState.
  void SetForces(std::span<const Vec3> forces);

  /// One step of `time_step` towards target joint rotations (joints), which hold for the end of the step.
  /// False when the simulation diverged (not a number, or faster or farther than anything alive); the world is then
  /// usable again after SetState.
  bool Step(std::span<const Quat> targets);

  /// The contacts of the character alone: free bodies also have theirs with one another and with the ground.
  /// While recording, contact forces and servo torques are kept after each step. Does not change the motion.
  void set_recording(bool recording);
  const std::vector<Contact>& contacts() const;
  /// Torque of each servo on its child body, in the axes of the parent body (joints x 3) [N m]; a hinge uses its axis.
  const std::vector<Vec3>& torques() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Why the eliminated solver is not in use on this machine, or empty when it is.
std::string WhyStockSolver();

}  // namespace retrace::simulation
