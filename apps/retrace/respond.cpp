/// respond: a run, a push and a library of recorded motions in, the run of what the body does after the push out.
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/number_option.h"
#include "cli/program.h"
#include "commands.h"
#include "common/brief_search.h"
#include "common/json_printout.h"
#include "common/outcome.h"
#include "common/progress.h"
#include "retrace/control/pushes.h"
#include "retrace/io/error.h"
#include "retrace/io/number.h"
#include "retrace/io/stop_request.h"
#include "retrace/jobs/reconstruction.h"
#include "retrace/jobs/reconstruction_files.h"
#include "retrace/jobs/reconstruction_job.h"
#include "retrace/jobs/response_files.h"
#include "retrace/jobs/response_job.h"
#include "retrace/planning/response/response.h"
#include "retrace/runs/stored/run_files.h"

namespace retrace::apps::respond_command {
namespace {

struct Options {
  runs::ResponseOptions job;
  std::string run, library, transition = "searched", blend, skeleton, character = "human";
  double start = 0;
  std::optional<double> end, delay, earliest, seconds, stand;
  bool paper = false;
  int struck = 1;
  BriefSearchArguments search;
};

void AddOptions(cli::Command& command, Options& o) {
  command
      .Add("run", o.run,
           "Folder of the run whose motion the push meets; or a recorded motion, .bvh or .amc, which is "
           "reconstructed first")
      .Type("DIR|CLIP")
      .Required();
  command
      .Add("--push", o.job.push, "The push: BODY,FX:FY:FZ,START,DURATION with the force in N in world axes, times in s")
      .Type("PUSH");
  command
      .Add("--world", o.job.worlds,
           "Name of a world or its JSON file, of whose free bodies one strikes, instead of a push (repeatable: "
           "they are put together)")
      .Type("NAME|FILE")
      .OneEach();
  command.Add("--library", o.library, "Folder of recorded motions, as `library recordings` makes it")
      .Type("DIR")
      .Required();
  cli::AddNumber(command, "--receiver,--struck", o.struck, io::Integer{1, 1000},
                 "Of a run of several characters, the one that another one strikes and that responds");
  cli::AddNumber(command, "--after", o.job.after, io::Real{control::kPushTimes},
                 "The impact by another character is searched for from this second of the run on [s]");
  cli::AddNumber(command, "--delay", o.delay, io::OptionalReal{runs::kResponseDelays},
                 "After the beginning of the push the body takes no notice of it for so long [s] [0.15]");
  cli::AddNumber(command, "--earliest", o.earliest, io::OptionalReal{runs::kResponseStarts},
                 "After the beginning of the push, the first instant at which another motion may be entered [s] [0.27; "
                 "with --paper 0.1]");
  cli::AddNumber(command, "--latest", o.job.latest, io::Real{runs::kResponseStarts}, "The last one [s] [1]");
  cli::AddNumber(command, "--seconds", o.seconds, io::OptionalReal{runs::kResponseDurations},
                 "From the push on the response lasts so long at least, and until the body has stood for half a second "
                 "[s] [3]");
  cli::AddNumber(command, "--stand", o.stand, io::OptionalReal{runs::kResponseStands},
                 "Then it stands or walks on for so long [s] [3]");
  cli::AddNumber(command, "--candidates", o.job.candidates, io::Integer{1, 1000},
                 "Motions that are tried, and where these fail, get-ups after a fall [3]");
  command.AddFlag(
      "--no-mirror,--as-recorded", [&o] { o.job.mirrored = false; },
      "Leave out the mirror images of the motions of the library");
  command.AddFlag("--force-search,--search-anyway", o.job.search_anyway,
                  "Look for another motion also where the run's own control stays within tolerance under the push");
  command
      .Add("--transition", o.transition,
           "searched: a control that leads into the motion, all of it simulated; kinematic: the recorded motion is "
           "blended in, as in the paper, which is not physical")
      .OneOf({"searched", "kinematic"})
      .ShowDefault();
  command
      .Add("--blend", o.blend,
           "Of a kinematic transition. matched: the motion begins with the pose and the velocity of the simulation; "
           "linear: that of the paper, from the push on by even shares [matched; with --paper linear]")
      .OneOf({"matched", "linear"});
  command.AddFlag(
      "--paper", o.paper,
      "The rule of the paper to the letter, which is there to be compared with: a first simulation without strength, "
      "a second one from the impact on, a kinematic transition with a linear blend, from 0.1 s on, a distance without "
      "velocities, no choice by second simulations");
  command.AddFlag("--open-loop", o.job.open_loop,
                  "Search for nothing: the poses to be followed are the targets. Nearly always a fall, and there to be "
                  "compared with");
  command.AddFlag("--random-candidates,--any-motion", o.job.any_motion,
                  "Draw positions of the library at random; there to be compared with");
  command.Add("--skeleton", o.skeleton, "Of a recorded motion: skeleton of an AMC motion").Type("FILE.asf");
  cli::AddNumber(command, "--start", o.start, io::Real{character::kInstants},
                 "Of a recorded motion: first second of it to use [0]");
  cli::AddNumber(command, "--end", o.end, io::OptionalReal{character::kInstants},
                 "Of a recorded motion: last second of it to use [its end]");
  command.Add("--character", o.character, "Of a recorded motion: character, a JSON file or a name")
      .Type("NAME")
      .ShowDefault();
  AddBriefSearchOptions(command, o.search, "results/RUN-response");
}

/// Whether the run is yet to be made of a recorded motion.
bool IsClip(const Options& o) {
  return std::filesystem::is_regular_file(o.run);
}

/// What one kind of call has and the other does not would have no effect there.
void RefuseWhatHasNoEffect(const Options& o) {
  const bool kinematic = o.paper || o.transition == "kinematic";
  const auto refuse = [](bool given, const std::string& option, const std::string& needs) {
    if (given) throw UsageError(option + " has no effect here: it needs " + needs);
  };
  refuse(o.paper && o.seconds, "--seconds", "no --paper, which lets a motion end wherever it does");
  refuse(o.paper && o.stand, "--stand", "no --paper, which lets a motion end wherever it does");
  refuse(o.paper && o.blend == "matched", "--blend matched", "no --paper, whose blend is linear");
  refuse(!kinematic && !o.blend.empty(), "--blend " + o.blend, "--transition kinematic");
  refuse((o.paper || o.blend == "linear") && o.job.candidates != runs::ResponseSettings().candidates, "--candidates",
         "a blend that is not linear, which enters the first candidate");
  const bool searches = !kinematic && !o.job.open_loop;
  const std::string search = kinematic ? "--transition searched" : "no --open-loop";
  refuse(!searches && o.search.samples, "--samples", search);
  refuse(!searches && o.search.saved, "--saved", search);
  if (IsClip(o)) return;
  const std::string clip = "a recorded motion instead of the folder of a run";
  refuse(!o.skeleton.empty(), "--skeleton", clip);
  refuse(o.start != 0, "--start", clip);
  refuse(o.end.has_value(), "--end", clip);
  refuse(o.character != "human", "--character", clip);
  refuse(!searches && o.search.seed && !o.job.any_motion, "--seed", search + " or --random-candidates");
  for (const std::string& assignment : o.search.sets) {
    const std::string setting = assignment.substr(0, assignment.find('='));
    const std::string reason = runs::WhyWithoutEffect(setting, kinematic);
    if (!reason.empty()) throw UsageError("--set " + setting + " has no effect here: " + reason);
  }
}

runs::ResponseOptions ParseOptions(const Options& o) {
  runs::ResponseOptions job = o.job;
  job.run = o.run;
  job.library = o.library;
  job.kinematic = o.transition == "kinematic";
  job.blend = o.blend == "linear" ? runs::Blend::kLinear : runs::Blend::kMatched;
  if (o.paper) runs::UseRuleOfPaper(job);
  job.delay = o.delay.value_or(job.delay);
  job.earliest = o.earliest.value_or(job.earliest);
  job.seconds = o.seconds.value_or(job.seconds);
  job.stand = o.stand.value_or(job.stand);
  job.struck = static_cast<size_t>(o.struck - 1);
  Apply(o.search, job.configuration);
  return job;
}

std::filesystem::path OutputOf(const Options& o) {
  const std::string name =
      results::NameOf(IsClip(o) ? std::filesystem::path(o.run).stem() : std::filesystem::path(o.run));
  return o.search.output.empty() ? "results/" + name + "-response" : o.search.output;
}

/// What reconstruct makes of a recorded motion, in a folder beside that of the response. Throws UsageError for a folder
/// that is in use.
std::filesystem::path Reconstruct(const Options& o, const Call& call, bool prints, const std::function<bool()>& stop) {
  runs::JobOptions options;
  options.clip.file = o.run;
  options.clip.skeleton = o.skeleton;
  options.clip.start = o.start;
  options.clip.end = o.end;
  options.character = o.character;
  BriefSearchArguments search = o.search;
  search.samples.reset();  // the need of the continuation is no measure of that of the whole motion
  search.saved.reset();
  Apply(search, options.configuration);
  const runs::Job job(options);
  std::filesystem::path output = OutputOf(o).string() + "-run";
  const std::filesystem::path inputs[] = {o.run};
  results::RunFolder folder(output, o.search.force, inputs);
  runs::ReconstructionHooks hooks;
  hooks.stop = stop;
  const runs::Reconstruction result = runs::Reconstruct(job, o.search.threads, hooks);
  runs::WriteRun(folder, job, result, {call.line, {}, nullptr});
  if (prints) {
    std::printf("%s: %s, %s s in %s\n", cli::Shown(o.run).c_str(),
                result.success() ? "within tolerance" : "out of tolerance",
                io::Fixed(result.control().duration(), 2).c_str(), cli::Shown(output).c_str());
  }
  if (result.success()) return output;
  throw Error(ExitCode::kBelowGate,
              o.run + ": no control of the motion itself was found; what there is of it is in " + output.string());
}

int Respond(Options o, const Call& call) {
  const results::RunTimer timer;
  const bool prints = o.search.prints();
  io::StopRequest stop(0);
  io::HandleStopSignals();
  const std::filesystem::path output = OutputOf(o);
  RefuseWhatHasNoEffect(o);
  if (IsClip(o)) o.run = Reconstruct(o, call, prints, [&] { return stop(); });
  const runs::ResponseJob job(ParseOptions(o));
  cli::Warn(call.name, job.problem.run.solver_warning);
  results::RunFolder folder(output, o.search.force, job.Files());
  runs::ResponseHooks hooks;
  if (prints) hooks.on_line = PrintLine;
  hooks.stop = [&] { return stop(); };
  const runs::Response result = runs::Respond(job.problem, o.search.threads, hooks);
  runs::WriteResponse(folder, job, result, {call.line, {}, &timer});
  const double duration = result.control.duration();
  if (result.stopped) {
    throw StoppedError(stop.reason() + ": what there is until then is in " + output.string());
  }
  if (o.search.json) {
    PrintJson({{"run", o.run},
               {"folder", output.string()},
               {"success", result.success()},
               {"ending", result.ending},
               {"duration", duration},
               {"kinematic", result.blend.has_value()},
               {"evaluation", result.evaluation.ToJson()}});
  }
  if (prints) {
    std::printf("%s: %s, %s s\n%s  results in %s\n", cli::Shown(o.run).c_str(), cli::Shown(result.ending).c_str(),
                io::Fixed(duration, 2).c_str(),
                cli::ShownLines(runs::Describe(result.evaluation, duration, false)).c_str(),
                cli::Shown(output).c_str());
    if (result.blend) std::printf("  %s\n", cli::ShownLines(runs::Describe(*result.blend)).c_str());
    if (o.paper) std::printf("  %s\n", cli::ShownLines(runs::DifferencesFromPaper(job.problem)).c_str());
  }
  return static_cast<int>(result.success() ? ExitCode::kSuccess : ExitCode::kBelowGate);
}

}  // namespace

Body Define(cli::Command& command) {
  const auto options = std::make_shared<Options>();
  AddOptions(command, *options);
  return [options](const Call& call) { return Respond(*options, call); };
}

}  // namespace retrace::apps::respond_command
