#include "common/outcome.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/program.h"
#include "common/verdict.h"
#include "retrace/io/number.h"
#include "retrace/runs/stored/failure_report.h"
#include "retrace/runs/stored/run_files.h"

namespace retrace::apps {
namespace {

/// How it went, in a few words.
std::string Outcome(const runs::FailureReport& report, const metrics::Evaluation& evaluation) {
  if (evaluation.success()) return "reconstructed";
  if (report.ending == task::Ending::kReachedEnd) return "out of tolerance";
  const double time = report.failure.fragment >= 0 ? report.failure.start : report.reached;
  return (report.failure.fragment >= 0 ? "not reconstructed, out of tolerance at " : "not reconstructed, stopped at ") +
         io::Fixed(time, 2) + " of " + io::Fixed(report.duration, 2) + " s";
}

void PrintTracking(const runs::Job& job, const runs::Reconstruction& result, double wall_seconds) {
  const double duration = job.problem.task.duration();
  for (const std::string& note : result.tracking->prepared.Notes()) std::printf("  %s\n", cli::Shown(note).c_str());
  std::printf("%s: %s after %.1f s (%.3f CPU s per second of motion)\n  %s\n%s",
              cli::Shown(job.options.clip.file).c_str(), result.success() ? "reconstructed" : "out of tolerance",
              wall_seconds, result.cpu_seconds() / duration,
              cli::ShownLines(result.tracking->summary.BriefReport()).c_str(),
              cli::ShownLines(runs::Describe(result.evaluation, duration, result.diverged)).c_str());
}

void PrintWindows(const runs::Job& job, const runs::Reconstruction& result, double wall_seconds) {
  const double duration = job.problem.task.duration();
  const char* const outcome = result.success()                    ? "reconstructed"
                              : result.optimization.reached_end() ? "out of tolerance"
                                                                  : "not reconstructed";
  std::printf("%s: %s after %.1f s (%.1f CPU s per second of motion)\n  %s\n%s",
              cli::Shown(job.options.clip.file).c_str(), outcome, wall_seconds, result.cpu_seconds() / duration,
              cli::ShownLines(result.optimization.BriefReport()).c_str(),
              cli::ShownLines(runs::Describe(result.evaluation, duration, result.diverged)).c_str());
}

void PrintParts(const runs::Job& job, const runs::Reconstruction& result, double wall_seconds) {
  const double duration = job.problem.task.duration();
  std::printf("%s: %s after %.1f s (%.2f CPU s per second of motion)\n  %s\n%s",
              cli::Shown(job.options.clip.file).c_str(), result.success() ? "reconstructed" : "not reconstructed",
              wall_seconds, result.cpu_seconds() / duration, cli::Shown(result.hybrid->Describe()).c_str(),
              cli::ShownLines(runs::Describe(result.evaluation, duration, result.diverged)).c_str());
}

void PrintReconstruction(const runs::Job& job, const runs::Reconstruction& result, double wall_seconds) {
  const metrics::Evaluation& evaluation = result.evaluation;
  if (job.configuration.run.method == runs::Method::kAuto) {
    std::printf("%s: %s\n", cli::Shown(job.options.clip.file).c_str(), cli::Shown(result.Choice()).c_str());
  }
  if (result.method == runs::Method::kTracking) {
    PrintTracking(job, result, wall_seconds);
    return;
  }
  if (result.method == runs::Method::kTrajectory) {
    PrintWindows(job, result, wall_seconds);
    return;
  }
  if (result.method == runs::Method::kHybrid) {
    PrintParts(job, result, wall_seconds);
    return;
  }
  const sampling::Summary& search = result.search;
  const runs::FailureReport report = runs::ReportFailure(job.problem, search, evaluation, job.prepared->checks);
  std::printf("%s: %s after %.1f s (%.1f CPU s per second of motion, %.0f samples/s per core)\n%s%s",
              cli::Shown(job.options.clip.file).c_str(), cli::Shown(Outcome(report, evaluation)).c_str(), wall_seconds,
              search.cpu_seconds / job.reference().duration(),
              static_cast<double>(search.rollouts) / std::max(search.cpu_seconds, 1e-9),
              cli::ShownLines(report.Text()).c_str(),
              cli::ShownLines(runs::Describe(evaluation, report.duration, result.diverged)).c_str());
}

/// The control that is the result; nothing where there is none, or several.
const runs::Reconstruction* ResultOf(const runs::RunOutcome& outcome) {
  if (outcome.reconstruction) return &*outcome.reconstruction;
  return outcome.forces ? &outcome.forces->run : nullptr;
}

/// The outcome as JSON: the verdict and the evaluation of a single control, whether variations were found.
io::Json OutcomeToJson(const runs::Job& job, const runs::RunOptions& run, const runs::RunOutcome& outcome,
                       const std::string& command, double wall_seconds) {
  const runs::Reconstruction* const result = ResultOf(outcome);
  io::Json json = {{"success", outcome.success},
                   {"finished_before", outcome.finished_before},
                   {"folder", run.output.string()},
                   {"doubts", outcome.doubts}};
  if (result != nullptr) {
    json.update(VerdictOf(job, *result, run.output, command, wall_seconds).ToJson());
    json["evaluation"] = result->evaluation.ToJson();
    json["method"] = runs::Name(result->method);
  }
  if (outcome.variations) {
    json["variations"] = {{"found", outcome.variations->found}, {"requested", outcome.variations->requested}};
  }
  if (!outcome.report.empty()) json["report"] = outcome.report.string();
  return json;
}

}  // namespace

int ExitCodeOf(bool success, const std::vector<std::string>& doubts) {
  const ExitCode of_success = doubts.empty() ? ExitCode::kSuccess : ExitCode::kDoubtful;
  return static_cast<int>(success ? of_success : ExitCode::kBelowGate);
}

void PrintRecognized(const runs::Job& job) {
  std::printf("%s: %.2f s\n", cli::Shown(job.options.clip.file).c_str(), job.reference().duration());
  for (const std::string& note : job.prepared->report.notes) std::printf("  %s\n", cli::Shown(note).c_str());
  if (job.prepared->repaired) {
    for (const std::string& note : job.prepared->repaired->Notes()) std::printf("  %s\n", cli::Shown(note).c_str());
  }
  for (const metrics::ClipWarning& warning : job.prepared->checks.warnings)
    std::printf("  warning: %s\n", cli::Shown(warning.text).c_str());
  for (const std::string& note : job.prepared->placed.notes) std::printf("  world: %s\n", cli::Shown(note).c_str());
  for (const std::string& warning : job.prepared->placed.warnings)
    std::printf("  warning: %s\n", cli::Shown(warning).c_str());
}

void PrintJob(const runs::Job& job) {
  PrintRecognized(job);
  const task::Preparation& preparation = job.prepared->preparation;
  const task::Task& task = preparation.task;
  std::printf(
      "  motion: %s; cost weights %s (%g, %g, %g, %g); contact scales %s; %d fragments, %zu of them ending at a "
      "segment boundary\n",
      Name(preparation.kind.kind).c_str(), cli::Shown(preparation.cost_preset).c_str(), task.weights.pose,
      task.weights.root, task.weights.end_effector, task.weights.balance,
      cli::Shown(preparation.contact_preset).c_str(), task.schedule.num_iterations(), task.schedule.boundaries.size());
  if (preparation.start_raised > 0) {
    std::printf("  start state raised by %.3f m out of the ground\n", preparation.start_raised);
  }
  std::fflush(stdout);
}

void PrintOutcome(const std::string& program, const runs::Job& job, const runs::RunOptions& run,
                  const runs::RunOutcome& outcome, double wall_seconds, const PrintedOutcome& printed) {
  const bool prints = printed.prints && !printed.json;
  if (printed.json)
    std::printf("%s\n", io::Dump(OutcomeToJson(job, run, outcome, printed.command, wall_seconds)).c_str());
  if (outcome.finished_before && !printed.json) {
    std::printf("%s: finished before, %s\n", cli::Shown(run.output).c_str(),
                !outcome.success         ? "out of tolerance"
                : outcome.doubts.empty() ? "successfully"
                                         : "doubtful");
  }
  const runs::Reconstruction* const result = ResultOf(outcome);
  if (result != nullptr && prints) {
    Print(VerdictOf(job, *result, run.output, printed.command, wall_seconds));
    if (printed.verbose) {
      std::printf("details:\n");
      PrintReconstruction(job, *result, wall_seconds);
    }
  }
  if (outcome.forces && prints) std::fputs(cli::ShownLines(runs::Describe(*outcome.forces)).c_str(), stdout);
  if (!outcome.report.empty() && prints)
    std::printf("  %s opens in any web browser\n", cli::Shown(outcome.report).c_str());
  if (outcome.variations && !outcome.success) {
    const runs::VariationsSummary& summary = *outcome.variations;
    std::fflush(stdout);
    std::fprintf(stderr, "%s: found %zu of %d variations with %d seeds: %d not within tolerance, %d the same\n",
                 cli::Shown(program).c_str(), summary.found, summary.requested, summary.tries, summary.failed,
                 summary.repeated);
  }
}

}  // namespace retrace::apps
