#include "retrace/jobs/response_files.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "composed_run.h"
#include "retrace/control/control_file.h"
#include "retrace/io/csv_writer.h"
#include "retrace/io/number.h"
#include "retrace/planning/segments/joined_control.h"
#include "retrace/planning/segments/motion_start.h"
#include "retrace/runs/stored/run_files.h"
#include "retrace/runs/stored/scene_files.h"

namespace retrace::runs {
namespace {

constexpr const char* kFilmPartsFile = "parts.csv";

std::string NameOf(const ResponseJob& job, const ResponseCandidate& candidate) {
  return candidate.own ? results::NameOf(job.problem.run.folder)
                       : job.problem.library.motions().motions()[candidate.motion].name;
}

/// The candidate that is performed: found, or the one that reached farthest; none where the run's control is all.
const ResponseCandidate* Performed(const Response& result) {
  if (result.chosen >= 0) return &result.candidates[static_cast<size_t>(result.chosen)];
  const ResponseCandidate* best = nullptr;
  for (const ResponseCandidate& candidate : result.candidates) {
    if (candidate.tried && candidate.reached > (best != nullptr ? best->reached : 0)) best = &candidate;
  }
  return best;
}

std::vector<PartRow> PartsOf(const ResponseJob& job, const Response& result) {
  const double h = result.control.world.time_step;
  const ResponseCandidate* const performed = Performed(result);
  const int exit_step = performed != nullptr ? result.exit_step : result.control.num_steps();
  const int begin = result.others_left_out ? result.exit_step : 0;  // there it begins
  std::vector<PartRow> rows;
  if (exit_step > begin) {
    rows.push_back({.end = exit_step * h,
                    .control = results::NameOf(job.problem.run.folder),
                    .event = Name(CompositionEvent::kPlan)});
  }
  if (performed == nullptr) return rows;
  double enters = (exit_step - begin) * h;
  int tries = 0;
  for (const ResponseCandidate& candidate : result.candidates) tries += candidate.tried ? 1 : 0;
  const bool falls = performed->lies_at >= 0;
  if (falls) {
    const double lies = performed->lies_at - begin * h;
    rows.push_back({.start = enters,
                    .end = lies,
                    .control = results::NameOf(job.problem.run.folder),
                    .event = Name(CompositionEvent::kFall)});
    enters =
        static_cast<int>(std::lround(job.problem.impact.start / h) + std::lround(performed->start / h) - begin) * h;
    rows.push_back({.start = lies,
                    .end = enters,
                    .control = NameOf(job, *performed),
                    .cut = performed->time,
                    .distance = performed->gap,
                    .tries = tries,
                    .event = Name(CompositionEvent::kDrive)});
  }
  rows.push_back({.start = enters,
                  .end = result.control.duration(),
                  .control = NameOf(job, *performed),
                  .cut = performed->time,
                  .distance = performed->gap,
                  .tries = tries,
                  .event = Name(falls ? CompositionEvent::kGetUp : CompositionEvent::kAnswer),
                  .transition = Name(result.blend ? Transition::kKinematic : Transition::kSearched),
                  .hidden_impulse = result.blend ? result.blend->hidden_impulse : 0});
  return rows;
}

io::Json ToJson(const ResponseBlend& blend, Blend kind) {
  return {{"kind", Name(kind)},
          {"from", blend.from},
          {"to", blend.to},
          {"hidden_impulse", blend.hidden_impulse},
          {"hidden_share", blend.hidden_share},
          {"position_jump", blend.position_jump},
          {"begin_velocity_jump", blend.begin_velocity_jump},
          {"end_velocity_jump", blend.end_velocity_jump},
          {"foot_slide", blend.foot_slide},
          {"motion_foot_slide", blend.motion_foot_slide},
          {"penetration", blend.penetration},
          {"deepest", blend.deepest},
          {"lifted", blend.lifted},
          {"through", blend.through},
          {"acceptable", blend.acceptable()},
          {"motion_penetration", blend.motion_penetration}};
}

/// How another character goes on.
io::Json CompanionMember(const OtherCharacter& other) {
  return {{"character", other.character + 1}, {"undisturbed", other.undisturbed}, {"from", other.from},
          {"reached", other.reached},         {"by_feedback", other.by_feedback}, {"own_end", other.own_end},
          {"within_gates", other.within()},   {"cpu_seconds", other.cpu_seconds}};
}

io::Json ResponseMember(const ResponseJob& job, const Response& result) {
  io::Json candidates = io::Json::array();
  for (const ResponseCandidate& c : result.candidates) {
    candidates.push_back({{"motion", NameOf(job, c)},
                          {"time", c.time},
                          {"start", c.start},
                          {"distance", c.distance},
                          {"gap", c.gap},
                          {"limp_gap", c.limp_gap},
                          {"hidden_impulse", c.hidden_impulse},
                          {"end", c.end},
                          {"last", c.last},
                          {"tried", c.tried},
                          {"reached", c.reached},
                          {"up", c.up},
                          {"found", c.found},
                          {"cpu_seconds", c.cpu_seconds}});
    if (c.lies_at >= 0) candidates.back()["lies_at"] = c.lies_at;
    if (c.feedback_from >= 0) candidates.back()["feedback_from"] = c.feedback_from;
    if (c.touched_again >= 0) candidates.back()["touched_again"] = c.touched_again;
  }
  const char* const reference =
      result.blend ? "that of the run until the push, then the motion itself: the tolerances do not apply to it"
                   : "that of the run until the push, then the motion itself until the exit, then a simulation whose "
                     "servos go over to the motion of the library, and that motion, put where the simulation ends: "
                     "kinematic, and followed by the search; of a fall until the get-up there is none, and the motion "
                     "itself stands in its place";
  io::Json member = {{"ending", result.ending},
                     {"impact",
                      {{"start", job.problem.impact.start},
                       {"duration", job.problem.impact.duration},
                       {"what", job.problem.impact.what},
                       {"impulse", job.problem.impact.impulse}}},
                     {"goes_on", result.goes_on},
                     {"own_until", result.own_until},
                     {"exit", result.exit_step * result.control.world.time_step},
                     {"delay", job.options.delay},
                     {"open_loop", job.options.open_loop},
                     {"any_motion", job.options.any_motion},
                     {"chosen", result.chosen},
                     {"candidates", candidates},
                     {"library", job.options.library.string()},
                     {"paper", job.options.paper},
                     {"cpu_seconds", result.cpu_seconds},
                     {"blend", result.blend ? ToJson(*result.blend, job.options.blend) : io::Json()},
                     {"reference", reference}};
  if (job.problem.has_others()) {
    member["struck"] = job.options.struck + 1;
    member["others"] = io::Json::array();
    for (const OtherCharacter& other : result.others) member["others"].push_back(CompanionMember(other));
    if (result.others_left_out) {
      member["others_left_out"] =
          "no way was found with them in the world: the motion begins where they are left out, at the exit, in the "
          "state that the impact left";
    }
  }
  return member;
}

ComposedRun ComposedOf(const ResponseJob& job, const Response& result) {
  ComposedRun run = MakeComposedRun(job.problem.character(), job.options.configuration, result);
  run.program = "respond";
  run.title = job.problem.run.folder.string() + ", after a push";
  run.parts = PartsOf(job, result);
  run.member = "response";
  run.what = ResponseMember(job, result);
  run.inputs = {&job.problem.run};
  return run;
}

/// Candidates, and the passive body: in a scene of several characters, too, they are those of the receiver.
void WriteComparisons(results::RunFolder& folder, const ResponseJob& job, const Response& result,
                      const RecordedBeginning* beginning = nullptr) {
  folder.Write(results::kCandidatesFile, FormatCandidates(job, result));
  const control::Scene ragdoll = beginning != nullptr
                                     ? control::WithBeginning(result.ragdoll, beginning->steps, beginning->motions)
                                     : result.ragdoll;
  control::WriteControl(ragdoll, [&](std::string_view piece) { folder.Append(results::kRagdollFile, piece); });
  folder.FinishFiles();
}

/// A part of a film.
struct FilmPart {
  size_t character = 0;
  double start = 0, end = 0;  ///< [s]
  std::string kind, what;
};

/// What of each character is recorded, simulated and blended, and what it follows there.
std::string PartName(const ResponseJob& job, const ResponseCandidate* performed) {
  return performed == nullptr || performed->own ? "its own clip" : NameOf(job, *performed);
}

std::vector<FilmPart> FilmPartsOf(const ResponseJob& job, const Response& result, const control::Scene& scene) {
  const double h = scene.world.time_step;
  const int lead = scene.beginning ? scene.first_step() : 0;
  std::vector<FilmPart> parts;
  for (size_t c = 0; c < scene.characters.size(); ++c) {
    const auto add = [&](int from, int to, const std::string& kind, const std::string& what) {
      if (to > from) parts.push_back({c, from * h, to * h, kind, what});
    };
    add(0, lead, "recorded", "its own clip");
    const control::KinematicEnding* const ending = scene.EndingOf(c);
    const int end = scene.num_steps_of(c), simulated = ending != nullptr ? ending->step : end;
    if (c == ResponseProblem::kReceiver) {
      const ResponseCandidate* const performed = Performed(result);
      const int exit = performed != nullptr ? std::min(lead + result.exit_step, simulated) : simulated;
      add(lead, exit, "simulated", "its own clip, and the strike");
      add(exit, simulated, "simulated", PartName(job, performed));
      if (ending == nullptr) continue;
      const int blended = lead + static_cast<int>(std::lround(result.blend->to / h));
      add(simulated, blended, "blended", PartName(job, performed));
      add(blended, end, "recorded", PartName(job, performed));
    } else {
      const auto other = std::find_if(result.others.begin(), result.others.end(),
                                      [&](const OtherCharacter& one) { return one.character == c; });
      const int led = other != result.others.end() && other->from > 0
                          ? std::min(lead + static_cast<int>(std::lround(other->from / h)), simulated)
                          : simulated;
      add(lead, led, "simulated", "its own clip, and the strike");
      add(led, simulated, "simulated", "back to its own clip");
      if (ending == nullptr) continue;
      const int blended = std::min(end, simulated + static_cast<int>(std::lround(kFade / h)));
      add(simulated, blended, "blended", "back to its own clip");
      add(blended, end, "recorded", "its own clip");
    }
  }
  return parts;
}

std::string FormatFilmParts(const std::vector<FilmPart>& parts) {
  io::CsvWriter csv;
  for (const char* column : {"character", "start", "end", "kind", "what"}) csv.Text(column);
  csv.EndRow();
  for (const FilmPart& part : parts) {
    csv.Integer(static_cast<int>(part.character) + 1);
    csv.Number(part.start);
    csv.Number(part.end);
    csv.Text(part.kind);
    csv.Text(part.what);
    csv.EndRow();
  }
  return csv.Take();
}

/// The folder of a response in company.
void WriteSceneResponse(results::RunFolder& folder, const ResponseJob& job, const Response& result,
                        const RunContext& context, const RecordedBeginning* beginning) {
  const control::Scene scene = beginning != nullptr
                                   ? control::WithBeginning(*result.scene, beginning->steps, beginning->motions)
                                   : *result.scene;
  const double lead = beginning != nullptr ? beginning->steps * scene.world.time_step : 0;
  std::vector<character::ReferenceMotion> references;
  references.reserve(scene.characters.size());
  std::vector<SceneCharacter> characters(scene.characters.size());
  const auto add = [&](size_t c, const std::vector<character::Pose>& poses, const metrics::Evaluation& evaluation,
                       const std::string& text) {
    std::vector<character::Pose> followed;
    if (beginning != nullptr) {
      const auto frames = static_cast<std::ptrdiff_t>(std::lround(lead / kCompositionFrame));
      followed.assign(beginning->motions.poses[c].begin(), beginning->motions.poses[c].begin() + frames);
    }
    followed.insert(followed.end(), poses.begin(), poses.end());
    references.emplace_back(scene.characters[c], kCompositionFrame, std::move(followed), kCompositionFrame);
    SceneCharacter& character = characters[c];
    character.reference = &references.back();
    character.evaluation = evaluation;
    character.reference_text = text;
  };
  add(0, result.reference, result.evaluation, "what is followed after the impact: kinematic");
  for (const OtherCharacter& other : result.others) {
    add(other.character, other.reference, other.evaluation,
        "its own motion; where it was led back to it after the impact, put where the impact left it: kinematic");
  }
  for (size_t c = 0; c < characters.size(); ++c) {
    SceneCharacter& character = characters[c];
    character.source = beginning != nullptr ? beginning->sources[c] : job.problem.run.folder.string();
    character.control_sha256 = job.problem.run.controls[0].sha256;
    character.gates = job.options.configuration.task.gates;
  }
  WriteScene(folder, scene, characters, job.problem.run.folder.string() + ", after an impact");
  std::vector<PartRow> rows = PartsOf(job, result);
  for (PartRow& row : rows) {
    row.start += lead;
    row.end += lead;
  }
  folder.Write(results::CharacterPrefix(0, scene.characters.size()).append(results::kCompositionFile),
               FormatParts(rows));
  WriteComparisons(folder, job, result, beginning);
  if (beginning != nullptr) folder.Write(kFilmPartsFile, FormatFilmParts(FilmPartsOf(job, result, scene)));
  ComposedRun run = ComposedOf(job, result);
  run.characters = CharactersMember(scene, characters);
  io::Json manifest = ManifestOf(run, context);
  manifest["physical"] = scene.physical();
  if (beginning != nullptr) {
    manifest["program"] = "strike";
    manifest["strike"] = *beginning->strike;
    manifest["film"] = {{"lead", lead}, {"duration", scene.duration()}};
    for (io::Json& input : ToJson(beginning->inputs)) manifest["inputs"].push_back(std::move(input));
  }
  FinishWith(folder, std::move(manifest));
}

}  // namespace

void WriteResponse(results::RunFolder& folder, const ResponseJob& job, const Response& result,
                   const RunContext& context, const RecordedBeginning* beginning) {
  if (result.scene && !result.others_left_out) {
    WriteSceneResponse(folder, job, result, context, beginning);
    return;
  }
  io::Json manifest = WriteComposedRun(folder, ComposedOf(job, result), context);
  WriteComparisons(folder, job, result);
  FinishWith(folder, std::move(manifest));
}

std::string FormatCandidates(const ResponseJob& job, const Response& result) {
  io::CsvWriter csv;
  for (const char* column : {"motion", "time", "start", "distance", "gap", "limp_gap", "hidden_impulse", "end", "last",
                             "tried", "reached", "up", "found", "touched_again", "lies_at"})
    csv.Text(column);
  csv.EndRow();
  for (const ResponseCandidate& c : result.candidates) {
    csv.Text(NameOf(job, c));
    for (const double value : {c.time, c.start, c.distance, c.gap, c.limp_gap, c.hidden_impulse, c.end, c.last}) {
      csv.Number(value);
    }
    csv.Integer(c.tried ? 1 : 0);
    csv.Number(c.reached);
    csv.Integer(c.up ? 1 : 0);
    csv.Integer(c.found ? 1 : 0);
    for (const double instant : {c.touched_again, c.lies_at}) {
      if (instant >= 0) {
        csv.Number(instant);
      } else {
        csv.Text("");
      }
    }
    csv.EndRow();
  }
  return csv.Take();
}

}  // namespace retrace::runs
