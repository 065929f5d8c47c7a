#include "retrace/jobs/reconstruction.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <thread>

#include "retrace/io/error.h"
#include "retrace/io/number.h"
#include "retrace/jobs/tracked_baseline.h"
#include "retrace/parallel/rank_report.h"
#include "retrace/parallel/thread_farm.h"
#include "retrace/planning/viability/continuation.h"
#include "retrace/planning/viability/replayed_control.h"
#include "retrace/recordings/bvh.h"
#include "retrace/runs/inputs/data_files.h"

namespace retrace::runs {
namespace {

constexpr double kNearEnough = 0.07;  // mean distance in the world, of a human [m]

/// The tracking as a reconstruction; that of the baseline, where there is one.
Reconstruction Track(const Job& job, int threads, const sampling::Hooks& hooks) {
  Reconstruction result;
  result.method = Method::kTracking;
  if (job.tracked) {
    result.tracking = *job.tracked;
    result.timer = job.tracked->timer;
  } else {
    tracking::Hooks tracking_hooks;
    tracking_hooks.stop = hooks.stop;
    result.tracking = runs::Track(job, {}, tracking_hooks, threads);
  }
  if (result.tracking->summary.status == tracking::Status::kStopped) throw StoppedError("the tracking was stopped");
  result.num_steps = result.tracking->num_steps;
  result.diverged = result.tracking->diverged;
  result.evaluation = result.tracking->evaluation;
  result.against_recording = result.tracking->against_recording;
  return result;
}

/// Simulates the control in a new world and compares the motion with the reference. `end` is where the method ended.
void Verify(const Job& job, const character::State& end, bool resumed, Reconstruction& result) {
  const control::OpenLoopControl& control = result.control();
  const ReplayedControl replayed = EvaluateReplay(*job.prepared, control, {}, job.configuration.sampling.best_effort);
  result.num_steps = replayed.num_steps;
  result.diverged = replayed.diverged;
  result.evaluation = replayed.evaluation;
  result.stay = replayed.stay;
  result.against_recording = replayed.against_recording;
  if (control.fragments.empty() || control::Fingerprint(replayed.end) == control::Fingerprint(end)) return;
  const char* const difference = "the replay does not end in the state that the search found";
  if (resumed) throw InputError("checkpoint", difference, "what this search has stored");
  throw std::logic_error(difference);
}

Reconstruction OptimizeWindows(const Job& job, parallel::TaskFarm& farm, const trajectory::Hooks& hooks) {
  Reconstruction result;
  result.method = Method::kTrajectory;
  result.optimization = trajectory::Run(job.trajectory, farm, hooks);
  Verify(job, result.optimization.end, result.optimization.resumed(), result);
  return result;
}

/// Threads of this process that may take part in what ranks do not: in a job of many ranks it has only the cores of one
/// machine.
int OwnThreads(const parallel::TaskFarm& farm) {
  const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  return std::min(farm.num_workers(), cores);
}

/// Tracked and searched parts. It leaves no checkpoint: a job that is stopped repeatedly would never get past it.
Reconstruction FindParts(const Job& job, parallel::TaskFarm& farm) {
  Reconstruction result;
  result.method = Method::kHybrid;
  result.hybrid = job.hybrid ? *job.hybrid : FindHybrid(*job.prepared, job.configuration, OwnThreads(farm));
  Verify(job, result.hybrid->end, false, result);
  return result;
}

/// Whether a result of parts is so near to the reference that a search of the whole motion is not worth its cost.
bool IsNearEnough(const Job& job, const Reconstruction& result) {
  const double limit = kNearEnough * job.character().height / metrics::kHumanHeight;
  return result.method == Method::kHybrid && result.success() && result.evaluation.near_in_world() &&
         result.evaluation.mean_world_error <= limit;
}

/// Whether a motion is the better result: one that is within tolerance, then one that stays near in the world, then the
/// nearer one. Where nothing is within tolerance, the later method counts, which nothing stops but its budget.
bool IsBetter(const Reconstruction& result, const Reconstruction& than) {
  if (!result.success() || !than.success()) return result.success() || !than.success();
  const bool near = result.evaluation.near_in_world();
  if (near != than.evaluation.near_in_world()) return near;
  return result.evaluation.mean_world_error < than.evaluation.mean_world_error;
}

/// CPU time of the search of the whole motion, together with what was spent on results that are not used.
double SearchCpuSeconds(const Reconstruction& result) {
  return result.search.cpu_seconds + result.optimization.cpu_seconds + result.optimization.master_cpu_seconds +
         result.unused_cpu_seconds;
}

/// The better of two results, with what was learned of the other.
void Choose(Reconstruction&& next, Reconstruction& best) {
  const bool better = IsBetter(next, best);
  Reconstruction& other = better ? best : next;
  Reconstruction& chosen = better ? next : best;
  if (other.tracking) chosen.tracking = std::move(other.tracking);
  if (other.hybrid) chosen.hybrid = std::move(other.hybrid);
  chosen.unused_cpu_seconds += SearchCpuSeconds(other);
  chosen.timer = best.timer;
  if (better) best = std::move(next);
}

/// Windows, where neither parts nor the search led to the end near the reference. They leave no checkpoint, as parts do
/// not: a run that is resumed repeats them.
void TryWindows(const Job& job, parallel::TaskFarm& farm, const ReconstructionHooks& hooks, Reconstruction& best) {
  if (best.success() && best.evaluation.near_in_world()) return;
  const auto own = parallel::MakeThreadFarm(OwnThreads(farm), trajectory::MakeWorkerFactory(job.trajectory));
  Reconstruction windows = OptimizeWindows(job, *own, {hooks.on_window_iteration, nullptr, hooks.stop});
  if (windows.success()) {
    Choose(std::move(windows), best);
  } else {
    best.unused_cpu_seconds += SearchCpuSeconds(windows);
  }
}

struct FoundControl {
  control::OpenLoopControl& control;
  character::State& end;
};

FoundControl ControlOf(Reconstruction& result) {
  if (result.method == Method::kHybrid) return {result.hybrid->control, result.hybrid->end};
  if (result.method == Method::kTracking) return {result.tracking->summary.control, result.tracking->summary.end};
  if (result.method == Method::kTrajectory) return {result.optimization.control, result.optimization.end};
  return {result.search.control, result.search.end};
}

/// The walk that comes with the toolkit; nothing where it cannot be read.
std::optional<motion::Clip> BundledWalk() {
  const auto file = FindBundledClip("walk.bvh");
  if (!file) return std::nullopt;
  try {
    return motion::ReadBvh(*file);
  } catch (const ResourceError&) {
    throw;
  } catch (const Error&) {
    return std::nullopt;
  }
}

void JudgeEndOf(const Job& job, int threads, const sampling::Hooks& hooks, Reconstruction& result) {
  if (!result.success()) {
    result.end.emplace();
    result.end->seconds = job.configuration.run.tail;
    result.end->reason = "the motion does not stay within tolerance to its end";
    return;
  }
  const FoundControl found = ControlOf(result);
  // The judgment takes a few seconds and leaves no checkpoint: a job that is stopped repeatedly would never get past
  // it. The search for another end may take long.
  const bool may_stop = job.configuration.run.recover_end == EndRecovery::kSearch;
  const std::optional<motion::Clip> walk = BundledWalk();
  const EndingMotion ending{*job.prepared, walk ? &*walk : nullptr};
  JudgedEnd judged =
      JudgeEnd(ending, job.configuration, found.control, found.end, threads, may_stop ? hooks.stop : nullptr);
  result.end = std::move(judged.end);
  if (!judged.mended) return;
  found.control = std::move(*judged.mended);
  found.end = std::move(judged.mended_end);
  Verify(job, found.end, false, result);
  if (!result.tracking || result.method != Method::kTracking) return;
  result.tracking->num_steps = result.num_steps;
  result.tracking->evaluation = result.evaluation;
}

}  // namespace

double Reconstruction::cpu_seconds() const {
  return SearchCpuSeconds(*this) + (tracking ? tracking->cpu_seconds() : baseline_cpu_seconds) +
         (hybrid ? hybrid->cpu_seconds : 0) + (end ? end->cpu_seconds : 0);
}

const control::OpenLoopControl& Reconstruction::control() const {
  switch (method) {
    case Method::kTracking:
      return tracking->summary.control;
    case Method::kHybrid:
      return hybrid->control;
    case Method::kTrajectory:
      return optimization.control;
    case Method::kAuto:
    case Method::kSampling:
      break;
  }
  return search.control;
}

std::string Reconstruction::Choice() const {
  if (!tracking) {
    if (control().duration() <= kLongestTracked) return "found by " + Name(method);
    return "found by sampling: motions of more than " + io::Fixed(kLongestTracked, 0) + " s are not tracked";
  }
  std::string reason = "found by " + Name(method) + ": the tracked motion " + tracking->Ending();
  if (method == Method::kSampling && hybrid) {
    reason += hybrid->reached_end ? ", and one of tracked and searched parts is not as near"
                                  : ", and searches of parts led to " + io::Fixed(hybrid->control.duration(), 2) + " s";
  }
  if (method == Method::kTrajectory) reason += ", and searches of parts and of the whole did not lead as near";
  return reason;
}

parallel::WorkerFactory MakeWorkerFactory(const Job& job) {
  if (job.LacksBaseline() && job.configuration.run.baseline == Baseline::kTracked)
    throw std::logic_error("a job without the baseline that its configuration asks for (WithBaseline)");
  return job.configuration.run.method == Method::kTrajectory ? trajectory::MakeWorkerFactory(job.trajectory)
                                                             : sampling::MakeWorkerFactory(job.problem);
}

Reconstruction Search(const Job& job, parallel::TaskFarm& farm, const sampling::Hooks& hooks) {
  Reconstruction result;
  if (job.tracked) result.baseline_cpu_seconds = job.tracked->cpu_seconds();
  result.search = sampling::Run(job.problem, farm, hooks);
  const std::vector<sampling::IterationRecord>& iterations = result.search.iterations;
  const bool resumed = std::any_of(iterations.begin(), iterations.end(), [](const auto& i) { return i.restored; });
  Verify(job, result.search.end, resumed, result);
  return result;
}

Reconstruction FindControl(const Job& job, parallel::TaskFarm& farm, const ReconstructionHooks& hooks) {
  const Method asked = job.configuration.run.method;
  if (asked == Method::kTrajectory) {
    return OptimizeWindows(job, farm, {hooks.on_window_iteration, hooks.store, hooks.stop});
  }
  if (asked == Method::kHybrid) return FindParts(job, farm);
  const bool too_long = asked == Method::kAuto && job.reference().duration() > kLongestTracked;
  if (asked == Method::kSampling || too_long) return Search(job, farm, hooks);
  Reconstruction best = Track(job, farm.num_workers(), hooks);
  if (asked == Method::kTracking || best.tracking->suffices()) return best;
  if (CanBeHybrid(*job.prepared, job.configuration)) Choose(FindParts(job, farm), best);
  if (IsNearEnough(job, best)) return best;
  Choose(Search(job, farm, hooks), best);
  TryWindows(job, farm, hooks, best);
  return best;
}

Reconstruction Reconstruct(const Job& job, parallel::TaskFarm& farm, const ReconstructionHooks& hooks) {
  Reconstruction result = FindControl(job, farm, hooks);
  if (job.configuration.run.tail > 0) JudgeEndOf(job, OwnThreads(farm), hooks, result);
  return result;
}

Reconstruction Reconstruct(const Job& job, int threads, const ReconstructionHooks& hooks) {
  if (job.LacksBaseline()) return Reconstruct(WithBaseline(job, threads), threads, hooks);
  const auto farm = parallel::MakeThreadFarm(threads, MakeWorkerFactory(job));
  return Reconstruct(job, *farm, hooks);
}

}  // namespace retrace::runs
