/// What a world (world.h) is made of, and what it does in a step beside the dynamics of its forest. Internal to the
/// simulation module.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "collision.h"
#include "contact_forces.h"
#include "contact_laws.h"
#include "forest.h"
#include "forest_dynamics.h"
#include "object_collision.h"
#include "ode_stepper.h"
#include "retrace/character/character.h"
#include "retrace/character/state.h"
#include "retrace/simulation/contact.h"
#include "retrace/simulation/joint_command.h"
#include "retrace/simulation/layout.h"
#include "retrace/simulation/world_options.h"
#include "step.h"
#include "tree_passes.h"

namespace retrace::simulation {

struct SteppedWorld {
  SteppedWorld(std::span<const character::Character* const> characters, const WorldOptions& options_);

  const Layout& layout() const { return forest.layout; }
  size_t num_own() const { return layout().num_character_bodies(); }
  size_t num_free() const { return layout().num_free_bodies(); }
  BodyMotion& FreeBody(size_t index) { return bodies[static_cast<size_t>(layout().FreeBody(index))]; }

  // ---- servos

  /// Factor on a joint's gains: its contact scale while it or anything beyond it touches the ground.
  void UpdateScales();

  /// Adds a torque on the child and its opposite on the parent, in the parent's axes.
  void AddTorque(const character::Joint& joint, const Vec3& torque);

  /// The part of a command's torque that the joint can pass on, and that is not within an implicit servo: where torques
  /// are limited, the servo that acts has its command's torque in its own.
  Vec3 TorqueBesideServo(const JointCommand& command, size_t j) const;

  /// Torques of explicit servos and of commands. Implicit servos are driven with the bodies of the step
  /// (ForestDynamics).
  void FindTorques(std::span<const JointCommand> commands);

  // ---- steps

  bool IsSane() const;

  void SetFreeBodiesToStart();

  void SetBody(size_t index, const character::BodyState& state);

  void NormalizeCharacter(size_t c);

  void NormalizeFreeBodies();

  void FindResting();

  /// Bodies that hardly move, and did not before, while something holds them, are at rest from now on.
  void PutToRest(std::span<const ContactPoint> points);

  double Time() const { return step * options.time_step; }

  void SetState(const character::State& state, int first_step);

  void Restart(size_t c);

  /// With ODE's own solver. False when it reports an error.
  bool StepWithOde(std::span<BodyMotion> moved, const StepInput& input);

  /// After the forest has begun a step: forces of contacts. Trees for which they are not found are left out.
  void FindContactForces(ContactSolver& solver, ForestDynamics& dynamics, size_t lane, LaneStep& taken);
  /// The step of the trees that are left out. False when it cannot be taken.
  bool StepLeftOut(const ForestDynamics& dynamics, size_t lane, const LaneStep& taken);

  void NoteRotations();

  /// @param dynamics which has finished the step
  void RecordForces(const ForestDynamics& dynamics, size_t lane, const LaneStep& taken);

  bool Failed(int body) const { return contact_forces.failed[forest.TreeOf(body)] != 0; }

  /// ODE takes the step of the trees whose contact forces were not found. It is given the others, too, so that it sees
  /// the same problem, and its result for these is discarded: they move as they would without their neighbors.
  bool StepFailedTrees(const StepInput& input);

  void ApplyForce(int body, const Vec3& force);

  /// Finds what acts in a step. False when the shapes of the bodies cannot be placed.
  bool PrepareStep(std::span<const JointCommand> commands, const NearShapes& near_shapes, StepInput& input);

  /// Notes what a step brought, of which the bodies have been moved.
  void NoteStep(std::span<const JointCommand> commands, const StepInput& input);

  /// @param whole whether the step was taken to its end
  void EndStep(bool whole);

  bool StepByItself(std::span<const JointCommand> commands);

  void RecordContacts();

  const WorldOptions options;
  const Forest forest;
  const ContactLaws laws;
  const StepLaw law;
  Collision collision;
  std::optional<ObjectCollision> objects;  // none: nothing but the ground
  bool has_armature = false;               // any joint
  std::unique_ptr<OdeStepper> ode;
  bool reduced = false;  // else ODE's own solver
  ContactForces contact_forces;
  bool has_state = true;                      // that can be simulated
  int step = 0;                               // that comes next
  std::vector<BodyMotion> bodies;             // (bodies)
  std::vector<BodyMotion> ode_bodies;         // (bodies) scratch, where ODE takes the step of some trees
  std::vector<char> resting;                  // (free bodies) which are at rest
  std::vector<char> candidates, held;         // (free bodies) scratch
  std::vector<std::pair<Vec3, Vec3>> before;  // (free bodies) velocities before a step
  std::optional<NearShapeFinder> near;        // with ODE's own solver
  std::vector<ServoShape> servos;             // (joints) the same
  std::vector<Motor> motors;                  // (joints) for ODE
  std::vector<Mat3> parent_rotations;         // (joints) at the start of the step, while recording
  bool has_torques = false;
  std::vector<Vec3> body_torques;  // (bodies) of explicit servos and commands
  bool has_forces = false;
  std::vector<Vec3> body_forces;  // (bodies) from outside, in the next step
  std::vector<double> scale;      // (joints) of this step
  std::vector<Vec3> holds;        // (joints) at which torque servos are held (LaneStep); empty: none is limited
  std::vector<Contact> contacts;
  /// Those of the last step, while they are not in `contacts`: few ask for them.
  std::optional<std::span<const ContactPoint>> contacts_of_step;
  bool recording = false;
  StepForces forces;
  std::vector<Vec3> torques;
};

}  // namespace retrace::simulation
