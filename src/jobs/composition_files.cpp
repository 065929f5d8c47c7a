#include "retrace/jobs/composition_files.h"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "composed_run.h"
#include "retrace/io/number.h"
#include "retrace/runs/stored/run_files.h"

namespace retrace::runs {
namespace {

int EndOf(const Composition& result, size_t part) {
  return part + 1 < result.parts.size() ? result.parts[part + 1].first_step : result.control.num_steps();
}

io::Json CompositionMember(const CompositionJob& job, const Composition& result) {
  const double h = result.control.world.time_step;
  io::Json parts = io::Json::array();
  for (size_t p = 0; p < result.parts.size(); ++p) {
    const CompositionPart& part = result.parts[p];
    parts.push_back({{"start", part.first_step * h},
                     {"end", EndOf(result, p) * h},
                     {"control", job.problem.controls[part.control].name},
                     {"cut", part.cut_step * h},
                     {"distance", part.distance},
                     {"tries", part.tries},
                     {"event", Name(part.event)},
                     {"transition", part.transition ? Name(*part.transition) : ""},
                     {"hidden_impulse", part.hidden_impulse},
                     {"cpu_seconds", part.cpu_seconds}});
  }
  return {
      {"ending", result.ending},
      {"transition", Name(job.options.transition)},
      {"play", job.options.play},
      {"parts", parts},
      {"reference",
       "the motions that are followed, put where the character is, and blended from its state: kinematic; from a push "
       "that is answered by a fall until the get-up there is none, and the motion itself stands in its place"}};
}

std::vector<PartRow> PartsOf(const CompositionJob& job, const Composition& result) {
  const double h = result.control.world.time_step;
  std::vector<PartRow> rows;
  for (size_t p = 0; p < result.parts.size(); ++p) {
    const CompositionPart& part = result.parts[p];
    rows.push_back({.start = part.first_step * h,
                    .end = EndOf(result, p) * h,
                    .control = job.problem.controls[part.control].name,
                    .cut = part.cut_step * h,
                    .distance = part.distance,
                    .tries = part.tries,
                    .event = Name(part.event),
                    .transition = part.transition ? Name(*part.transition) : "",
                    .hidden_impulse = part.hidden_impulse});
  }
  return rows;
}

}  // namespace

void WriteComposition(results::RunFolder& folder, const CompositionJob& job, const Composition& result,
                      const RunContext& context) {
  std::string title;
  for (const std::string& name : job.options.play) title += (title.empty() ? "" : ", ") + name;
  std::vector<const StoredRun*> inputs;
  for (const LibraryControl& control : job.problem.controls) inputs.push_back(&control.run);
  ComposedRun run = MakeComposedRun(job.problem.controls[0].run.scene.characters[0], job.options.configuration, result);
  run.program = "compose";
  run.title = title;
  run.parts = PartsOf(job, result);
  run.member = "composition";
  run.what = CompositionMember(job, result);
  run.inputs = inputs;
  FinishWith(folder, WriteComposedRun(folder, run, context));
}

std::string FormatComposition(const CompositionJob& job, const Composition& result) {
  return FormatParts(PartsOf(job, result));
}

}  // namespace retrace::runs
