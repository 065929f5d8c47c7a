#include "retrace/jobs/tracking_run.h"

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "retrace/control/push_text.h"
#include "retrace/control/pushes.h"
#include "retrace/io/cpu_time.h"
#include "retrace/io/csv_writer.h"
#include "retrace/io/number.h"
#include "retrace/jobs/control_files.h"
#include "retrace/jobs/job_manifest.h"
#include "retrace/parallel/rank_report.h"
#include "retrace/parallel/task_farm.h"
#include "retrace/parallel/thread_farm.h"
#include "retrace/planning/viability/replayed_control.h"
#include "retrace/runs/stored/run_files.h"

namespace retrace::runs {
namespace {

std::vector<control::Push> ParsePushes(const Job& job, const tracking::Problem& problem,
                                       const std::vector<std::string>& texts) {
  control::OpenLoopControl nothing{problem.task.world, problem.task.start, {}};
  nothing.fragments.push_back({0, problem.num_steps(), {}});
  const control::Scene scene = control::MakeScene(job.character(), nothing);
  std::vector<control::Push> pushes;
  for (const std::string& text : texts) pushes.push_back(control::ParsePush(text, scene));
  return pushes;
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

std::string Seconds(double time) {
  return io::Fixed(time, 2) + " s";
}

}  // namespace

std::string Tracking::Ending() const {
  const metrics::Gate* const left = evaluation.FirstViolated();
  if (summary.reached_end() && left == nullptr) {
    if (!evaluation.near_in_world()) {
      return "drifted from the reference by more than " + io::Fixed(evaluation.world.limit, 2) + " m at " +
             Seconds(evaluation.world.first_violation);
    }
    if (evaluation.near_in_posture()) return "stayed within tolerance";
    return "stayed within tolerance, but " + io::Fixed(1000 * evaluation.mean_joint_error, 0) +
           " mm from the recorded posture";
  }
  if (summary.reached_end()) return "exceeded the tolerances (" + left->name + ") at " + Seconds(left->first_violation);
  return Name(summary.status) + " after " + Seconds(summary.control.duration());
}

Tracking Track(const Job& job, const std::vector<std::string>& pushes, const tracking::Hooks& hooks, int threads) {
  const results::RunTimer timer;
  const tracking::Options& options = job.configuration.tracking;
  const double begin = io::ThreadCpuSeconds();
  tracking::PreparedReference prepared =
      tracking::PrepareReference(job.prepared->recorded, job.prepared->world, job.configuration.task.world, options);
  Tracking result{std::move(prepared), {}, {}, 0, false, {}, {}, timer, 0};
  result.preparing_cpu_seconds = io::ThreadCpuSeconds() - begin;
  tracking::Problem problem{job.problem.task, &result.prepared.motion, options};
  problem.task.world.contact_scale.clear();
  problem.flights = result.prepared.flight.flights;
  problem.pushes = ParsePushes(job, problem, pushes);
  result.pushes = problem.pushes;
  const auto farm =
      parallel::MakeThreadFarm(options.candidates > 0 ? threads : 1, tracking::MakeWorkerFactory(problem));
  result.summary = tracking::Run(problem, *farm, hooks);
  const ReplayedControl replayed = EvaluateReplay(*job.prepared, result.summary.control, result.pushes);
  result.num_steps = replayed.num_steps;
  result.diverged = replayed.diverged;
  result.evaluation = replayed.evaluation;
  result.against_recording = replayed.against_recording;
  if (control::Fingerprint(replayed.end) != control::Fingerprint(result.summary.end)) {
    throw std::logic_error("the commands do not end in the state that the controller led to");
  }
  return result;
}

io::Json TrackingManifest(const Job& job, const Tracking& result, const RunContext& context, const io::Json& more) {
  io::Json manifest = BeginManifest("track", result.summary.reached_end() ? "completed" : Name(result.summary.status));
  if (!result.pushes.empty()) {
    manifest["perturbed"] = true;
    manifest["pushes"] =
        control::PushesToJson(control::MakeScene(job.character(), result.summary.control), result.pushes);
  }
  manifest["success"] = result.success();
  manifest["evaluation"] = result.evaluation.ToJson();
  AddJob(job, job.configuration.tracking.seed, context, manifest);
  manifest["tracking"] = TrackingMember(result);
  manifest["provenance"] = results::Provenance(context.timer != nullptr ? *context.timer : result.timer, {});
  manifest.update(more);
  return manifest;
}

void WriteTracking(results::RunFolder& folder, const Job& job, const Tracking& result, const RunContext& context,
                   KeptFiles kept, const io::Json& more) {
  io::Json all = WriteControlAndMotion(folder, job, {result.summary.control, result.pushes, result.num_steps}, kept);
  if (kept != KeptFiles::kControl) folder.Write(results::kTrackingFile, FormatTracking(result.summary.records));
  all.update(more);
  FinishWith(folder, TrackingManifest(job, result, context, all));
}

std::string FormatTracking(const std::vector<tracking::SolveRecord>& records) {
  io::CsvWriter csv;
  for (const char* column : {"time", "contacts", "variables", "iterations", "squared_error", "slack", "largest_torque",
                             "vertical_force", "solved", "cpu_microseconds"}) {
    csv.Text(column);
  }
  csv.EndRow();
  for (const tracking::SolveRecord& record : records) {
    csv.Number(record.time);
    for (const int number : {record.contacts, record.variables, record.iterations}) csv.Integer(number);
    for (const double number : {record.squared_error, record.slack, record.largest_torque, record.vertical_force}) {
      csv.Short(number);
    }
    csv.Integer(record.status == optimization::Status::kOptimal ? 1 : 0);
    csv.Short(1e6 * record.cpu_seconds);
    csv.EndRow();
  }
  return csv.Take();
}

}  // namespace retrace::runs
