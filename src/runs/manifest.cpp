#include "retrace/runs/manifest.h"

#include <algorithm>

#include "retrace/io/describe.h"
#include "retrace/runs/failure_report.h"
#include "retrace/runs/pushes.h"
#include "retrace/runs/reconstruction.h"
#include "retrace/runs/replay.h"
#include "retrace/runs/solver.h"
#include "retrace/runs/stabilization.h"
#include "retrace/runs/stored_run.h"
#include "retrace/runs/tracking_run.h"

namespace retrace::runs {
namespace {

/// The members that every manifest begins with.
io::Json Begin(const std::string& program, const std::string& status) {
  return {{"format", results::kRunFormat}, {"version", 2}, {"program", program}, {"status", status}};
}

io::Json ClipMember(const Job& job) {
  const ClipOptions& clip = job.options.clip;
  io::Json member = {{"file", clip.file.string()},
                     {"start", clip.start},
                     {"end", clip.end.value_or(-1)},
                     {"time_scale", clip.time_scale},
                     {"options", job.configuration.task.reference.ToJson()},
                     {"duration", job.reference.duration()}};
  AddChoice(clip.choice, member);
  return member;
}

/// @param summary of sampling or of windows
template <typename AnySummary>
io::Json CostMember(const AnySummary& search, double search_seconds, double duration, double wall_seconds) {
  const double cpu = std::max(search.cpu_seconds, 1e-9);  // a budget may allow for no simulation at all
  return {{"simulated_seconds", search.simulated_seconds},
          {"search_seconds", search_seconds},
          {"simulated_seconds_per_second", search.simulated_seconds / duration},
          {"rollouts", search.rollouts},
          {"rollout_cpu_seconds", search.cpu_seconds},
          {"samples_per_second_per_core", static_cast<double>(search.rollouts) / cpu},
          {"samples_per_second", static_cast<double>(search.rollouts) / wall_seconds},
          {"cpu_seconds_per_second", search.cpu_seconds / duration}};
}

void AddSamples(const sampling::Summary& search, io::Json& cost) {
  int64_t samples = 0;
  for (const auto& iteration : search.iterations) samples += iteration.drawn;
  cost["samples"] = samples;
  cost["iterations"] = search.iterations.size();
  if (search.restarted()) cost["restarted_at"] = search.restarted_at;
}

io::Json SearchMember(const sampling::Summary& search) {
  io::Json samples = io::Json::array();
  io::Json distinct = io::Json::array();
  io::Json literal = io::Json::array();
  io::Json back_offs = io::Json::array();
  size_t diverged = 0;
  for (const auto& iteration : search.iterations) {
    samples.push_back(iteration.drawn);
    distinct.push_back(iteration.selection.distinct);
    literal.push_back(iteration.selection.distinct_literal);
    diverged += iteration.diverged;
    if (iteration.back_to >= 0) {
      back_offs.push_back(
          {{"iteration", iteration.iteration}, {"fragment", iteration.fragment}, {"to_fragment", iteration.back_to}});
    }
  }
  io::Json smoothing = io::Json::array();
  for (const sampling::SmoothingPass& pass : search.smoothing) {
    smoothing.push_back({{"roughness_before", pass.roughness_before},
                         {"roughness", pass.roughness},
                         {"deviation", pass.deviation},
                         {"completed", pass.completed},
                         {"accepted", pass.accepted}});
  }
  return {{"path_cost", search.path_cost},
          {"ending", Name(search.ending)},
          {"diverged_samples", diverged},
          {"back_offs", back_offs},
          {"samples", samples},
          {"distinct_saved", distinct},
          {"distinct_saved_by_the_letter", literal},
          {"smoothing", smoothing}};
}

/// What is to be done, and from what.
void AddJob(const Job& job, uint64_t seed, const RunContext& context, io::Json& manifest) {
  manifest["command"] = context.command;
  manifest["clip"] = ClipMember(job);
  manifest["configuration"] = job.configuration.ToJson();
  manifest["seed"] = seed;
  manifest["inputs"] = ToJson(job.inputs);
  manifest["reference"] = job.report.ToJson();
  manifest["clip_checks"] = job.checks.ToJson();
  if (job.repaired) manifest["repair"] = job.repaired->ToJson();
  if (!job.world.empty()) manifest["world"] = job.placed.ToJson(job.world);
  manifest["preparation"] = job.preparation.ToJson();
  manifest["solver"] = DescribeSolver(job.configuration.task.world);
}

io::Json TrackingMember(const Tracking& result) {
  const tracking::Summary& summary = result.summary;
  double slack = 0, torque = 0;
  int iterations = 0, variables = 0;
  for (const tracking::SolveRecord& record : summary.records) {
    slack = std::max(slack, record.slack);
    torque = std::max(torque, record.largest_torque);
    iterations = std::max(iterations, record.iterations);
    variables = std::max(variables, record.variables);
  }
  return {{"ending", Name(summary.status)},
          {"solutions", summary.records.size()},
          {"unsolved", summary.unsolved},
          {"largest_slack", slack},
          {"largest_torque", torque},
          {"most_iterations", iterations},
          {"most_variables", variables},
          {"preparing_cpu_seconds", result.preparing_cpu_seconds},
          {"cpu_seconds", summary.cpu_seconds},
          {"solve_cpu_seconds", summary.solve_cpu_seconds},
          {"prepared_reference",
           {{"clean_feet", result.prepared.cleaning.ToJson()},
            {"seated_feet", result.prepared.seating.ToJson()},
            {"flight", result.prepared.flight.ToJson()},
            {"balance", result.prepared.balancing.ToJson()}}}};
}

io::Json WindowsMember(const windows::Summary& summary, windows::Cost cost) {
  const auto names = windows::TermNames(cost);
  io::Json list = io::Json::array();
  for (const windows::WindowRecord& window : summary.windows) {
    io::Json terms = io::Json::object();
    for (size_t i = 0; i < names.size(); ++i) terms[names[i]] = window.terms[i];
    list.push_back({{"start", window.start},
                    {"kept_until", window.kept_until},
                    {"end", window.end},
                    {"offsets", window.offsets},
                    {"iterations", window.iterations},
                    {"start_cost", window.start_cost},
                    {"best_cost", window.best_cost},
                    {"weighted_terms", terms},
                    {"gate_ratio", window.gate_ratio}});
  }
  return {{"ending", Name(summary.ending)}, {"adapting_cpu_seconds", summary.master_cpu_seconds}, {"list", list}};
}

/// Of each character of a scene: where it came from, and its outcome.
io::Json CharactersMember(const StoredRun& run, const Replayed& replayed) {
  io::Json list = io::Json::array();
  for (size_t c = 0; c < run.characters.size(); ++c) {
    const RunCharacter& character = run.characters[c];
    std::string folder = results::CharacterPrefix(c, run.characters.size());
    folder.pop_back();
    io::Json entry = {{"name", run.scene.characters[c].name},
                      {"folder", folder},
                      {"run", character.run},
                      {"control_sha256", character.control_sha256},
                      {"heading", character.placement.heading},
                      {"offset", io::ToJson(character.placement.offset)},
                      {"gates", io::Write(character.gates)}};
    if (character.reference) {
      entry["reference"] = "that of its run, turned and moved: kinematics that take no account of the other characters";
    }
    if (replayed.characters[c].evaluation) entry["evaluation"] = replayed.characters[c].evaluation->ToJson();
    list.push_back(std::move(entry));
  }
  return list;
}

}  // namespace

io::Json ReconstructionManifest(const Job& job, const Reconstruction& result, const RunContext& context,
                                const io::Json& more) {
  const sampling::Summary& search = result.search;
  const metrics::Evaluation& evaluation = result.evaluation;
  const results::RunTimer& timer = context.timer != nullptr ? *context.timer : result.timer;
  const bool by_windows = result.method == Method::kWindows;
  const windows::Summary& windows = result.windows;
  io::Json manifest = Begin("reconstruct", StatusOf(by_windows ? windows.ending : search.ending));
  manifest["success"] = evaluation.success();
  manifest["evaluation"] = evaluation.ToJson();
  AddJob(job, job.configuration.sampling.seed, context, manifest);
  const double duration = job.reference.duration();
  if (by_windows) {
    manifest["cost"] = CostMember(windows, windows.simulated_seconds, duration, timer.WallSeconds());
    manifest["windows"] = WindowsMember(windows, job.configuration.windows.cost);
  } else {
    manifest["cost"] = CostMember(search, search.search_seconds, duration, timer.WallSeconds());
    AddSamples(search, manifest["cost"]);
    manifest["search"] = SearchMember(search);
  }
  if (!by_windows && !evaluation.success()) {
    manifest["search"]["failure"] = ReportFailure(job.problem, search, evaluation, job.checks).ToJson();
  }
  manifest["workers"] = context.workers;
  manifest["provenance"] = results::Provenance(timer, {});
  manifest.update(more);
  return manifest;
}

io::Json TrackingManifest(const Job& job, const Tracking& result, const RunContext& context, const io::Json& more) {
  io::Json manifest = Begin("track", result.summary.reached_end() ? "completed" : Name(result.summary.status));
  if (!result.pushes.empty()) {
    manifest["perturbed"] = true;
    manifest["pushes"] = PushesToJson(control::MakeScene(job.character, result.summary.control), result.pushes);
  }
  manifest["success"] = result.success();
  manifest["evaluation"] = result.evaluation.ToJson();
  AddJob(job, job.configuration.tracking.seed, context, manifest);
  manifest["tracking"] = TrackingMember(result);
  manifest["provenance"] = results::Provenance(context.timer != nullptr ? *context.timer : result.timer, {});
  manifest.update(more);
  return manifest;
}

io::Json ReplayManifest(const StoredRun& run, const ReplayFacts& facts, const RunContext& context) {
  io::Json manifest = Begin(facts.program, facts.status);
  if (facts.replayed != nullptr) {
    const Replayed& replayed = *facts.replayed;
    if (!replayed.pushes.empty()) manifest["perturbed"] = true;  // no result of the control alone
    std::vector<control::Push> pushes = run.scene.pushes;
    pushes.insert(pushes.end(), replayed.pushes.begin(), replayed.pushes.end());
    if (!pushes.empty()) manifest["pushes"] = PushesToJson(run.scene, pushes);
    const auto compared = [](const CharacterReplay& character) { return character.evaluation.has_value(); };
    if (std::all_of(replayed.characters.begin(), replayed.characters.end(), compared)) {
      manifest["success"] = replayed.success();
    }
    if (replayed.characters.size() > 1) {
      manifest["characters"] = CharactersMember(run, replayed);
    } else if (replayed.characters[0].evaluation) {
      manifest["evaluation"] = replayed.characters[0].evaluation->ToJson();
    }
  }
  manifest["command"] = context.command;
  manifest["inputs"] = io::Json::array();
  for (const ControlInput& control : run.controls) {
    manifest["inputs"].push_back({{"file", control.file.string()}, {"sha256", control.sha256}});
  }
  if (facts.feedback != nullptr) {
    manifest["inputs"].push_back({{"file", facts.feedback->file.string()}, {"sha256", facts.feedback->sha256}});
    if (facts.feedback->tree)
      manifest["inputs"].push_back(
          {{"file", facts.feedback->tree_file.string()}, {"sha256", facts.feedback->tree_sha256}});
    manifest["feedback"] = io::Write(facts.feedback->options);
  }
  if (!facts.perturbation.is_null()) manifest["perturbation"] = facts.perturbation;
  manifest["solver"] = run.solver;
  manifest["provenance"] = results::Provenance(context.timer != nullptr ? *context.timer : results::RunTimer(), {});
  return manifest;
}

void FinishWith(results::RunFolder& folder, io::Json manifest) {
  manifest["files"] = folder.Files();
  folder.Finish(manifest);
}

}  // namespace retrace::runs
