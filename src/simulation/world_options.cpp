#include "retrace/simulation/world_options.h"

namespace retrace::simulation {

io::Json WorldOptions::ToJson() const {
  io::Json json = {{"time_step", time_step},
                   {"servo", servo == Servo::kImplicit ? "implicit" : "explicit"},
                   {"solver", solver == Solver::kStock ? "stock" : "eliminated"},
                   {"gravity", gravity},
                   {"friction", friction},
                   {"contact_stiffness", contact_stiffness},
                   {"contact_damping", contact_damping},
                   {"contact_correcting_velocity", contact_correcting_velocity},
                   {"joint_correction", joint_correction},
                   {"self_collision", self_collision},
                   {"speculative_contacts", speculative_contacts},
                   {"ground_points_per_shape", ground_points_per_shape},
                   {"self_points_per_pair", self_points_per_pair},
                   {"contact_scale", contact_scale}};
  if (!environment.empty()) json["environment"] = environment.ToJson();
  return json;
}

WorldOptions ReadWorldOptions(const io::JsonView& view, size_t num_joints) {
  view.AllowOnly({"time_step", "servo", "solver", "gravity", "friction", "contact_stiffness", "contact_damping",
                  "contact_correcting_velocity", "joint_correction", "self_collision", "speculative_contacts",
                  "ground_points_per_shape", "self_points_per_pair", "contact_scale", "environment"});
  WorldOptions options;
  options.time_step = view["time_step"].Number({0, 0.1, true});
  const auto choose = [&](const char* key, const char* first, const char* second) {
    const std::string word = view[key].String();
    if (word != first && word != second) view[key].Expect(std::string("\"") + first + "\" or \"" + second + "\"");
    return word == first;
  };
  options.servo = choose("servo", "implicit", "explicit") ? Servo::kImplicit : Servo::kExplicit;
  options.solver = choose("solver", "stock", "eliminated") ? Solver::kStock : Solver::kReduced;
  options.gravity = view["gravity"].Number();
  options.friction = view["friction"].Number(io::kNonNegative);
  options.contact_stiffness = view["contact_stiffness"].Number(io::kPositive);
  options.contact_damping = view["contact_damping"].Number(io::kPositive);
  options.contact_correcting_velocity = view["contact_correcting_velocity"].Number(io::kPositive);
  options.joint_correction = view["joint_correction"].Number(io::kNonNegative);
  options.self_collision = view["self_collision"].Boolean();
  options.speculative_contacts = view["speculative_contacts"].Boolean();
  options.ground_points_per_shape = view["ground_points_per_shape"].Integer(1, 8);
  options.self_points_per_pair = view["self_points_per_pair"].Integer(1, 8);
  options.contact_scale = view["contact_scale"].Numbers(io::kPositive);
  if (!options.contact_scale.empty() && options.contact_scale.size() != num_joints) {
    view["contact_scale"].Expect("an empty array or " + std::to_string(num_joints) + " numbers, one per joint");
  }
  if (view.Has("environment")) options.environment = ReadEnvironment(view["environment"]);
  return options;
}

}  // namespace retrace::simulation
