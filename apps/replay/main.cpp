/// replay: simulates a stored control in a fresh process.
#include <cstdio>

#include "common/job_options.h"
#include "common/program.h"
#include "retrace/character/skeleton.h"
#include "retrace/control/control_file.h"
#include "retrace/io/error.h"
#include "retrace/io/file.h"
#include "retrace/io/number.h"
#include "retrace/results/provenance.h"
#include "retrace/runs/pushes.h"
#include "retrace/runs/run_files.h"
#include "retrace/runs/stored_run.h"
#include "retrace/runs/world_input.h"

namespace {

using namespace retrace;
namespace fs = std::filesystem;

struct Options {
  std::string folder;
  std::string output;
  bool force = false;
  bool verify = false;
  bool track_only = false;
  std::vector<std::string> pushes;
  std::string push_table;  // body
  runs::PushTableOptions table;

  const char* program() const {
    return !push_table.empty() ? "replay --push-table"
           : !pushes.empty()   ? "replay --push"
           : track_only        ? "replay --track-only"
                               : "replay";
  }
  std::vector<std::string> worlds;
};

int Verify(const runs::StoredRun& run, const control::Trajectory& trajectory) {
  const std::string difference = run.FirstDifference(trajectory, true);
  if (!difference.empty()) {
    std::fprintf(stderr, "replay: %s\n", difference.c_str());
    return static_cast<int>(ExitCode::kBelowGate);
  }
  std::printf("%s: all %zu states, contacts and torques are the same to the bit%s\n", run.folder.c_str(),
              trajectory.states.size(), run.pushes.empty() ? "" : ", under the pushes of its manifest");
  return 0;
}

/// Makes and prints the table of pushes, and writes it where there is a folder to write to.
int TabulatePushes(const Options& o, const std::string& command, const results::RunTimer& timer,
                   const runs::StoredRun& run, const control::Trajectory& trajectory,
                   const metrics::Evaluation& evaluation) {
  if (const metrics::Gate* gate = evaluation.FirstViolated()) {
    std::fprintf(stderr, "replay: %s: leaves the gate %s at %.2f s without a push: there is nothing to survive\n",
                 o.folder.c_str(), gate->name.c_str(), gate->first_violation);
    return static_cast<int>(ExitCode::kBelowGate);
  }
  const control::LoadedControl& loaded = run.loaded;
  runs::PushTableOptions options = o.table;
  options.body = loaded.character.FindBody(o.push_table);
  // Refuses a body that there is not and times outside the motion, with the message of a single push.
  runs::ParsePush(o.push_table + ",1:0:0,0,1", loaded.character, loaded.control.duration());
  for (const double time : options.times) {
    runs::ParsePush(o.push_table + ",1:0:0," + io::Number(time) + ",1", loaded.character, loaded.control.duration());
  }
  const auto outcomes = runs::TryPushes(loaded.character, loaded.control, trajectory, *run.reference,
                                        run.expected_duration(), run.gates, options);
  std::printf("%s: pushed at %s for %.2f s, seconds from then until the gates are left (end: not before %.2f s)\n%s",
              o.folder.c_str(), o.push_table.c_str(), options.duration, evaluation.simulated_duration,
              runs::DescribePushTable(outcomes).c_str());
  if (o.output.empty()) return 0;
  results::RunFolder out(o.output, o.force);
  out.Write(results::kPushTableFile, runs::FormatPushTable(loaded.character, outcomes));
  io::Json manifest;
  manifest["format"] = "retrace-run";
  manifest["version"] = 1;
  manifest["program"] = o.program();
  manifest["status"] = "completed";
  manifest["command"] = command;
  const fs::path control_file = run.folder / results::kControlFile;
  manifest["inputs"] = {{{"file", control_file.string()}, {"sha256", io::Sha256(io::ReadFile(control_file))}}};
  manifest["provenance"] = results::Provenance(timer, {});
  manifest["files"] = out.Files();
  out.Finish(manifest);
  return 0;
}

void CheckOptions(const Options& o) {
  const bool pushed = !o.pushes.empty() || !o.push_table.empty();
  if (o.verify && o.track_only)
    throw UsageError("--verify compares the stored control; it cannot go with --track-only");
  if (o.verify && pushed)
    throw UsageError("--verify compares with what is stored; it cannot go with --push or --push-table");
  if (o.verify && !o.worlds.empty())
    throw UsageError("--verify compares the stored control in its own world; it cannot go with --world");
  if (!o.pushes.empty() && !o.push_table.empty())
    throw UsageError("--push-table tries pushes of its own; it cannot go with --push");
}

int Replay(const Options& o, const std::string& command) {
  const results::RunTimer timer;
  CheckOptions(o);
  runs::StoredRun run(o.folder);
  if (const task::AlteredWorld world = runs::ReadWorlds(o.worlds); !world.empty()) {
    const task::PlacedWorld placed = run.PutInto(world);
    for (const std::string& note : placed.notes) std::printf("  world: %s\n", note.c_str());
    for (const std::string& warning : placed.warnings) std::printf("  warning: %s\n", warning.c_str());
  }
  const control::LoadedControl& loaded = run.loaded;
  const character::ReferenceMotion* reference = run.reference ? &*run.reference : nullptr;
  if (o.track_only) {
    if (reference == nullptr) throw InputError(run.reference_file().string(), "no such file", "the reference to track");
    runs::TrackReference(*reference, run.loaded.control);
  }
  std::vector<control::Push> pushes;
  for (const std::string& push : o.pushes) {
    pushes.push_back(runs::ParsePush(push, loaded.character, loaded.control.duration()));
  }
  if (o.verify) pushes = run.pushes;
  const control::Trajectory trajectory = control::Replay(loaded.character, loaded.control, pushes);
  const std::optional<metrics::Evaluation> evaluation = run.Evaluate(trajectory);
  if (!o.push_table.empty()) {
    if (!evaluation)
      throw InputError(run.reference_file().string(), "no such file", "the reference that the gates follow");
    return TabulatePushes(o, command, timer, run, trajectory, *evaluation);
  }
  if (!o.output.empty()) {
    results::RunFolder out(o.output, o.force);
    std::string title = o.track_only ? "naive tracking" : "replay";
    if (!pushes.empty()) title += ", pushed";
    runs::WriteMotion(out, loaded.character, loaded.control, trajectory, reference, title);
    io::Json manifest;
    manifest["format"] = "retrace-run";
    manifest["version"] = 1;
    manifest["program"] = o.program();
    if (!pushes.empty()) {
      manifest["perturbed"] = true;  // no result of the control alone
      manifest["pushes"] = runs::PushesToJson(loaded.character, pushes);
    }
    manifest["status"] = trajectory.diverged                    ? "diverged"
                         : evaluation && !evaluation->completed ? "partial"
                                                                : "completed";
    if (evaluation) {
      manifest["success"] = evaluation->success();
      manifest["evaluation"] = evaluation->ToJson();
    }
    manifest["command"] = command;
    const fs::path control_file = run.folder / results::kControlFile;
    manifest["inputs"] = {{{"file", control_file.string()}, {"sha256", io::Sha256(io::ReadFile(control_file))}}};
    manifest["provenance"] = results::Provenance(timer, {});
    manifest["files"] = out.Files();
    out.Finish(manifest);
  }
  if (o.verify) {
    const int code = Verify(run, trajectory);
    if (code == 0 && evaluation && !evaluation->completed) {
      std::printf("  the control is a part: %.2f of %.2f s\n", evaluation->simulated_duration, run.expected_duration());
    }
    return code;
  }
  for (const control::Push& push : pushes) {
    std::printf("%s: pushed: %s\n", o.folder.c_str(), runs::Describe(loaded.character, push).c_str());
  }
  if (pushes.empty() && !run.pushes.empty()) {
    std::printf("%s: this motion was made under pushes; this is its control without them\n", o.folder.c_str());
  }
  if (!evaluation) {
    std::printf("%s: replayed %.2f s; there is no reference to compare with\n", o.folder.c_str(),
                static_cast<double>(trajectory.num_steps()) * trajectory.time_step);
    return 0;
  }
  std::printf("%s: %s%s\n%s", o.folder.c_str(), pushes.empty() ? "" : "pushed, ",
              evaluation->success() ? "within the gates" : "below the gates",
              runs::Describe(*evaluation, run.expected_duration(), trajectory.diverged).c_str());
  return static_cast<int>(evaluation->success() ? ExitCode::kSuccess : ExitCode::kBelowGate);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string command = apps::CommandLine(argc, argv);
  CLI::App app("Simulates the control of a run in a fresh process.", "replay");
  Options options;
  app.add_option("folder", options.folder, "Folder of a run")->type_name("DIR")->required();
  app.add_option("--output", options.output, "Write the replayed motion there")->type_name("DIR");
  app.add_flag("--force", options.force, "Write into a folder that holds results already");
  app.add_flag("--verify", options.verify, "Compare every state, contact and torque with the stored ones, bit for bit");
  app.add_flag("--track-only", options.track_only, "Drive the servos at the reference itself instead of the control");
  app.add_option("--push", options.pushes,
                 "A force on a body's centre of mass while it replays: BODY,FX:FY:FZ,START,DURATION in N (world axes) "
                 "and s (repeatable)")
      ->type_name("PUSH")
      ->allow_extra_args(false);
  auto* table = app.add_option("--push-table", options.push_table,
                               "Push a body in four directions by several forces at several times: how long does the "
                               "control stay inside the gates?")
                    ->type_name("BODY");
  app.add_option("--push-forces", options.table.forces, "Forces of the table [N] [25,50,100,200]")
      ->delimiter(',')
      ->check(CLI::PositiveNumber)
      ->needs(table);
  app.add_option("--push-times", options.table.times, "When the table's pushes begin [s] [quarters of the motion]")
      ->delimiter(',')
      ->check(CLI::NonNegativeNumber)
      ->needs(table);
  app.add_option("--push-duration", options.table.duration, "How long they last [s]")
      ->check(CLI::PositiveNumber)
      ->needs(table)
      ->capture_default_str();
  apps::AddWorldOption(app, options.worlds);
  app.set_version_flag("--version", "replay " + results::Version());
  int exit_code = 0;
  if (!apps::ParseOptions(app, argc, argv, true, exit_code)) return exit_code;
  return apps::RunProgram("replay", true, [&] { return Replay(options, command); });
}
