#include "retrace/jobs/identity.h"

#include <nlohmann/json.hpp>

#include "retrace/results/provenance.h"
#include "retrace/runs/inputs/character_input.h"
#include "retrace/simulation/solver_in_use.h"

namespace retrace::runs {

io::Json Identity(const JobOptions& options, std::span<const InputRecord> inputs) {
  const Configuration configuration = ConfigurationOf(options);
  io::Json hashes = io::Json::object();
  for (const InputRecord& input : inputs) {
    if (input.name.role != kConfigurationRole) hashes[input.name.role] = input.sha256;
  }
  io::Json identity = {{"program", results::Version()},
                       {"configuration", configuration.ToJson()},
                       {"clip", configuration.task.reference.ToJson()},
                       {"inputs", hashes},
                       {"solver", simulation::NameOfSolver(configuration.task.world)}};
  AddChoice(options.clip.choice, identity);
  if (IsSubject(options.character)) identity["character"] = options.character;
  if (options.mass) identity["mass"] = *options.mass;
  if (options.servos != character::Servos::kScaled) {
    identity["servos"] = character::ServosWords().Name(options.servos);
  }
  for (const auto& [joint, effort] : options.efforts) identity["efforts"].push_back({joint, effort});
  if (options.measured_heading) identity["measured_heading"] = *options.measured_heading;
  if (options.measured_delay) identity["measured_delay"] = *options.measured_delay;
  if (options.measured_exchanged) identity["measured_exchanged"] = true;
  return io::ParseJson(io::Dump(identity), "identity");  // as it will be read from a manifest
}

io::Json Identity(const JobOptions& options) {
  return Identity(options, RecordsOf(ReadInputs(InputsOf(options))));
}

}  // namespace retrace::runs
