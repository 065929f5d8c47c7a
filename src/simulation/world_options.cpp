#include "retrace/simulation/world_options.h"

#include <nlohmann/json.hpp>

namespace retrace::simulation {

void Describe(WorldOptions& o, io::FieldVisitor& v) {
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

void DescribeAll(WorldOptions& o, io::FieldVisitor& v) {
  Describe(o, v);
  v.Field({"contact_scale", "Factors on the gains of the joints while a body beyond them touches the ground"},
          o.contact_scale, io::Reals{character::kScales, character::kMostCharacters * character::kMostBodies});
  v.Field({"environment", "What there is besides a plain ground"}, o.environment,
          io::Part<Environment>{ReadEnvironment});
}

io::Json WorldOptions::ToJson() const {
  io::JsonWriter writer;
  WorldOptions copy = *this;
  DescribeAll(copy, writer);
  io::Json json = writer.json();
  if (solver == Solver::kReduced) json["solver"] = "eliminated";  // its name in version 1 of the format
  return json;
}

std::optional<std::string> WorldOptions::Validate() const {
  io::Validator validator;
  WorldOptions copy = *this;
  DescribeAll(copy, validator);
  return validator.problem();
}

WorldOptions ReadWorldOptions(const io::JsonView& view, size_t num_joints) {
  WorldOptions options;
  io::JsonReader reader(view, io::JsonReader::Missing::kRefused);
  DescribeAll(options, reader);
  reader.Finish();
  if (!options.contact_scale.empty() && options.contact_scale.size() != num_joints) {
    view["contact_scale"].Expect("an empty array or " + std::to_string(num_joints) + " numbers, one per joint");
  }
  return options;
}

}  // namespace retrace::simulation
