/// strike: two recordings in; a film out in which the one character strikes the other, or the scene of the strike
/// alone.
#include "retrace/jobs/strike.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/number_option.h"
#include "cli/program.h"
#include "commands.h"
#include "common/brief_search.h"
#include "common/json_printout.h"
#include "common/progress.h"
#include "retrace/exports/formats.h"
#include "retrace/io/base64.h"
#include "retrace/io/csv_writer.h"
#include "retrace/io/error.h"
#include "retrace/io/file.h"
#include "retrace/io/number.h"
#include "retrace/io/stop_request.h"
#include "retrace/jobs/report_page.h"
#include "retrace/jobs/strike_film.h"
#include "retrace/planning/response/response.h"
#include "retrace/recordings/recording.h"
#include "retrace/runs/inputs/data_files.h"
#include "retrace/runs/stored/run_export.h"
#include "retrace/simulation/solver_in_use.h"

namespace retrace::apps::strike_command {
namespace {

struct Options {
  runs::StrikeOptions job;
  runs::AimOptions aim;
  std::vector<std::string> clips;
  std::string receiver_skeleton, attacker, attacker_skeleton, stance, library, transition = "searched";
  double facing = 0;  // [degrees]
  std::optional<double> height, distance;
  int around = 0;
  bool scene = false;
  BriefSearchArguments search;

