/// strike: two recordings in, a scene out in which the one character strikes the other.
#include "retrace/jobs/strike.h"

#include <cstdio>
#include <memory>

#include "cli/number_option.h"
#include "cli/program.h"
#include "cli/set_option.h"
#include "commands.h"
#include "retrace/io/error.h"
#include "retrace/recordings/recording.h"
#include "retrace/simulation/solver_in_use.h"

namespace retrace::apps::strike_command {
namespace {

struct Options {
  runs::StrikeOptions job;
  std::string receiver, receiver_skeleton, attacker, attacker_skeleton, stance, output;
  std::vector<std::string> sets;
  bool force = false;
};

void AddOptions(cli::Command& command, Options& o) {
  command.Add("receiver", o.receiver, "Recording of the receiver").Type("CLIP").Required();
  command.Add("--skeleton", o.receiver_skeleton, "Skeleton of an AMC motion (.asf), model of an OpenSim motion (.osim)")
      .Type("FILE");
  command
      .Add("--performer", o.job.receiver.choice.performer,
           "Which of the people in its file [the one with most joints; of a pair in one file the first]")
      .Type("NAME");
  cli::AddNumber(command, "--start", o.job.receiver.start, io::Real{character::kInstants},
                 "Second of the receiver's clip at which both begin");
  command
      .Add("--attacker", o.attacker,
           "Recording of the one that strikes [with --pair: in the receiver's file, which holds both]")
      .Type("CLIP");
  command.Add("--attacker-skeleton", o.attacker_skeleton, "Its skeleton, where it needs one [that of the receiver]")
      .Type("FILE");
  command
      .Add("--attacker-performer", o.job.attacker.choice.performer,
           "Which of the people in its file [the one with most joints; of a pair in one file the other one]")
      .Type("NAME");
  cli::AddNumber(command, "--attacker-start", o.job.attacker.start, io::Real{character::kInstants},
                 "Second of the attacker's clip at which both begin");
  command
      .Add("--stance", o.stance,
           "Where the attacker is when both begin, seen from the receiver: AHEAD[,LEFT[,HEADING]] in m and "
           "degrees; at 180 it faces backwards [1,0,180]")
      .Type("STANCE");
  command.AddFlag("--pair", o.job.pair,
                  "The two were recorded together: their positions and their clock are those of the recordings");
  cli::AddNumber(command, "--search-window,--within", o.job.within, io::Real{runs::kStrikeTimes},
                 "The first touch is looked for in so many seconds from there on [s]");
  cli::AddNumber(command, "--seconds", o.job.seconds, io::Real{runs::kStrikeTimes},
                 "From the touch on both have so much of their recordings to follow [s]");
  command.Add("--character", o.job.character, "Character of both: a JSON file, or a name").Type("NAME").ShowDefault();
  cli::AddSetOption(command, o.sets, "One setting of reconstruct",
                    [](const std::string& assignment) { runs::Configuration().Set(assignment); });
  command.Add("--output", o.output, "Folder for the results [results/ATTACKER-strikes-RECEIVER]").Type("DIR");
  command.AddFlag("--force", o.force, "Write into a folder that holds results already");
}

runs::StrikeOptions ParseOptions(const Options& o) {
  runs::StrikeOptions job = o.job;
  job.receiver.file = o.receiver;
  job.receiver.skeleton = o.receiver_skeleton;
  job.attacker.file = o.attacker;
  job.attacker.skeleton = o.attacker_skeleton;
  if (o.attacker.empty() && !o.job.pair) {
    throw UsageError("--attacker is required; without it only --pair takes both of one file");
  }
  if (o.attacker.empty() && !o.attacker_skeleton.empty()) {
    throw UsageError("--attacker-skeleton: found " + o.attacker_skeleton + " without --attacker, expected both");
  }
  if (o.attacker_skeleton.empty() && runs::LacksSkeleton(job.attacker)) job.attacker.skeleton = o.receiver_skeleton;
  for (const auto* clip : {&job.receiver, &job.attacker}) {
    if (runs::LacksSkeleton(*clip)) {
      throw UsageError(clip->file.string() + ": a " + runs::ExtensionOf(clip->file) + " file needs " +
                       (clip == &job.receiver ? "--skeleton" : "--attacker-skeleton") + " FILE" +
                       recordings::FormatOf(clip->file)->skeleton_ending);
    }
  }
  if (o.job.pair && (!o.stance.empty() || job.attacker.start != 0)) {
    throw UsageError(std::string("--pair: found ") + (o.stance.empty() ? "--attacker-start" : "--stance") +
                     " with it, expected positions and clock as recorded");
  }
  if (!o.stance.empty()) job.stance = runs::ParseStance(o.stance);
  for (const std::string& assignment : o.sets) job.configuration.Set(assignment);
  return job;
}

int Strike(const Options& o, const Call& call) {
  const results::RunTimer timer;
  const runs::StrikeJob job(ParseOptions(o));
  cli::Warn(call.name, simulation::SolverWarning(job.options.configuration.task.world));
  const auto name = [](const std::string& file) { return std::filesystem::path(file).stem().string(); };
  const std::string output = o.output.empty() ? "results/" + name(o.attacker.empty() ? o.receiver : o.attacker) +
                                                    "-strikes-" + name(o.receiver)
                                              : o.output;
  results::RunFolder folder(output, o.force, runs::PathsOf(job.inputs));
  const runs::Strike result = runs::SimulateStrike(job);
  runs::WriteStrike(folder, job, result, {call.line, {}, &timer});
  std::printf("%s  results in %s\n", cli::ShownLines(runs::Describe(job, result)).c_str(), cli::Shown(output).c_str());
  return static_cast<int>(result.success() ? ExitCode::kSuccess : ExitCode::kBelowGate);
}

}  // namespace

Body Define(cli::Command& command) {
  const auto options = std::make_shared<Options>();
  AddOptions(command, *options);
  return [options](const Call& call) { return Strike(*options, call); };
}

}  // namespace retrace::apps::strike_command
