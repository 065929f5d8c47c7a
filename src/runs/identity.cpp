#include "retrace/runs/identity.h"

#include "retrace/results/provenance.h"
#include "retrace/runs/character_input.h"
#include "retrace/runs/solver.h"

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
                       {"solver", NameOfSolver(configuration.task.world)}};
  AddChoice(options.clip.choice, identity);
  if (IsSubject(options.character)) identity["character"] = options.character;
  if (options.mass) identity["mass"] = *options.mass;
  if (options.measured_heading != 0) identity["measured_heading"] = options.measured_heading;
  return io::ParseJson(io::Dump(identity), "identity");  // as it will be read from a manifest
}

io::Json Identity(const JobOptions& options) {
  return Identity(options, RecordsOf(ReadInputs(InputsOf(options))));
}

std::string Differences(const io::Json& then, const io::Json& now, const std::string& was, const std::string& is) {
  const io::Json patch = io::Json::diff(then, now);
  const auto pointer = patch[0]["path"].get<std::string>();
  const auto value = [&](const io::Json& identity) {
    const io::Json::json_pointer where(pointer);
    return identity.contains(where) ? io::Dump(identity[where]) : std::string("nothing");
  };
  std::string text = pointer;
  text.append(was).append(value(then)).append(is).append(value(now));
  if (patch.size() > 1) text.append(", and ").append(std::to_string(patch.size() - 1)).append(" more");
  return text;
}

}  // namespace retrace::runs
