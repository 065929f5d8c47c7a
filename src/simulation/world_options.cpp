#include "retrace/simulation/world_options.h"

namespace retrace::simulation {

io::Json WorldOptions::ToJson() const {
  io::JsonWriter writer;
  DescribeAll(*this, writer);
  io::Json json = writer.json();
  if (solver == Solver::kReduced) json["solver"] = "eliminated";  // its name in version 1 of the format
  return json;
}

std::optional<std::string> WorldOptions::Validate() const {
  io::Validator validator;
  DescribeAll(*this, validator);
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
