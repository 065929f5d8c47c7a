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
template <io::DescribedAs<WorldOptions> Options, typename Visitor>
void Describe(Options& o, Visitor& v) {
  v.Field({"time_step", "Duration of a simulation step", "s"}, o.time_step, io::Real{kTimeSteps});
  v.Field({"servo", "How PD servos enter the equations of motion; explicit, as in the paper, needs steps of 0.0005 s"},
          o.servo, io::Words<Servo>{{{Servo::kImplicit, "implicit"}, {Servo::kExplicit, "explicit"}}});
  v.Field({"solver",
           "How constraint forces are found: reduced gives the solution of ODE's stock solver several times "
           "faster"},
          o.solver, io::Words<Solver>{{{Solver::kStock, "stock"}, {Solver::kReduced, "reduced", "eliminated"}}});
  v.Field({"gravity", "Acceleration of free fall, downwards", "m/s^2"}, o.gravity, io::Real{kGravities});
  v.Field({"friction", "Coefficient of friction"}, o.friction, io::Real{kFrictions});
  v.Field({"contact_stiffness", "Stiffness of a contact point", "N/m"}, o.contact_stiffness, io::Real{kStiffnesses});
  v.Field({"contact_damping", "Damping of a contact point", "N s/m"}, o.contact_damping, io::Real{kDampings});
  v.Field({"contact_correcting_velocity", "Fastest that a contact pushes overlapping bodies apart", "m/s"},
          o.contact_correcting_velocity, io::Real{{1e-6, 1000}});
  v.Field({"joint_correction", "Rate at which position errors of joints are corrected", "1/s"}, o.joint_correction,
          io::Real{{0, 1e6}});
  v.Field({"self_collision", "Whether bodies of the character collide with one another"}, o.self_collision, io::Flag{});
  v.Field({"speculative_contacts", "Whether a ground contact acts before the step in which the body would sink in"},
          o.speculative_contacts, io::Flag{});
  v.Field({"ground_points_per_shape", "Number of contact points of a shape with the ground; the deepest are used"},
          o.ground_points_per_shape, io::Integer{1, 8});
  v.Field({"self_points_per_pair", "Number of contact points of two bodies of the character"}, o.self_points_per_pair,
          io::Integer{1, 8});
}

/// All fields, as a control file has them.
template <io::DescribedAs<WorldOptions> Options, typename Visitor>
void DescribeAll(Options& o, Visitor& v) {
  Describe(o, v);
  v.Field({"contact_scale", "Factors on the gains of the joints while a body beyond them touches the ground"},
          o.contact_scale, io::Reals{character::kScales, character::kMostCharacters * character::kMostBodies});
  v.Field({"environment", "What there is besides a plain ground"}, o.environment,
          io::Part<Environment>{ReadEnvironment});
}

/// Reads what WorldOptions::ToJson wrote, where all keys but "environment" must be present. Throws InputError with the
/// JSON pointer.
WorldOptions ReadWorldOptions(const io::JsonView& view, size_t num_joints);

}  // namespace retrace::simulation
