/// The options of a world: step, servos, solver, contacts, and what there is besides the characters.
#pragma once

#include <optional>
#include <string>

#include "retrace/character/character.h"
#include "retrace/character/limits.h"
#include "retrace/io/describe.h"
#include "retrace/io/json.h"
#include "retrace/simulation/environment.h"

namespace retrace::simulation {

/// How the PD servos enter the equations of motion.
enum class Servo {
  kImplicit,  ///< torque at the end of the step, solved with the constraints: stable at any step
  kExplicit,  ///< torque at the start of the step, as in the paper: needs steps of at most 0.0005 s
};

/// How the constraint forces are found; both solve the same problem.
enum class Solver {
  kStock,    ///< ODE's own: Dantzig's method over all rows
  kReduced,  ///< joint rows are eliminated first; contacts alone are in the complementarity problem
};

struct WorldOptions {
  double time_step = 1.0 / 240;  ///< [s]
  Servo servo = Servo::kImplicit;
  Solver solver = Solver::kReduced;
  double gravity = kStandardGravity;  ///< [m/s^2], downwards
  double friction = 0.8;              ///< coefficient, friction pyramid (Liu et al. 2010, section 4)
  double contact_stiffness = 4e7;     ///< spring of a contact point [N/m]
  double contact_damping = 8e4;       ///< damper of a contact point [N s/m]
  /// Fastest that a contact pushes bodies apart that are inside one another [m/s]. A clip may start with hands deep in
  /// the floor; without a limit the first step would throw the character away.
  double contact_correcting_velocity = 1;
  double joint_correction = 500;  ///< rate at which a joint's position error is corrected [1/s]
  bool self_collision = true;
  bool speculative_contacts = true;  ///< a ground contact acts before the step in which it would sink in
  int ground_points_per_shape = 4;   ///< the deepest
  int self_points_per_pair = 2;
  /// Factor on kp and kd of each joint while a body beyond it touches the ground; empty: none (Liu et al. 2010, table
  /// 2).
  character::ContactPreset contact_scale;
  Environment environment = {};  ///< what there is besides a plain ground

  /// The object "world" of a control file, format version 1. The reduced solver has the name "eliminated" there.
  io::Json ToJson() const;

  /// What is wrong with the options, as a sentence, or nothing. Any options for which there is nothing wrong can be
  /// simulated, and are written so that they can be read again.
  std::optional<std::string> Validate() const;
};

/// The fields that a configuration has: all but those that follow from the character and from the files of worlds.
void Describe(WorldOptions& o, io::FieldVisitor& v);

/// All fields, as a control file has them.
void DescribeAll(WorldOptions& o, io::FieldVisitor& v);

/// Reads what WorldOptions::ToJson wrote, where all keys but "environment" must be present. Throws InputError with the
/// JSON pointer.
WorldOptions ReadWorldOptions(const io::JsonView& view, size_t num_joints);

}  // namespace retrace::simulation
