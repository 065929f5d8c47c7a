/// The physical world of any number of characters: bodies, joints with servos, and contacts with the ground, with the
/// things of an environment, of a body with others of its character, and between characters. It is stepped by Retrace's
/// reduced solver or by the Open Dynamics Engine.
///
/// A world belongs to one thread. Every result is a function of the state that was set and of the commands and forces
/// that were given since: it does not depend on what the world simulated before. Two characters that touch neither one
/// another nor a common free body move with the same bytes as each in a world of its own.
///
/// States, commands and forces count bodies and joints as Layout does.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "retrace/character/character.h"
#include "retrace/character/state.h"
#include "retrace/simulation/contact.h"
#include "retrace/simulation/joint_command.h"
#include "retrace/simulation/layout.h"
#include "retrace/simulation/world_options.h"

namespace retrace::simulation {

// Internal to the module (src/simulation/stepped_world.h, world_stepper.h).
struct SteppedWorld;
class WorldStepper;

class World {
 public:
  /// The characters must outlive the world.
  World(std::span<const character::Character* const> characters, const WorldOptions& options);
  /// A world with a single character.
  World(const character::Character& character, const WorldOptions& options);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  const WorldOptions& options() const;
  const Layout& layout() const;
  /// kStock also where the reduced solver was requested but failed its self-test, or a tree has too many bodies for it.
  Solver solver() const;

  /// Sets all bodies (bodies); a state without the free ones puts these where they start. The next step is number
  /// `step`, counted from 0: where things move by themselves depends on it.
  void SetState(const character::State& state, int step = 0);
  void GetState(character::State& state) const;

  /// Makes the coming steps of a character, and of the free bodies, a function of the state alone, as SetState does
  /// with the state that the world is in: the solver's data of earlier steps are cleared, and orientations are
  /// normalized. At the start of each fragment of a control this makes going on and restoring the same to the bit.
  void Restart(size_t character);

  /// A force from outside on a body's center of mass during the next step, in world axes [N]. Forces on one body add
  /// up. Wakes a free body at rest. Throws std::invalid_argument for a body that the world does not have.
  void ApplyForce(int body, const Vec3& force);

  /// One step of `time_step` (joints). False when the simulation diverged (not a number, or faster or farther than
  /// anything alive); the world is then usable again after SetState.
  bool Step(std::span<const JointCommand> commands);

  /// While recording, contact forces and servo torques are kept after each step. Does not change the motion.
  void set_recording(bool recording);
  /// Contacts of the last step, none after one that diverged. The contacts of characters alone: free bodies also have
  /// theirs with one another and with the ground.
  const std::vector<Contact>& contacts() const;
  /// Torque of each joint, of servo and command together, on its child body, in the axes of the parent body (joints)
  /// [N m]; a hinge uses its axis.
  const std::vector<Vec3>& torques() const;

 private:
  friend class WorldLanes;
  std::unique_ptr<SteppedWorld> impl_;
  std::unique_ptr<WorldStepper> stepper_;  // none: ODE's own solver
};

}  // namespace retrace::simulation
