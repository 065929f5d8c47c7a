/// compose: a library of runs in, one control out that plays several of them and answers pushes.
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/number_option.h"
#include "cli/program.h"
#include "commands.h"
#include "common/brief_search.h"
#include "common/json_printout.h"
#include "common/outcome.h"
#include "common/progress.h"
#include "retrace/io/error.h"
#include "retrace/io/number.h"
#include "retrace/io/stop_request.h"
#include "retrace/jobs/composition_files.h"
#include "retrace/jobs/composition_job.h"
#include "retrace/planning/composition/composition.h"
#include "retrace/runs/stored/run_files.h"

namespace retrace::apps::compose_command {
namespace {

struct Options {
  runs::CompositionOptions job;
  std::string library, begin, transition = "searched";
  BriefSearchArguments search;
};

void AddOptions(cli::Command& command, Options& o) {
  command.Add("library", o.library, "Folder with a run in each sub-folder").Type("DIR").Required();
  command
      .Add("--begin", o.begin,
           "Folder of a run that comes first, as it is: a response to an impact, for example, with its pushes")
      .Type("RUN");
  command.Add("--play", o.job.play, "Sub-folders in the order in which they are played, with commas between")
      .Type("NAME,NAME...")
      .Separator(',')
      .Required();
  command
      .Add("--push", o.job.pushes,
           "Push a body: BODY,FX:FY:FZ,START,DURATION with the force in N in world axes, times in s (repeatable)")
      .Type("PUSH")
      .OneEach();
  command
      .Add("--transition", o.transition,
           "searched: the next motion is searched from the state at hand; plain: its control goes on as it is; "
           "kinematic: from its own state, with the pose blended, which is not physical")
      .OneOf({"searched", "plain", "kinematic"})
      .ShowDefault();
  cli::AddNumber(command, "--seconds", o.job.seconds, io::Real{{0, 3600}},
                 "Endless: begin the plan again until the motion is so long; 0: play it once");
  command
      .Add("--push-every", o.job.push_every,
           "Push a body at each interval in a random direction, as BODY,NEWTON,INTERVAL,DURATION; needs --seconds")
      .Type("PUSHES");
  command
      .Add("--get-up", o.job.get_ups,
           "Sub-folders that lead up after a fall, in their order; the first may be NAME@SECOND, where it is entered; "
           "the n-th option is for the n-th fall (repeatable) [the nearest get-up]")
      .Type("NAME,NAME...")
      .OneEach();
  command
      .Add("--break-fall", o.job.break_falls,
           "Sub-folders that may be entered during a fall, such as a roll, or none; the n-th option is for the n-th "
           "fall "
           "(repeatable) [all that are near]")
      .Type("NAME,NAME...")
      .OneEach();
  cli::AddNumber(command, "--cuts", o.job.cuts, io::Integer{1, 100}, "Ways into the next motion that are tried [6]");
  AddBriefSearchOptions(command, o.search, "results/composed");
}

runs::CompositionOptions ParseOptions(const Options& o) {
  runs::CompositionOptions job = o.job;
  job.library = o.library;
  job.begin = o.begin;
  for (const runs::Transition transition : {runs::Transition::kPlain, runs::Transition::kKinematic}) {
    if (o.transition == runs::Name(transition)) job.transition = transition;
  }
  Apply(o.search, job.configuration);
  return job;
}

int Compose(const Options& o, const Call& call) {
  const results::RunTimer timer;
  const bool prints = o.search.prints();
  io::StopRequest stop(0);
  io::HandleStopSignals();
  const runs::CompositionJob job(ParseOptions(o));
  cli::Warn(call.name, job.problem.controls[0].run.solver_warning);
  const std::filesystem::path output = o.search.output.empty() ? "results/composed" : o.search.output;
  results::RunFolder folder(output, o.search.force, job.Files());
  runs::CompositionHooks hooks;
  hooks.on_part = [&](const runs::CompositionPart& part) {
    if (!prints) return;
    std::printf("  %s\n", cli::ShownLines(runs::Describe(job.problem, part)).c_str());
    std::fflush(stdout);
  };
  hooks.on_try = [&](const runs::CompositionTry& tried) {
    if (!prints) return;
    std::printf("    %s\n", cli::ShownLines(runs::Describe(job.problem, tried)).c_str());
    std::fflush(stdout);
  };
  hooks.on_back = [&](double time) {
    if (prints) std::printf("  nothing leads on from there: back to %s s\n", io::Fixed(time, 2).c_str());
  };
  hooks.stop = [&] { return stop(); };
  const runs::Composition result = runs::Compose(job.problem, o.search.threads, hooks);
  runs::WriteComposition(folder, job, result, {call.line, {}, &timer});
  const double duration = result.control.duration();
  if (result.stopped) {
    throw StoppedError(stop.reason() + ": " + io::Fixed(duration, 2) + " s are composed, and in " + output.string());
  }
  if (o.search.json) {
    PrintJson({{"folder", output.string()},
               {"success", result.success()},
               {"ending", result.ending},
               {"duration", duration},
               {"kinematic_transitions", result.num_kinematic()},
               {"evaluation", result.evaluation.ToJson()}});
  }
  if (prints) {
    std::printf("%s: %s, %s s\n%s  results in %s\n", cli::Shown(o.library).c_str(), cli::Shown(result.ending).c_str(),
                io::Fixed(duration, 2).c_str(),
                cli::ShownLines(runs::Describe(result.evaluation, duration, false)).c_str(),
                cli::Shown(output).c_str());
    if (result.num_kinematic() > 0) {
      std::printf("  not physical: %zu transitions are kinematic\n", result.num_kinematic());
    }
  }
  return static_cast<int>(result.success() ? ExitCode::kSuccess : ExitCode::kBelowGate);
}

}  // namespace

Body Define(cli::Command& command) {
  const auto options = std::make_shared<Options>();
  AddOptions(command, *options);
  return [options](const Call& call) { return Compose(*options, call); };
}

}  // namespace retrace::apps::compose_command
