/// compose: a library of runs in, one control out that plays several of them and answers pushes.
#include <cstdio>

#include "common/brief_search.h"
#include "common/number_option.h"
#include "common/outcome.h"
#include "common/program.h"
#include "common/progress.h"
#include "retrace/io/error.h"
#include "retrace/io/number.h"
#include "retrace/planning/composition/composition.h"
#include "retrace/runs/stored/run_files.h"
#include "retrace/io/stop_request.h"
#include "retrace/jobs/composition_job.h"
#include "retrace/jobs/composition_files.h"

namespace retrace::compose_program {
namespace {

struct Options {
  runs::CompositionOptions job;
  std::string library, begin, transition = "searched";
  apps::BriefSearchArguments search;
};

void AddOptions(CLI::App& app, Options& o) {
  app.add_option("library", o.library, "Folder with a run in each sub-folder")->type_name("DIR")->required();
  app.add_option("--begin", o.begin,
                 "Folder of a run that comes first, as it is: a response to a blow, for example, with its pushes")
      ->type_name("RUN");
  app.add_option("--play", o.job.play, "Sub-folders in the order in which they are played, with commas between")
      ->type_name("NAME,NAME...")
      ->delimiter(',')
      ->required();
  app.add_option("--push", o.job.pushes,
                 "Push a body: BODY,FX:FY:FZ,START,DURATION with the force in N in world axes, times in s (repeatable)")
      ->type_name("PUSH")
      ->allow_extra_args(false);
  app.add_option("--transition", o.transition,
                 "searched: the next motion is searched from the state at hand; plain: its control goes on as it is; "
                 "kinematic: from its own state, with the pose blended, which is not physical")
      ->check(CLI::IsMember({"searched", "plain", "kinematic"}))
      ->capture_default_str();
  apps::AddNumber(app, "--seconds", o.job.seconds, io::Real{{0, 3600}},
                  "Endless: begin the plan again until the motion is so long; 0: play it once");
  app.add_option(
         "--push-every", o.job.push_every,
         "Push a body at each interval in a random direction, as BODY,NEWTON,INTERVAL,DURATION; needs --seconds")
      ->type_name("PUSHES");
  app.add_option(
         "--get-up", o.job.get_ups,
         "Sub-folders that lead up after a fall, in their order; the first may be NAME@SECOND, where it is entered; "
         "the n-th option is for the n-th fall (repeatable) [the nearest get-up]")
      ->type_name("NAME,NAME...")
      ->allow_extra_args(false);
  apps::AddNumber(app, "--cuts", o.job.cuts, io::Integer{1, 100}, "Ways into the next motion that are tried [6]");
  apps::AddBriefSearchOptions(app, o.search, "results/composed");
  app.set_version_flag("--version", "compose " + results::Version());
}

runs::CompositionOptions ParseOptions(const Options& o) {
  runs::CompositionOptions job = o.job;
  job.library = o.library;
  job.begin = o.begin;
  for (const runs::Transition transition : {runs::Transition::kPlain, runs::Transition::kKinematic}) {
    if (o.transition == runs::Name(transition)) job.transition = transition;
  }
  apps::Apply(o.search, job.configuration);
  return job;
}

int Compose(const Options& o, const std::string& command) {
  const results::RunTimer timer;
  const bool prints = apps::Prints(apps::ChooseProgress(o.search.progress, false));
  io::StopRequest stop(0);
  io::HandleStopSignals();
  const runs::CompositionJob job(ParseOptions(o));
  apps::Warn("compose", job.controls[0].run.solver_warning);
  const std::filesystem::path output = o.search.output.empty() ? "results/composed" : o.search.output;
  results::RunFolder folder(output, o.search.force, job.Files());
  runs::CompositionHooks hooks;
  hooks.on_part = [&](const runs::CompositionPart& part) {
    if (!prints) return;
    std::printf("  %s\n", runs::Describe(job, part).c_str());
    std::fflush(stdout);
  };
  hooks.on_try = [&](const runs::CompositionTry& tried) {
    if (!prints) return;
    std::printf("    %s\n", runs::Describe(job, tried).c_str());
    std::fflush(stdout);
  };
  hooks.on_back = [&](double time) {
    if (prints) std::printf("  nothing leads on from there: back to %s s\n", io::Fixed(time, 2).c_str());
  };
  hooks.stop = [&] { return stop(); };
  const runs::Composition result = runs::Compose(job, o.search.threads, hooks);
  runs::WriteComposition(folder, job, result, {command, {}, &timer});
  const double duration = result.control.duration();
  if (result.stopped) {
    throw StoppedError(stop.reason() + ": " + io::Fixed(duration, 2) + " s are composed, and in " + output.string());
  }
  if (prints) {
    std::printf("%s: %s, %s s\n%s  results in %s\n", o.library.c_str(), result.ending.c_str(),
                io::Fixed(duration, 2).c_str(), runs::Describe(result.evaluation, duration, false).c_str(),
                output.c_str());
    if (result.num_kinematic() > 0) {
      std::printf("  not physical: %zu transitions are kinematic\n", result.num_kinematic());
    }
  }
  return static_cast<int>(result.success() ? ExitCode::kSuccess : ExitCode::kBelowGate);
}

}  // namespace

int Main(int argc, char** argv) {
  const std::string command = apps::CommandLine(argc, argv);
  CLI::App app("Plays runs of a library one after the other, and answers pushes, as one control.", "compose");
  Options options;
  AddOptions(app, options);
  int exit_code = 0;
  if (!apps::ParseOptions(app, argc, argv, true, exit_code)) return exit_code;
  return apps::RunProgram("compose", true, [&] { return Compose(options, command); });
}

}  // namespace retrace::compose_program
