#include "retrace/runs/identity.h"

#include "retrace/io/file.h"
#include "retrace/results/provenance.h"
#include "retrace/runs/solver.h"

namespace retrace::runs {

io::Json Identity(const JobOptions& options) {
  const Configuration configuration = ConfigurationOf(options);
  io::Json inputs = io::Json::object();
  for (const InputFile& file : InputFiles(options)) inputs[file.role] = io::Sha256(io::ReadFile(file.path));
  const io::Json identity = {{"program", results::Version()},
                             {"configuration", configuration.ToJson()},
                             {"clip", configuration.task.reference.ToJson()},
                             {"inputs", inputs},
                             {"solver", NameOfSolver(configuration.task.world)}};
  return io::ParseJson(identity.dump(), "identity");  // as it will be read from a manifest
}

std::string Differences(const io::Json& then, const io::Json& now, const std::string& was, const std::string& is) {
  const io::Json patch = io::Json::diff(then, now);
  const auto pointer = patch[0]["path"].get<std::string>();
  const auto value = [&](const io::Json& identity) {
    const io::Json::json_pointer where(pointer);
    return identity.contains(where) ? identity[where].dump() : std::string("nothing");
  };
  std::string text = pointer;
  text.append(was).append(value(then)).append(is).append(value(now));
  if (patch.size() > 1) text.append(", and ").append(std::to_string(patch.size() - 1)).append(" more");
  return text;
}

}  // namespace retrace::runs
