#include "retrace/jobs/reconstruction_manifest.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "retrace/jobs/job_manifest.h"
#include "retrace/runs/stored/failure_report.h"

namespace retrace::runs {
namespace {

/// @param summary of sampling or of trajectory optimization
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
  io::Json refinement = io::Json::array();
  for (const sampling::RefinementPass& pass : search.refinement) {
    refinement.push_back({{"cost_before", pass.cost_before},
                          {"cost", pass.cost},
                          {"noise", pass.noise},
                          {"caution", pass.caution},
                          {"largest_drift", pass.drift},
                          {"linearized", pass.linearized}});
  }
  return {{"path_cost", search.path_cost},
          {"ending", Name(search.ending)},
          {"diverged_samples", diverged},
          {"back_offs", back_offs},
          {"samples", samples},
          {"distinct_saved", distinct},
          {"distinct_saved_by_the_letter", literal},
          {"refinement", refinement}};
}

io::Json WindowsMember(const trajectory::Summary& summary, trajectory::Cost cost) {
  const auto names = trajectory::TermNames(cost);
  io::Json list = io::Json::array();
  for (const trajectory::WindowRecord& window : summary.windows) {
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

}  // namespace

io::Json ReconstructionManifest(const Job& job, const Reconstruction& result, const RunContext& context,
                                const io::Json& more) {
  const sampling::Summary& search = result.search;
  const metrics::Evaluation& evaluation = result.evaluation;
  const results::RunTimer& timer = context.timer != nullptr ? *context.timer : result.timer;
  const bool by_optimization = result.method == Method::kTrajectory;
  const trajectory::Summary& optimization = result.optimization;
  const bool by_parts = result.method == Method::kHybrid;
  const task::Ending of_parts = evaluation.completed ? task::Ending::kReachedEnd : task::Ending::kLeftGates;
  io::Json manifest = BeginManifest("reconstruct", StatusOf(by_parts          ? of_parts
                                                            : by_optimization ? optimization.ending
                                                                              : search.ending));
  manifest["success"] = evaluation.success();
  manifest["evaluation"] = evaluation.ToJson();
  AddJob(job, job.configuration.sampling.seed, context, manifest);
  const double duration = job.reference().duration();
  if (by_optimization) {
    manifest["cost"] = CostMember(optimization, optimization.simulated_seconds, duration, timer.WallSeconds());
    manifest["trajectory"] = WindowsMember(optimization, job.configuration.trajectory.cost);
  } else if (by_parts) {
    manifest["cost"] = {{"cpu_seconds_per_second", result.cpu_seconds() / duration}};
  } else {
    manifest["cost"] = CostMember(search, search.search_seconds, duration, timer.WallSeconds());
    AddSamples(search, manifest["cost"]);
    manifest["search"] = SearchMember(search);
  }
  if (!by_optimization && !by_parts && !evaluation.success()) {
    manifest["search"]["failure"] = ReportFailure(job.problem, search, evaluation, job.prepared->checks).ToJson();
  }
  manifest["workers"] = context.workers;
  manifest["provenance"] = results::Provenance(timer, {});
  manifest.update(more);
  return manifest;
}

}  // namespace retrace::runs