  bool aims() const { return clips.size() == 2; }
  bool films() const { return !scene && (aims() || !library.empty()); }
};

void AddOptions(cli::Command& command, Options& o) {
  command
      .Add("clips", o.clips,
           "Two recordings: of the attacker, then of the receiver, which is put where the strike lands. Or one, of the "
           "receiver, with --attacker or --pair")
      .Type("CLIP")
      .Count(1, 2)
      .Required();
  command.Add("--with", o.aim.with, "Body that strikes [the hand or foot that is fastest while it reaches out]")
      .Type("BODY");
  command
      .Add("--at", o.aim.at, "Body of the receiver that is struck [head, trunk or pelvis, by the height of the strike]")
      .Type("BODY");
  cli::AddNumber(
      command, "--facing", o.facing, io::Real{runs::kFacings},
      "Where the receiver faces [degrees]: at 0 into the strike, at 90 it comes from the left, at 180 from behind");
  cli::AddNumber(command, "--height", o.height, io::OptionalReal{runs::kBlowHeights},
                 "Height at which the strike is to land [m] [where it is fastest]");
  cli::AddNumber(command, "--distance", o.distance, io::OptionalReal{runs::kBlowDistances},
                 "Distance of the roots when it lands, as near as the motion allows [m] [as it is fastest]");
  cli::AddNumber(command, "--around", o.around, io::Integer{0, 72},
                 "So many films, the receiver turned on by a share of a full turn in each, with a table and a contact "
                 "sheet; 0: one film");
  command
      .Add("--library", o.library,
           "Recorded motions with which the receiver may answer, as `library recordings` makes them [of two clips: "
           "these "
           "two and the bundled ones, in OUTPUT-motions]")
      .Type("DIR");
  command
      .Add("--transition", o.transition,
           "How both are led on after the strike. searched: by controls, all of it simulated; kinematic: recorded "
           "motions "
           "are blended in, as in the paper, which is not physical")
      .OneOf({"searched", "kinematic"})
      .ShowDefault();
  command.AddFlag("--scene", o.scene, "The scene of the strike alone, which respond takes, and no film");
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
  AddBriefSearchOptions(command, o.search, "results/ATTACKER-strikes-RECEIVER");
}

/// What one kind of call has and the other does not would have no effect there.
void RefuseWhatHasNoEffect(const Options& o) {
  const auto refuse = [](bool given, const std::string& option, const std::string& needs) {
    if (given) throw UsageError(option + " has no effect here: it needs " + needs);
  };
  const std::string two = "two clips, the attacker's and the receiver's", film = "a film: two clips, or --library";
  if (!o.aims()) {
    refuse(!o.aim.with.empty(), "--with", two);
    refuse(!o.aim.at.empty(), "--at", two);
    refuse(o.facing != 0, "--facing", two);
    refuse(o.height.has_value(), "--height", two);
    refuse(o.distance.has_value(), "--distance", two);
    refuse(o.around > 0, "--around", two);
  }
  if (!o.films()) {
    refuse(!o.library.empty(), "--library", "no --scene");
    refuse(o.transition != "searched", "--transition", film);
    refuse(o.around > 0, "--around", film);
    refuse(o.search.samples.has_value(), "--samples", film);
    refuse(o.search.saved.has_value(), "--saved", film);
    refuse(o.search.seed.has_value(), "--seed", film);
    refuse(o.search.threads != 0, "--threads", film);
    return;
  }
  const bool kinematic = o.transition == "kinematic";
  const std::string search = "--transition searched";
  refuse(kinematic && o.search.samples, "--samples", search);
  refuse(kinematic && o.search.saved, "--saved", search);
  refuse(kinematic && o.search.seed, "--seed", search);
  for (const std::string& assignment : o.search.sets) {
    const std::string setting = assignment.substr(0, assignment.find('='));
    const std::string reason = runs::WhyWithoutEffectOnFilm(setting, kinematic);
    if (!reason.empty()) throw UsageError("--set " + setting + " has no effect here: " + reason);
  }
}

runs::StrikeOptions ParseOptions(const Options& o) {
  runs::StrikeOptions job = o.job;
  if (o.aims()) {
    if (!o.attacker.empty() || o.job.pair || !o.stance.empty()) {
      throw UsageError(std::string(!o.attacker.empty() ? "--attacker"
                                   : o.job.pair        ? "--pair"
                                                       : "--stance") +
                       ": found it beside two clips, expected the receiver's clip alone");
    }
    job.aim = o.aim;
    job.aim->facing = Radians(o.facing);
    job.aim->height = o.height;
    job.aim->distance = o.distance;
  }
  RefuseWhatHasNoEffect(o);
  job.receiver.file = o.clips.back();
  job.receiver.skeleton = o.receiver_skeleton;
  job.attacker.file = o.aims() ? o.clips.front() : o.attacker;
  job.attacker.skeleton = o.attacker_skeleton;
  if (job.attacker.file.empty() && !o.job.pair) {
    throw UsageError(
        "found one clip and no --attacker, expected that of the attacker first: ATTACKER RECEIVER; one clip "
        "needs --attacker, or --pair, which takes both people of one file");
  }
  if (job.attacker.file.empty() && !o.attacker_skeleton.empty()) {
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
  for (const std::string& assignment : o.search.sets) job.configuration.Set(assignment);
  return job;
}

std::filesystem::path OutputOf(const Options& o, const runs::StrikeOptions& job) {
  if (!o.search.output.empty()) return o.search.output;
  const std::string receiver = job.receiver.file.stem().string();
  return "results/" + (job.attacker.file.empty() ? receiver : job.attacker.file.stem().string()) + "-strikes-" +
         receiver;
}

/// The library that is given, or one of the two clips and of those that come with the toolkit.
std::filesystem::path LibraryOf(const Options& o, const runs::StrikeOptions& job, const std::filesystem::path& output) {
  if (!o.library.empty()) return o.library;
  runs::MotionLibraryOptions options;
  const auto add = [&](const runs::ClipOptions& clip) {
    runs::LibrarySource source{clip.file.stem().string(), clip.file.string(), clip};
    source.clip.start = 0;
    for (const runs::LibrarySource& known : options.sources) {
      if (known.name == source.name) return;
    }
    options.sources.push_back(std::move(source));
  };
  add(job.receiver);
  if (!job.attacker.file.empty()) add(job.attacker);
  for (const char* const name : {"stand.bvh", "walk.bvh", "squat.bvh"}) {
    const auto file = runs::FindBundledClip(name);
    if (!file) continue;
    runs::ClipOptions clip;
    clip.file = *file;
    add(clip);
  }
  options.character = job.character;
  options.output = output.string() + "-motions";
  options.force = true;
  runs::BuildMotionLibrary(options);
  return options.output;
}

/// The page and the 3D scene of a film beside its tables.
void WritePageAndScene(const std::filesystem::path& folder) {
  runs::WriteReportPage(runs::GatherReport({folder.string()}).document, folder / results::kReportFile);
  runs::ExportOptions options;
  options.folder = folder;
  options.formats = exports::ParseFormats({"glb"});
  options.force = true;
  runs::StoredRun stored(folder);
  const std::vector<runs::ExportTarget> targets = runs::ExportTargets(options, stored.characters.size());
  const runs::ExportableRun exportable(std::move(stored));
  runs::WriteExports(exportable, options, targets, [](const runs::ExportTarget&, size_t, double) {});
}

struct Filmed {
  bool success = false, as_aimed = false, receiver_within = false, attacker_within = false;
  std::string with, at;  // that met first
  double hit = 0;        // of the film, when the strike lands [s]
  double impulse = 0;    // of it [N s]
  std::optional<runs::ResponseBlend> blend = {};
};

io::Json JsonOf(const Filmed& filmed) {
  return {{"success", filmed.success},
          {"as_aimed", filmed.as_aimed},
          {"with", filmed.with},
          {"at", filmed.at},
          {"hit", filmed.hit},
          {"impulse", filmed.impulse},
          {"receiver_within", filmed.receiver_within},
          {"attacker_within", filmed.attacker_within},
          {"kinematic", filmed.blend.has_value()}};
}

/// One film: the scene of the strike in a folder beside it, then what follows.
Filmed Film(const Options& o, const runs::StrikeOptions& options, const std::filesystem::path& library,
            const std::filesystem::path& output, const Call& call, bool prints) {
  const results::RunTimer timer;
  const runs::StrikeJob job(options);
  const std::string scene = output.string() + "-scene";
  const runs::Strike strike = runs::SimulateStrike(job);
  {
    results::RunFolder folder(scene, o.search.force, runs::PathsOf(job.inputs));
    runs::WriteStrike(folder, job, strike, {call.line, {}, nullptr});
  }
  if (prints) std::printf("%s", cli::ShownLines(runs::Describe(job, strike)).c_str());
  Filmed filmed;
  filmed.as_aimed = runs::MeetsAsAimed(job, strike);
  if (!strike.success()) return filmed;
  const auto body = [&](int number) {
    return job.character.bodies[static_cast<size_t>(strike.scene.layout().LocalBody(number))].name;
  };
  filmed.with = body(strike.impact->other);
  filmed.at = body(strike.impact->body);
  filmed.hit = job.start + strike.impact->start;
  filmed.impulse = strike.impact->impulse.norm();
  runs::ResponseOptions response;
  response.run = scene;
  response.library = library;
  response.kinematic = response.feedback_first = o.transition == "kinematic";
  response.leave_out = false;
  response.search_anyway = true;  // the scene's own control holds for the rest of a short clip at most
  Apply(o.search, response.configuration);
  const runs::ResponseJob responds(response);
  io::StopRequest stop(0);
  io::HandleStopSignals();
  runs::ResponseHooks hooks;
  if (prints) hooks.on_line = PrintLine;
  hooks.stop = [&] { return stop(); };
  results::RunFolder folder(output, o.search.force, responds.Files());
  const runs::Response found = runs::Respond(responds.problem, o.search.threads, hooks);
  runs::WriteFilm(folder, job, strike, responds, found, {call.line, {}, &timer});
  if (found.stopped) throw StoppedError(stop.reason() + ": what there is until then is in " + output.string());
  WritePageAndScene(output);
  if (prints) {
    std::printf("%s\n", cli::ShownLines(runs::DescribeFilm(found)).c_str());
    if (found.blend) std::printf("  %s\n", cli::ShownLines(runs::Describe(*found.blend)).c_str());
    std::printf("  results in %s\n", cli::Shown(output).c_str());
  }
  filmed.success = found.success();
  filmed.receiver_within = found.ending == "completed" && found.evaluation.success();
  filmed.attacker_within = std::all_of(found.others.begin(), found.others.end(),
                                       [](const runs::OtherCharacter& other) { return other.within(); });
  filmed.blend = found.blend;
  return filmed;
}

/// A picture of several films, one below the other, each with a line above it.
std::string ContactSheet(const std::vector<std::pair<std::string, std::string>>& strips) {
  constexpr int kWidth = 1200, kHeight = 170, kLine = 22;
  std::string svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + std::to_string(kWidth) + " " +
                    std::to_string(static_cast<int>(strips.size()) * (kHeight + kLine)) + "\">\n";
  int y = 0;
  for (const auto& [line, strip] : strips) {
    svg += "<text x=\"8\" y=\"" + std::to_string(y + 16) + "\" font-family=\"sans-serif\" font-size=\"14\">" + line +
           "</text>\n";
    if (!strip.empty()) {
      svg += "<image x=\"0\" y=\"" + std::to_string(y + kLine) + "\" width=\"" + std::to_string(kWidth) +
             "\" height=\"" + std::to_string(kHeight) + "\" href=\"data:image/svg+xml;base64," +
             io::EncodeBase64(strip) + "\"/>\n";
    }
    y += kHeight + kLine;
  }
  return svg + "</svg>\n";
}

/// Films of receivers that face so many directions, each in a folder of its own; a table and a contact sheet of all.
int Around(const Options& o, const runs::StrikeOptions& options, const std::filesystem::path& library,
           const std::filesystem::path& output, const Call& call, bool prints) {
  io::CsvWriter table;
  for (const char* column : {"facing", "success", "as_aimed", "with", "at", "impulse", "receiver_within",
                             "attacker_within", "deepest", "foot_slide", "hidden_share", "through", "problem"}) {
    table.Text(column);
  }
  table.EndRow();
  std::vector<std::pair<std::string, std::string>> strips;
  int succeeded = 0;
  io::Json films = io::Json::array();
  for (int k = 0; k < o.around; ++k) {
    const double facing = o.facing + 360.0 * k / o.around;
    runs::StrikeOptions turned = options;
    turned.aim->facing = Radians(facing);
    std::string number = std::to_string(k + 1);
    number.insert(0, number.size() < 2 ? 1 : 0, '0');
    const std::filesystem::path folder = output / number;
    Filmed filmed;
    std::string problem;
    try {
      filmed = Film(o, turned, library, folder, call, false);
    } catch (const InputError& error) {  // at this facing the strike passes
      problem = error.what();
    }
    succeeded += filmed.success ? 1 : 0;
    std::string line = io::Fixed(facing, 0) + " degrees: ";
    line.append(!problem.empty() ? "no strike lands"
                : filmed.with.empty()
                    ? "they miss one another in the simulation"
                    : "the " + filmed.with + " meets the " + filmed.at + (filmed.as_aimed ? ", as aimed" : ""));
    if (!filmed.with.empty()) {
      line.append(filmed.receiver_within ? "; the receiver within tolerance" : "; the receiver out of tolerance");
      line.append(filmed.attacker_within ? ", the attacker too" : ", the attacker out of it");
    }
    if (prints) {
      std::printf("%s\n", cli::Shown(line).c_str());
      std::fflush(stdout);
    }
    const std::filesystem::path strip = folder / results::kFilmStripFile;
    films.push_back(JsonOf(filmed));
    films.back()["facing"] = facing;
    films.back()["folder"] = folder.string();
    if (!problem.empty()) films.back()["problem"] = problem;
    strips.emplace_back(line, std::filesystem::exists(strip) && !filmed.with.empty() ? io::ReadFile(strip) : "");
    table.Number(facing);
    table.Integer(filmed.success ? 1 : 0);
    table.Integer(filmed.as_aimed ? 1 : 0);
    table.Text(filmed.with);
    table.Text(filmed.at);
    table.Number(filmed.impulse);
    table.Integer(filmed.receiver_within ? 1 : 0);
    table.Integer(filmed.attacker_within ? 1 : 0);
    for (double runs::ResponseBlend::*const figure :
         {&runs::ResponseBlend::deepest, &runs::ResponseBlend::foot_slide, &runs::ResponseBlend::hidden_share,
          &runs::ResponseBlend::through}) {
      if (filmed.blend) {
        table.Number((*filmed.blend).*figure);
      } else {
        table.Text("");
      }
    }
    table.Text(problem);
    table.EndRow();
  }
  std::filesystem::create_directories(output);
  io::WriteFile(output / "around.csv", table.Take());
  io::WriteFile(output / "contact_sheet.svg", ContactSheet(strips));
  if (o.search.json) PrintJson({{"folder", output.string()}, {"succeeded", succeeded}, {"films", films}});
  if (prints) {
    std::printf("%d of %d within tolerance, both to their ends\n  results in %s\n", succeeded, o.around,
                cli::Shown(output).c_str());
  }
  return static_cast<int>(succeeded == o.around ? ExitCode::kSuccess : ExitCode::kBelowGate);
}

/// The scene of the strike alone.
int Scene(const Options& o, const runs::StrikeOptions& options, const Call& call) {
  const results::RunTimer timer;
  const runs::StrikeJob job(options);
  const std::filesystem::path output = OutputOf(o, job.options);
  results::RunFolder folder(output, o.search.force, runs::PathsOf(job.inputs));
  const runs::Strike result = runs::SimulateStrike(job);
  runs::WriteStrike(folder, job, result, {call.line, {}, &timer});
  if (o.search.json) {
    PrintJson(
        {{"folder", output.string()}, {"success", result.success()}, {"as_aimed", runs::MeetsAsAimed(job, result)}});
  } else {
    std::printf("%s  results in %s\n", cli::ShownLines(runs::Describe(job, result)).c_str(),
                cli::Shown(output).c_str());
  }
  return static_cast<int>(result.success() ? ExitCode::kSuccess : ExitCode::kBelowGate);
}

int Strike(const Options& o, const Call& call) {
  const runs::StrikeOptions options = ParseOptions(o);
  cli::Warn(call.name, simulation::SolverWarning(options.configuration.task.world));
  if (!o.films()) return Scene(o, options, call);
  runs::FindReportPage();  // what would end in a message does so before anything is simulated
  const bool prints = o.search.prints();
  const std::filesystem::path output = OutputOf(o, options);
  const std::filesystem::path library = LibraryOf(o, options, output);
  if (o.around > 0) return Around(o, options, library, output, call, prints);
  const Filmed filmed = Film(o, options, library, output, call, prints);
  if (o.search.json) {
    io::Json json = JsonOf(filmed);
    json["folder"] = output.string();
    PrintJson(json);
  }
  return static_cast<int>(filmed.success ? ExitCode::kSuccess : ExitCode::kBelowGate);
}

}  // namespace

Body Define(cli::Command& command) {
  const auto options = std::make_shared<Options>();
  AddOptions(command, *options);
  return [options](const Call& call) { return Strike(*options, call); };
}

}  // namespace retrace::apps::strike_command
