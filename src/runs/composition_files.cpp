#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "part_rows.h"
#include "retrace/control/control_file.h"
#include "retrace/io/csv_writer.h"
#include "retrace/io/number.h"
#include "retrace/runs/composition.h"
#include "retrace/runs/pushes.h"
#include "retrace/runs/run_files.h"
#include "retrace/runs/solver.h"

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

}  // namespace

void WriteComposition(results::RunFolder& folder, const CompositionJob& job, const Composition& result,
                      const RunContext& context) {
  const character::Character& character = job.controls[0].run.scene.characters[0];
  control::WriteControl(character, result.control,
                        [&](std::string_view piece) { folder.Append(results::kControlFile, piece); });
  folder.FinishFiles();
  const character::ReferenceMotion reference(character, kCompositionFrame, result.reference, kCompositionFrame);
  const control::Scene scene = control::MakeScene(character, result.control);
  std::string title;
  for (const std::string& name : job.options.play) title += (title.empty() ? "" : ", ") + name;
  MotionWriter writer(folder, "",
                      {character, result.control.world, &reference, title,
                       static_cast<size_t>(std::lround(result.evaluation.simulated_duration / scene.world.time_step))});
  ReplayInParts(scene, {}, [&](size_t, const control::Trajectory& part) { writer.Add(part); });
  writer.Finish();
  folder.Write(results::kCompositionFile, FormatComposition(job, result));
  io::Json manifest = {{"format", results::kRunFormat},
                       {"version", 2},
                       {"program", "compose"},
                       {"status", result.ending == "completed" ? "completed" : "partial"},
                       {"success", result.success()},
                       {"physical", result.num_kinematic() == 0},
                       {"evaluation", result.evaluation.ToJson()},
                       {"command", context.command},
                       {"configuration", job.options.configuration.ToJson()},
                       {"seed", job.options.configuration.sampling.seed},
                       {"composition", CompositionMember(job, result)},
                       {"solver", DescribeSolver(result.control.world)}};
  if (!job.pushes.empty()) manifest["pushes"] = PushesToJson(scene, job.pushes);
  manifest["inputs"] = io::Json::array();
  for (const LibraryControl& control : job.controls) {
    for (const ControlInput& input : control.run.controls) {
      manifest["inputs"].push_back({{"file", input.file.string()}, {"role", "control"}, {"sha256", input.sha256}});
    }
  }
  manifest["provenance"] = results::Provenance(context.timer != nullptr ? *context.timer : result.timer, {});
  FinishWith(folder, std::move(manifest));
}

std::string FormatComposition(const CompositionJob& job, const Composition& result) {
  const double h = result.control.world.time_step;
  std::vector<PartRow> rows;
  for (size_t p = 0; p < result.parts.size(); ++p) {
    const CompositionPart& part = result.parts[p];
    rows.push_back({part.first_step * h, EndOf(result, p) * h, job.controls[part.control].name, part.cut_step * h,
                    part.distance, part.tries, Name(part.event), part.transition ? Name(*part.transition) : "",
                    part.hidden_impulse});
  }
  return FormatParts(rows);
}

std::string FormatParts(const std::vector<PartRow>& rows) {
  io::CsvWriter csv;
  for (const char* column :
       {"start", "end", "control", "cut", "distance", "tries", "event", "transition", "hidden_impulse"})
    csv.Text(column);
  csv.EndRow();
  for (const PartRow& row : rows) {
    csv.Number(row.start);
    csv.Number(row.end);
    csv.Text(row.control);
    csv.Number(row.cut);
    csv.Number(row.distance);
    csv.Integer(row.tries);
    csv.Text(row.event);
    csv.Text(row.transition);
    csv.Number(row.hidden_impulse);
    csv.EndRow();
  }
  return csv.Take();
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

}  // namespace retrace::runs
