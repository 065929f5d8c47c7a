#include "composed_run.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>

#include "retrace/control/control_file.h"
#include "retrace/control/pushes.h"
#include "retrace/io/csv_writer.h"
#include "retrace/planning/segments/joined_control.h"
#include "retrace/runs/stored/run_files.h"
#include "retrace/simulation/solver_in_use.h"

namespace retrace::runs {

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

io::Json ManifestOf(const ComposedRun& run, const RunContext& context) {
  io::Json manifest = {{"format", results::kRunFormat},
                       {"version", 2},
                       {"program", run.program},
                       {"status", run.completed ? "completed" : "partial"},
                       {"success", run.success},
                       {"physical", run.control.physical()},
                       {"evaluation", run.evaluation.ToJson()},
                       {"command", context.command},
                       {"configuration", run.configuration.ToJson()},
                       {"seed", run.configuration.sampling.seed},
                       {run.member, run.what}};
  const bool of_a_scene = !run.characters->is_null();
  if (of_a_scene) manifest["characters"] = run.characters;
  manifest["solver"] = simulation::DescribeSolver(run.control.world);
  if (!of_a_scene && !run.control.pushes.empty()) {
    manifest["pushes"] = control::PushesToJson(control::MakeScene(run.character, run.control), run.control.pushes);
  }
  manifest["inputs"] = io::Json::array();
  for (const StoredRun* const stored : run.inputs) {
    for (const ControlInput& input : stored->controls) {
      manifest["inputs"].push_back({{"file", input.file.string()}, {"role", "control"}, {"sha256", input.sha256}});
    }
  }
  manifest["provenance"] = results::Provenance(context.timer != nullptr ? *context.timer : run.timer, {});
  return manifest;
}

io::Json WriteComposedRun(results::RunFolder& folder, const ComposedRun& run, const RunContext& context) {
  control::WriteControl(run.character, run.control,
                        [&](std::string_view piece) { folder.Append(results::kControlFile, piece); });
  folder.FinishFiles();
  const character::ReferenceMotion reference(run.character, kCompositionFrame, run.reference, kCompositionFrame);
  const control::Scene scene = control::MakeScene(run.character, run.control);
  const auto steps = static_cast<size_t>(std::lround(run.evaluation.simulated_duration / run.control.world.time_step));
  MotionWriter writer(folder, "", {run.character, run.control.world, &reference, run.title, steps});
  ReplayInParts(scene, {}, [&](size_t, const control::Trajectory& part) { writer.Add(part); });
  writer.Finish();
  folder.Write(results::kCompositionFile, FormatParts(run.parts));
  return ManifestOf(run, context);
}

}  // namespace retrace::runs
