#include "retrace/runs/reconstruction.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "replayed_control.h"
#include "retrace/io/error.h"
#include "retrace/io/number.h"
#include "retrace/runs/ranks.h"
#include "retrace/runs/run_files.h"

namespace retrace::runs {
namespace {

/// The tracking as a reconstruction.
Reconstruction Track(const Job& job, int threads, const sampling::Hooks& hooks) {
  Reconstruction result;
  result.method = Method::kTracking;
  tracking::Hooks tracking_hooks;
  tracking_hooks.stop = hooks.stop;
  result.tracking = runs::Track(job, {}, tracking_hooks, threads);
  if (result.tracking->summary.status == tracking::Status::kStopped) throw StoppedError("the tracking was stopped");
  result.num_steps = result.tracking->num_steps;
  result.diverged = result.tracking->diverged;
  result.evaluation = result.tracking->evaluation;
  return result;
}

/// Simulates the control in a new world and compares the motion with the reference. `end` is where the method ended.
void Verify(const Job& job, const character::State& end, bool resumed, Reconstruction& result) {
  const control::OpenLoopControl& control = result.control();
  const ReplayedControl replayed = EvaluateReplay(job, control, {});
  result.num_steps = replayed.num_steps;
  result.diverged = replayed.diverged;
  result.evaluation = replayed.evaluation;
  if (control.fragments.empty() || control::Fingerprint(replayed.end) == control::Fingerprint(end)) return;
  const char* const difference = "the replay does not end in the state that the search found";
  if (resumed) throw InputError("checkpoint", difference, "what this search has stored");
  throw std::logic_error(difference);
}

Reconstruction OptimiseWindows(const Job& job, parallel::TaskFarm& farm, const ReconstructionHooks& hooks) {
  Reconstruction result;
  result.method = Method::kWindows;
  result.windows = windows::Run(job.windows, farm, {hooks.on_window_iteration, hooks.store, hooks.stop});
  Verify(job, result.windows.end, result.windows.resumed(), result);
  return result;
}

/// What was asked for, what found the control, and what else was tried.
io::Json MethodMember(const Job& job, const Reconstruction& result) {
  io::Json member = {{"asked", Name(job.configuration.run.method)}, {"used", Name(result.method)}};
  if (result.method == Method::kSampling && result.tracking) member["tracking"] = result.tracking->Ending();
  return member;
}

}  // namespace

double Reconstruction::cpu_seconds() const {
  return search.cpu_seconds + windows.cpu_seconds + windows.master_cpu_seconds +
         (tracking ? tracking->cpu_seconds() : 0);
}

const control::OpenLoopControl& Reconstruction::control() const {
  switch (method) {
    case Method::kTracking:
      return tracking->summary.control;
    case Method::kWindows:
      return windows.control;
    case Method::kAuto:
    case Method::kSampling:
      break;
  }
  return search.control;
}

std::string Reconstruction::Choice() const {
  if (!tracking)
    return "found by sampling: motions of more than " + io::Fixed(kLongestTracked, 0) + " s are not tracked";
  return std::string(method == Method::kTracking ? "found by tracking" : "found by sampling") +
         ": the tracked motion " + tracking->Ending();
}

parallel::WorkerFactory MakeWorkerFactory(const Job& job) {
  return job.configuration.run.method == Method::kWindows ? windows::MakeWorkerFactory(job.windows)
                                                          : sampling::MakeWorkerFactory(job.problem);
}

Reconstruction Search(const Job& job, parallel::TaskFarm& farm, const sampling::Hooks& hooks) {
  Reconstruction result;
  result.search = sampling::Run(job.problem, farm, hooks);
  const std::vector<sampling::IterationRecord>& iterations = result.search.iterations;
  const bool resumed = std::any_of(iterations.begin(), iterations.end(), [](const auto& i) { return i.restored; });
  Verify(job, result.search.end, resumed, result);
  return result;
}

Reconstruction Reconstruct(const Job& job, parallel::TaskFarm& farm, const ReconstructionHooks& hooks) {
  const Method asked = job.configuration.run.method;
  if (asked == Method::kWindows) return OptimiseWindows(job, farm, hooks);
  const bool too_long = asked == Method::kAuto && job.reference.duration() > kLongestTracked;
  if (asked == Method::kSampling || too_long) return Search(job, farm, hooks);
  Reconstruction tracked = Track(job, farm.num_workers(), hooks);
  if (asked == Method::kTracking || tracked.success()) return tracked;
  const results::RunTimer timer = tracked.timer;
  Reconstruction searched = Search(job, farm, hooks);
  searched.tracking = std::move(tracked.tracking);
  searched.timer = timer;
  return searched;
}

Reconstruction Reconstruct(const Job& job, int threads, const ReconstructionHooks& hooks) {
  const auto farm = MakeThreadFarm(threads, MakeWorkerFactory(job));
  return Reconstruct(job, *farm, hooks);
}

void WriteRun(results::RunFolder& folder, const Job& job, const Reconstruction& result, const RunContext& context,
              KeptFiles kept, const io::Json& more) {
  if (result.method == Method::kTracking) {
    io::Json all = {{"program", "reconstruct"}, {"method", MethodMember(job, result)}};
    all.update(more);
    return WriteTracking(folder, job, *result.tracking, context, kept, all);
  }
  io::Json all = WriteControlAndMotion(folder, job, {result.control(), {}, result.num_steps}, kept);
  if (kept == KeptFiles::kAll && result.method == Method::kWindows) {
    folder.Write(results::kWindowsFile, FormatWindows(result.windows));
  } else if (kept == KeptFiles::kAll) {
    folder.Write(results::kCostsFile, results::FormatCosts(CostsOf(result.search)));
  }
  all["method"] = MethodMember(job, result);
  all.update(more);
  FinishWith(folder, ReconstructionManifest(job, result, context, all));
}

void WriteRun(const std::filesystem::path& folder, const Job& job, const Reconstruction& result) {
  results::RunFolder run(folder, false);
  WriteRun(run, job, result, RunContext{});
}

}  // namespace retrace::runs
