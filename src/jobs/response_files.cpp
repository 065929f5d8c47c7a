#include "retrace/jobs/response_files.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "composed_run.h"
#include "retrace/control/control_file.h"
#include "retrace/io/csv_writer.h"
#include "retrace/io/number.h"
#include "retrace/planning/segments/joined_control.h"
#include "retrace/runs/stored/run_files.h"
#include "retrace/runs/stored/scene_files.h"

namespace retrace::runs {
namespace {

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
    enters = static_cast<int>(std::lround(job.problem.blow.start / h) + std::lround(performed->start / h) - begin) * h;
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
          {"motion_penetration", blend.motion_penetration}};
}

/// How another character goes on.
io::Json CompanionMember(const OtherCharacter& other) {
  return {{"character", other.character + 1},
          {"undisturbed", other.undisturbed},
          {"from", other.from},
          {"reached", other.reached},
          {"within_gates", other.evaluation.success()},
          {"cpu_seconds", other.cpu_seconds}};
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
      result.blend ? "that of the run until the push, then the motion itself: the gates say nothing of it"
                   : "that of the run until the push, then the motion itself until the exit, then a simulation whose "
                     "servos go over to the motion of the library, and that motion, put where the simulation ends: "
                     "kinematic, and followed by the search; of a fall until the get-up there is none, and the motion "
                     "itself stands in its place";
  io::Json member = {{"ending", result.ending},
                     {"blow",
                      {{"start", job.problem.blow.start},
                       {"duration", job.problem.blow.duration},
                       {"what", job.problem.blow.what},
                       {"impulse", job.problem.blow.impulse}}},
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
          "state that the blow left";
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
void WriteComparisons(results::RunFolder& folder, const ResponseJob& job, const Response& result) {
  folder.Write(results::kCandidatesFile, FormatCandidates(job, result));
  control::WriteControl(result.ragdoll, [&](std::string_view piece) { folder.Append(results::kRagdollFile, piece); });
  folder.FinishFiles();
}

/// The folder of a response in company.
void WriteSceneResponse(results::RunFolder& folder, const ResponseJob& job, const Response& result,
                        const RunContext& context) {
  const control::Scene& scene = *result.scene;
  std::vector<character::ReferenceMotion> references;
  references.reserve(scene.characters.size());
  std::vector<SceneCharacter> characters(scene.characters.size());
  const auto add = [&](size_t c, const std::vector<character::Pose>& poses, const metrics::Evaluation& evaluation,
                       const std::string& text) {
    references.emplace_back(scene.characters[c], kCompositionFrame, poses, kCompositionFrame);
    SceneCharacter& character = characters[c];
    character.reference = &references.back();
    character.evaluation = evaluation;
    character.reference_text = text;
  };
  add(0, result.reference, result.evaluation, "what is followed after the blow: kinematic");
  for (const OtherCharacter& other : result.others) {
    add(other.character, other.reference, other.evaluation,
        "its own motion; where it was led back to it after the blow, put where the blow left it: kinematic");
  }
  for (SceneCharacter& character : characters) {
    character.source = job.problem.run.folder.string();
    character.control_sha256 = job.problem.run.controls[0].sha256;
    character.gates = job.options.configuration.task.gates;
  }
  WriteScene(folder, scene, characters, job.problem.run.folder.string() + ", after a blow");
  folder.Write(results::CharacterPrefix(0, scene.characters.size()).append(results::kCompositionFile),
               FormatParts(PartsOf(job, result)));
  WriteComparisons(folder, job, result);
  ComposedRun run = ComposedOf(job, result);
  run.characters = CharactersMember(scene, characters);
  FinishWith(folder, ManifestOf(run, context));
}

}  // namespace

void WriteResponse(results::RunFolder& folder, const ResponseJob& job, const Response& result,
                   const RunContext& context) {
  if (result.scene && !result.others_left_out) {
    WriteSceneResponse(folder, job, result, context);
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
