/// strike: two recordings in, a scene out in which the one character strikes the other.
#include <cstdio>

#include "common/number_option.h"
#include "common/program.h"
#include "common/set_option.h"
#include "retrace/io/error.h"
#include "retrace/recordings/recording.h"
#include "retrace/simulation/solver_in_use.h"
#include "retrace/jobs/strike.h"

namespace retrace::strike_program {
namespace {

struct Options {
  runs::StrikeOptions job;
  std::string receiver, receiver_skeleton, attacker, attacker_skeleton, stance, output;
  std::vector<std::string> sets;
  bool force = false;
};

void AddOptions(CLI::App& app, Options& o) {
  app.add_option("receiver", o.receiver, "Recording of the one that is struck")->type_name("CLIP")->required();
  app.add_option("--skeleton", o.receiver_skeleton,
                 "Skeleton of an AMC motion (.asf), model of an OpenSim motion (.osim)")
      ->type_name("FILE");
  app.add_option("--performer", o.job.receiver.choice.performer,
                 "Which of the people in its file [the one with most joints; of a pair in one file the first]")
      ->type_name("NAME");
  apps::AddNumber(app, "--start", o.job.receiver.start, io::Real{character::kInstants},
                  "Second of the receiver's clip at which both begin");
  app.add_option("--attacker", o.attacker,
                 "Recording of the one that strikes [with --pair: in the receiver's file, which holds both]")
      ->type_name("CLIP");
  app.add_option("--attacker-skeleton", o.attacker_skeleton, "Its skeleton, where it needs one [that of the receiver]")
      ->type_name("FILE");
  app.add_option("--attacker-performer", o.job.attacker.choice.performer,
                 "Which of the people in its file [the one with most joints; of a pair in one file the other one]")
      ->type_name("NAME");
  apps::AddNumber(app, "--attacker-start", o.job.attacker.start, io::Real{character::kInstants},
                  "Second of the attacker's clip at which both begin");
  app.add_option("--stance", o.stance,
                 "Where the attacker is when both begin, seen from the receiver: AHEAD[,LEFT[,HEADING]] in m and "
                 "degrees; at 180 it looks the other way [1,0,180]")
      ->type_name("STANCE");
  app.add_flag("--pair", o.job.pair,
               "The two were recorded together: their places and their clock are those of the recordings");
  apps::AddNumber(app, "--within", o.job.within, io::Real{runs::kStrikeTimes},
                  "The first touch is looked for in so many seconds from there on [s]");
  apps::AddNumber(app, "--seconds", o.job.seconds, io::Real{runs::kStrikeTimes},
                  "From the touch on both have so much of their recordings to follow [s]");
  app.add_option("--character", o.job.character, "Character of both: a JSON file, or a name")
      ->type_name("NAME")
      ->capture_default_str();
  apps::AddSetOption(app, o.sets, "One setting of reconstruct",
                     [](const std::string& assignment) { runs::Configuration().Set(assignment); });
  app.add_option("--output", o.output, "Folder for the results [results/ATTACKER-strikes-RECEIVER]")->type_name("DIR");
  app.add_flag("--force", o.force, "Write into a folder that holds results already");
  app.set_version_flag("--version", "strike " + results::Version());
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
                     " with it, expected places and clock as recorded");
  }
  if (!o.stance.empty()) job.stance = runs::ParseStance(o.stance);
  for (const std::string& assignment : o.sets) job.configuration.Set(assignment);
  return job;
}

int Strike(const Options& o, const std::string& command) {
  const results::RunTimer timer;
  const runs::StrikeJob job(ParseOptions(o));
  apps::Warn("strike", simulation::SolverWarning(job.options.configuration.task.world));
  const auto name = [](const std::string& file) { return std::filesystem::path(file).stem().string(); };
  const std::string output = o.output.empty() ? "results/" + name(o.attacker.empty() ? o.receiver : o.attacker) +
                                                    "-strikes-" + name(o.receiver)
                                              : o.output;
  results::RunFolder folder(output, o.force, runs::PathsOf(job.inputs));
  const runs::Strike result = runs::SimulateStrike(job);
  runs::WriteStrike(folder, job, result, {command, {}, &timer});
  std::printf("%s  results in %s\n", runs::Describe(job, result).c_str(), output.c_str());
  return static_cast<int>(result.success() ? ExitCode::kSuccess : ExitCode::kBelowGate);
}

}  // namespace

int Main(int argc, char** argv) {
  const std::string command = apps::CommandLine(argc, argv);
  CLI::App app("Puts two recordings into one world, and simulates how the one character strikes the other.", "strike");
  Options options;
  AddOptions(app, options);
  int exit_code = 0;
  if (!apps::ParseOptions(app, argc, argv, true, exit_code)) return exit_code;
  return apps::RunProgram("strike", true, [&] { return Strike(options, command); });
}

}  // namespace retrace::strike_program
