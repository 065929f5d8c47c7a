#include "retrace/jobs/job_options.h"

#include "measured_role.h"
#include "retrace/io/error.h"
#include "retrace/recordings/force_tables.h"
#include "retrace/runs/inputs/character_input.h"
#include "retrace/runs/inputs/world_input.h"

namespace retrace::runs {

Configuration ConfigurationOf(const JobOptions& options) {
  Configuration configuration = options.configuration;
  Apply(options.clip, configuration.task.reference);
  if (const auto problem = configuration.Validate()) throw UsageError(*problem);
  return configuration;
}

std::vector<InputName> InputsOf(const JobOptions& options) {
  CheckClip(options.clip);
  std::vector<InputName> names = ClipInputs(options.clip);
  names.push_back({"character", CharacterFile(options.character)});
  size_t number = 0;
  for (const std::filesystem::path& file : WorldFiles(options.worlds)) names.push_back({WorldRole(++number), file});
  if (!options.measured.empty()) {
    names.push_back({kMeasuredRole, options.measured});
    size_t plate = 1;
    for (const std::filesystem::path& file : motion::OtherPlates(options.measured)) {
      names.push_back({MeasuredRole(++plate), file});
    }
  }
  return names;
}

}  // namespace retrace::runs
