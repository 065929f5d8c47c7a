#include <string>
#include <vector>

#include "composed_run.h"
#include "retrace/io/number.h"
#include "retrace/runs/composition.h"
#include "retrace/runs/run_files.h"

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
                     {"control", job.controls[part.control].name},
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
                    .control = job.controls[part.control].name,
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
  for (const LibraryControl& control : job.controls) inputs.push_back(&control.run);
  ComposedRun run = MakeComposedRun(job.controls[0].run.scene.characters[0], job.options.configuration, result);
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

std::string Describe(const CompositionJob& job, const CompositionPart& part) {
  const LibraryControl& control = job.controls[part.control];
  const double h = control.control.world.time_step;
  const std::string start = io::Fixed(part.first_step * h, 2) + " s: ";
  const std::string distance = io::Fixed(part.distance, 2) + " m off";
  switch (part.event) {
    case CompositionEvent::kFall:
      return start + "falls, after a push";
    case CompositionEvent::kDrive:
      return start + "servos go to " + control.name + " at " + io::Fixed(part.cut_step * h, 2) + " s, state " +
             distance;
    case CompositionEvent::kPlan:
    case CompositionEvent::kAnswer:
    case CompositionEvent::kGetUp:
    case CompositionEvent::kResume:
      break;
  }
  if (part.tries == 0) return start + control.name;
  std::string text = start + control.name;
  text.append(" from ").append(io::Fixed(part.cut_step * h, 2)).append(" s on, state ").append(distance);
  text.append(", at try ").append(std::to_string(part.tries));
  if (part.event == CompositionEvent::kAnswer) text.append(", after a push");
  if (part.event == CompositionEvent::kResume) text.append(", on with the plan");
  if (part.transition == Transition::kKinematic) {
    text.append("; kinematic, for an impulse of ").append(io::Fixed(part.hidden_impulse, 0)).append(" N s");
  }
  return text;
}

std::string Describe(const CompositionJob& job, const CompositionTry& tried) {
  const LibraryControl& control = job.controls[tried.control];
  const double h = control.control.world.time_step;
  std::string text = io::Fixed(tried.exit_step * h, 2) + " s: " + control.name;
  text.append(" from ").append(io::Fixed(tried.cut_step * h, 2)).append(" s on, ");
  text.append(io::Fixed(tried.distance, 2)).append(" m off");
  if (tried.effort > 1) text.append(", with ").append(std::to_string(tried.effort)).append(" times the samples");
  if (tried.found) return text.append(": found, and ends ").append(io::Fixed(tried.end_distance, 2)).append(" m off");
  text.append(": lost after ").append(io::Fixed(tried.reached, 2)).append(" of ");
  return text.append(io::Fixed(tried.duration, 2)).append(" s");
}

}  // namespace retrace::runs
