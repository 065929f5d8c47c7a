#include <string>
#include <utility>
#include <vector>

#include "composed_run.h"
#include "retrace/io/csv_writer.h"
#include "retrace/runs/composition.h"
#include "retrace/runs/response.h"
#include "retrace/runs/run_files.h"

namespace retrace::runs {
namespace {

std::string NameOf(const ResponseJob& job, const ResponseCandidate& candidate) {
  return candidate.own ? results::NameOf(job.run.folder) : job.library.motions().motions()[candidate.motion].name;
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
  const double exit = (performed != nullptr ? result.exit_step : result.control.num_steps()) * h;
  std::vector<PartRow> rows = {
      {.end = exit, .control = results::NameOf(job.run.folder), .event = Name(CompositionEvent::kPlan)}};
  if (performed != nullptr) {
    int tries = 0;
    for (const ResponseCandidate& candidate : result.candidates) tries += candidate.tried ? 1 : 0;
    rows.push_back({.start = exit,
                    .end = result.control.duration(),
                    .control = NameOf(job, *performed),
                    .cut = performed->time,
                    .distance = performed->gap,
                    .tries = tries,
                    .event = Name(CompositionEvent::kAnswer),
                    .transition = Name(result.blend ? Transition::kKinematic : Transition::kSearched),
                    .hidden_impulse = result.blend ? result.blend->hidden_impulse : 0});
  }
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
  }
  const char* const reference =
      result.blend ? "that of the run until the push, then the motion itself: the gates say nothing of it"
                   : "that of the run until the push, then the motion itself until the exit, then a simulation whose "
                     "servos go over to the motion of the library, and that motion, put where the simulation ends: "
                     "kinematic, and followed by the search";
  return {{"ending", result.ending},
          {"blow",
           {{"start", job.blow.start},
            {"duration", job.blow.duration},
            {"what", job.blow.what},
            {"impulse", job.blow.impulse}}},
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
}

}  // namespace

void WriteResponse(results::RunFolder& folder, const ResponseJob& job, const Response& result,
                   const RunContext& context) {
  const ComposedRun run = {.program = "respond",
                           .title = job.run.folder.string() + ", after a push",
                           .character = job.character(),
                           .control = result.control,
                           .reference = result.reference,
                           .evaluation = result.evaluation,
                           .completed = result.ending == "completed",
                           .success = result.success(),
                           .configuration = job.options.configuration,
                           .parts = PartsOf(job, result),
                           .member = "response",
                           .what = ResponseMember(job, result),
                           .inputs = {&job.run},
                           .timer = result.timer};
  io::Json manifest = WriteComposedRun(folder, run, context);
  folder.Write(results::kCandidatesFile, FormatCandidates(job, result));
  FinishWith(folder, std::move(manifest));
}

std::string FormatCandidates(const ResponseJob& job, const Response& result) {
  io::CsvWriter csv;
  for (const char* column : {"motion", "time", "start", "distance", "gap", "limp_gap", "hidden_impulse", "end", "last",
                             "tried", "reached", "up", "found"})
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
    csv.EndRow();
  }
  return csv.Take();
}

}  // namespace retrace::runs
