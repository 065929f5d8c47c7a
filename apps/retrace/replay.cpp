/// replay: simulates a stored control in a fresh process.
#include "retrace/runs/stored/replay.h"

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/number_option.h"
#include "cli/program.h"
#include "cli/set_option.h"
#include "commands.h"
#include "common/job_options.h"
#include "common/json_printout.h"
#include "retrace/control/push_text.h"
#include "retrace/control/pushes.h"
#include "retrace/io/error.h"
#include "retrace/jobs/push_table.h"
#include "retrace/runs/inputs/world_input.h"
#include "retrace/runs/stored/manifest.h"
#include "retrace/runs/stored/perturbation.h"
#include "retrace/runs/stored/replay_files.h"
#include "retrace/runs/stored/stored_feedback.h"
#include "retrace/runs/stored/stored_scene.h"
#include "verify.h"

namespace retrace::apps::replay_command {
namespace {

struct Options {
  std::string folder;
  std::string output;
  bool force = false;
  bool verify = false;
  bool track_only = false;
  std::vector<std::string> others;
  std::vector<std::string> pushes;
  runs::PushTableOptions table;  // without a body: none is asked for
  std::vector<std::string> worlds;
  std::vector<std::string> sets;
  bool feedback = false;
  bool tree = false;
  bool json = false;
};

io::Json JsonOf(const std::vector<runs::PushOutcome>& outcomes, const runs::StoredRun& run) {
  io::Json rows = io::Json::array();
  for (const runs::PushOutcome& outcome : outcomes) {
    rows.push_back({{"body", run.scene.characters[0].bodies[static_cast<size_t>(outcome.push.body)].name},
                    {"newton", outcome.size},
                    {"direction", outcome.direction},
                    {"start", outcome.push.start},
                    {"survived", outcome.survived},
                    {"left", outcome.left},
                    {"tolerance", outcome.gate}});
  }
  return rows;
}

io::Json JsonOf(const runs::Replayed& replayed) {
  io::Json characters = io::Json::array();
  for (const runs::CharacterReplay& character : replayed.characters) {
    characters.push_back(
        {{"duration", static_cast<double>(character.trajectory.num_steps()) * character.trajectory.time_step},
         {"evaluation", apps::JsonOf(character.evaluation)}});
  }
  return {{"success", replayed.success()},
          {"completed", replayed.completed()},
          {"diverged", replayed.diverged()},
          {"characters", characters}};
}

/// @param unpushed of the motion without a push @param with_feedback empty: there is none
void PrintPushTable(const Options& o, const metrics::Evaluation& unpushed,
                    const std::vector<runs::PushOutcome>& outcomes,
                    const std::vector<runs::PushOutcome>& with_feedback) {
  std::printf(
      "%s: pushed at %s for %.2f s, seconds from then until the tolerances are exceeded (end: not before %.2f s)%s\n%s",
      cli::Shown(o.folder).c_str(), cli::Shown(o.table.body).c_str(), o.table.duration, unpushed.simulated_duration,
      with_feedback.empty() ? "" : ": open loop | with feedback",
      cli::ShownLines(runs::DescribePushTable(outcomes, with_feedback)).c_str());
}

/// Makes and prints the table of pushes, and writes it where there is a folder to write to. With feedback `unpushed` is
/// the motion under it.
int TabulatePushes(const Call& call, const Options& o, const runs::StoredRun& run, const runs::Replayed& unpushed,
                   const runs::RunContext& context, const runs::ReplayOptions& replay) {
  const std::optional<metrics::Evaluation>& evaluation = unpushed.characters[0].evaluation;
  const metrics::Gate* gate = evaluation ? evaluation->FirstViolated() : nullptr;
  if (gate != nullptr) {
    std::fprintf(stderr, "%s: %s: exceeds the tolerance %s at %.2f s without a push: there is nothing to survive\n",
                 cli::Shown(call.name).c_str(), cli::Shown(o.folder).c_str(), cli::Shown(gate->name).c_str(),
                 gate->first_violation);
    return static_cast<int>(ExitCode::kBelowGate);
  }
  const std::vector<runs::PushOutcome> outcomes = runs::TryPushes(run, unpushed.first(), o.table);
  std::vector<runs::PushOutcome> with_feedback;
  if (replay.feedback != nullptr) {
    with_feedback = runs::TryPushes(run, unpushed.first(), o.table, [&](std::vector<control::Push> pushes) {
      return runs::ReplayWithFeedback(run, *replay.feedback, std::move(pushes)).replayed;
    });
  }
  if (o.json) {
    io::Json json = {{"folder", o.folder}, {"duration", o.table.duration}, {"open_loop", JsonOf(outcomes, run)}};
    if (replay.feedback != nullptr) json["with_feedback"] = JsonOf(with_feedback, run);
    PrintJson(json);
  } else {
    PrintPushTable(o, *evaluation, outcomes, with_feedback);
  }
  if (o.output.empty()) return 0;
  results::RunFolder out(o.output, o.force, run.Files());
  runs::WritePushTable(out, run, outcomes, context, replay, with_feedback);
  return 0;
}

void CheckOptions(const Options& o) {
  const bool tabulates = !o.table.body.empty();
  const bool pushed = !o.pushes.empty() || tabulates;
  if (o.verify && o.track_only)
    throw UsageError("--verify compares the stored control; it cannot go with --track-only");
  if (o.verify && pushed)
    throw UsageError("--verify compares with what is stored; it cannot go with --push or --push-table");
  if (o.verify && !o.worlds.empty())
    throw UsageError("--verify compares the stored control in its own world; it cannot go with --world");
  if (o.verify && !o.others.empty())
    throw UsageError("--verify compares with what is stored; it cannot go with --with");
  if (tabulates && !o.others.empty()) throw UsageError("--push-table is of one character; it cannot go with --with");
  const std::string changing = o.feedback ? "--feedback" : o.sets.empty() ? "" : "--set";
  if (o.verify && !changing.empty())
    throw UsageError("--verify compares with what is stored; it cannot go with " + changing);
  if (!o.others.empty() && !changing.empty())
    throw UsageError(changing + " is of one character; it cannot go with --with");
  if (o.track_only && o.feedback)
    throw UsageError("--feedback is that of the stored control; it cannot go with --track-only");
  if (o.tree && !o.feedback) throw UsageError("--tree is of feedback; it needs --feedback");
  if (!o.pushes.empty() && tabulates)
    throw UsageError("--push-table tries pushes of its own; it cannot go with --push");
}

int Replay(const Options& o, const Call& call) {
  const results::RunTimer timer;
  const runs::RunContext context{call.line, {}, &timer};
  CheckOptions(o);
  runs::StoredRun run(o.folder);
  cli::Warn(call.name, run.solver_warning);
  if (!o.verify && !o.track_only) run.RequirePhysical("only --verify and --track-only are of use");
  runs::ReplaySettings settings;
  for (const std::string& assignment : o.sets) settings.Set(assignment);
  std::optional<runs::RunFeedback> feedback;  // before the world becomes another one
  if (o.feedback) {
    feedback.emplace(run, settings.reindexing, o.tree);
    feedback->sensors = settings.sensors;
  } else if (!settings.sensors.empty()) {
    throw UsageError("/sensors is what feedback sees; it needs --feedback");
  }
  std::vector<std::string> notes;
  if (const task::WorldVariation world = runs::ReadWorlds(o.worlds); !world.empty()) {
    const task::PlacedWorld placed = runs::PutInto(world, run);
    for (const std::string& note : placed.notes) notes.push_back("world: " + note);
    for (const std::string& warning : placed.warnings) notes.push_back("warning: " + warning);
  }
  for (const std::string& text : o.others) {
    const runs::JoiningRun other = runs::ParseJoiningRun(text);
    for (const std::string& note : runs::Join(runs::StoredRun(other.folder), other.placement, run)) {
      notes.push_back("with: " + note);
    }
  }
  for (const std::string& note : notes) {
    if (!o.json) std::printf("  %s\n", cli::Shown(note).c_str());
  }
  if (!o.table.body.empty()) run.RequireOneCharacter("--push-table is of one");
  if (o.track_only) TrackReference(run);
  runs::Perturb(settings.perturbation, run);
  std::vector<control::Push> pushes;
  for (const std::string& push : o.pushes) pushes.push_back(control::ParsePush(push, run.scene));
  if (o.verify && o.output.empty()) return PrintVerification(call.name, run, o.json);
  if (o.verify) pushes = run.pushes;
  runs::Replayed replayed;
  runs::ReplayOptions options{o.track_only};
  if (!settings.perturbation.empty()) options.perturbation = io::Write(settings.perturbation);
  std::optional<runs::FeedbackReplay> with_feedback;
  if (feedback) {
    with_feedback = runs::ReplayWithFeedback(run, *feedback, pushes);
    options.feedback = &*feedback;
    options.feedback_replay = &*with_feedback;
  }
  if (!feedback || o.table.body.empty()) replayed = runs::Replay(run, pushes);
  const runs::Replayed& motion = with_feedback ? with_feedback->replayed : replayed;
  if (!o.table.body.empty()) return TabulatePushes(call, o, run, motion, context, options);
  if (!o.output.empty()) {
    results::RunFolder out(o.output, o.force, run.Files());
    runs::WriteReplay(out, run, motion, context, options);
  }
  if (o.verify) return PrintVerification(call.name, run, o.json);
  const ExitCode code = motion.success() ? ExitCode::kSuccess : ExitCode::kBelowGate;
  if (o.json) {
    io::Json json = JsonOf(motion);
    json["folder"] = o.folder;
    json["output"] = o.output.empty() ? io::Json() : io::Json(o.output);
    json["notes"] = notes;
    if (with_feedback) json["open_loop"] = JsonOf(replayed);
    PrintJson(json);
    return static_cast<int>(code);
  }
  std::printf("%s", cli::ShownLines(with_feedback ? runs::Describe(run, *with_feedback, replayed)
                                                  : runs::Describe(run, replayed))
                        .c_str());
  return static_cast<int>(code);
}

void AddOptions(cli::Command& command, Options& o) {
  command.Add("folder", o.folder, "Folder of a run").Type("DIR").Required();
  command.Add("--output", o.output, "Write the replayed motion there").Type("DIR");
  command.AddFlag("--force", o.force, "Write into a folder that holds results already");
  command.AddFlag("--verify", o.verify, "Compare every state, contact and torque with the stored ones, bit for bit");
  command.AddFlag("--track-only", o.track_only, "Drive the servos at the reference itself instead of the control");
  command
      .Add("--with", o.others,
           "The characters of another run join the world: OTHER[,X,Z[,HEADING]], moved in m and turned in degrees "
           "(repeatable)")
      .Type("RUN")
      .OneEach();
  command
      .Add("--push", o.pushes,
           "A force on a body's center of mass while it replays: BODY,FX:FY:FZ,START,DURATION in N (world axes) "
           "and s; of several characters 2:BODY (repeatable)")
      .Type("PUSH")
      .OneEach();
  const cli::Option table =
      command
          .Add("--push-table", o.table.body,
               "Push a body in four directions by several forces at several times: how long does the "
               "control stay within tolerance?")
          .Type("BODY");
  cli::AddNumber(command, "--push-forces", o.table.forces, io::Reals{runs::kPushSizes, 100},
                 "Forces of the table, with commas between [N] [25,50,100,200]")
      .Needs(table);
  cli::AddNumber(command, "--push-times", o.table.times, io::Reals{control::kPushTimes, 100},
                 "When the table's pushes begin, with commas between [s] [quarters of the motion]")
      .Needs(table);
  cli::AddNumber(command, "--push-duration", o.table.duration, io::Real{control::kPushDurations},
                 "How long they last [s]")
      .Needs(table);
  AddWorldOption(command, o.worlds);
  command.AddFlag("--feedback", o.feedback,
                  "Under the feedback that `feedback add` made for the run, with the open loop beside it");
  command.AddFlag("--tree", o.tree, "With the tree that `feedback grow` grew around the feedback");
  AddJsonOption(command, o.json);
  cli::AddSetOption(command, o.sets, "Another friction, gravity, contact, mass or start, or a setting of the feedback",
                    [](const std::string& assignment) { runs::ReplaySettings().Set(assignment); });
}

}  // namespace

Body Define(cli::Command& command) {
  const auto options = std::make_shared<Options>();
  AddOptions(command, *options);
  return [options](const Call& call) { return Replay(*options, call); };
}

}  // namespace retrace::apps::replay_command
