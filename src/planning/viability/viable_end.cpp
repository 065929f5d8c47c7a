#include "retrace/planning/viability/viable_end.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>
#include <vector>

#include "retrace/io/cpu_time.h"
#include "retrace/io/error.h"
#include "retrace/io/number.h"
#include "retrace/methods/sampling/search.h"
#include "retrace/methods/tracking/track.h"
#include "retrace/metrics/gates.h"
#include "retrace/parallel/task_farm.h"
#include "retrace/parallel/thread_farm.h"
#include "retrace/planning/segments/motion_start.h"
#include "retrace/planning/segments/rest.h"
#include "retrace/planning/viability/continuation.h"
#include "retrace/planning/viability/replayed_control.h"

namespace retrace::runs {
namespace {

constexpr double kStep = 0.1;             // between the instants of control beyond the end [s]
constexpr double kGoBack[] = {1.0, 3.0};  // before the end, from where it is searched anew [s]
// Effort of the search for a continuation, and of the one that finds another end.
constexpr int kSamples = 200, kMendingSamples = 400;
constexpr int kShareSaved = 5;
constexpr size_t kMostSearched = 3;                    // continuations that are searched for
constexpr double kBudget = 300, kMendingBudget = 800;  // simulated seconds per second
constexpr double kLeastAllowed =
    4000;  // simulated seconds in all, if a search of the clip and the tail may not spend more
// What may be spent, as a share of the budget of a search of the clip and the tail.
constexpr double kShareOfBudget = 0.75;

class EndJudge {
 public:
  EndJudge(const EndingMotion& ending, const Configuration& configuration, const control::OpenLoopControl& control,
           const character::State& state, int threads, const std::function<bool()>& stop)
      : clip_(ending.clip),
        ending_(ending),
        configuration_(configuration),
        control_(control),
        state_(state),
        threads_(threads),
        stop_(stop) {
    judged_.end.seconds = configuration.run.tail;
    const double seconds = clip_.preparation.task.duration() + configuration.run.tail;
    allowed_ = std::max(kLeastAllowed, kShareOfBudget * configuration.sampling.budget * seconds);
  }

  JudgedEnd Run() {
    const double begin = io::ThreadCpuSeconds();
    Judge();
    judged_.end.cpu_seconds += io::ThreadCpuSeconds() - begin;
    return std::move(judged_);
  }

 private:
  double h() const { return control_.world.time_step; }
  int end_step() const { return clip_.preparation.task.schedule.steps.back(); }
  int tail_steps() const { return static_cast<int>(std::floor(judged_.end.seconds / h() + 1e-6)); }

  void Judge() {
    ViableEnd& end = judged_.end;
    const character::Pose& last = clip_.reference().poses().back();
    if (!IsUp(clip_.character, last)) return Answer("the recording ends lying or sitting on the ground");
    for (const simulation::Box& box : control_.world.environment.boxes) {
      // A control that begins at the end would meet it where it was at the start.
      if (box.course) return Answer(box.name + " moves on a course");
    }
    std::vector<Continuation> ways = ContinuationsOf(ending_, end.seconds);
    if (ways.empty())
      return Answer("the recording ends in the air or is followed by lying: nothing tells how to go on");
    for (Continuation& way : ways) {
      if (Track(way)) return;
    }
    const EndRecovery mending = configuration_.run.recover_end;
    const bool tracked = !control_.fragments.empty() && control_.fragments.back().has_commands();
    for (const Continuation& way : ways) {
      if (mending != EndRecovery::kOff && tracked && TrackAnew(way)) return;
    }
    // What feedback followed for longest is what a search will rather find.
    std::stable_sort(ways.begin(), ways.end(),
                     [](const Continuation& a, const Continuation& b) { return a.followed > b.followed; });
    if (ways.size() > kMostSearched) ways.resize(kMostSearched);
    for (const Continuation& way : ways) {
      if (Search(way, end_step(), state_, false)) return;
    }
    end.reason = "no way on was found, neither by tracking nor by sampling";
    if (mending != EndRecovery::kSearch) return;
    for (const double back : kGoBack) {
      const int from = RestartBefore(end_step() - static_cast<int>(std::lround(back / h())));
      if (from == restart_) continue;
      restart_ = from;
      const character::State state = StateAt(from);
      for (const Continuation& way : ways) {
        if (Search(way, from, state, true)) return;
      }
    }
  }

  void Answer(const std::string& reason) {
    judged_.end.verdict = ViableEnd::Verdict::kNotApplicable;
    judged_.end.reason = reason;
  }

  void Accept(const Continuation& way, const char* method, std::vector<control::Fragment> fragments,
              const character::State& start) {
    ViableEnd& end = judged_.end;
    end.verdict = ViableEnd::Verdict::kViable;
    end.reason.clear();
    end.continuation = Name(way.kind);
    end.method = method;
    end.control = {control_.world, start, std::move(fragments)};
  }

  character::ReferenceMotion Motion(std::vector<character::Pose> poses) const {
    return {clip_.character, clip_.reference().frame_time(), std::move(poses),
            clip_.options.reference.velocity_interval};
  }

  /// The reference from a step on, with what follows it, put where a state is.
  std::vector<character::Pose> MotionFrom(const Continuation& way, int step, const character::State& state) const {
    std::vector<character::Pose> all = clip_.reference().poses();
    all.insert(all.end(), way.poses.begin(), way.poses.end());
    const character::ReferenceMotion longer = Motion(std::move(all));
    const double frame_time = longer.frame_time(), duration = (end_step() - step + tail_steps()) * h();
    std::vector<character::Pose> poses(static_cast<size_t>(std::ceil(duration / frame_time - 1e-6)) + 1);
    for (size_t f = 0; f < poses.size(); ++f) longer.PoseAt(step * h() + static_cast<double>(f) * frame_time, poses[f]);
    return StartingFrom(clip_.character, state, std::move(poses), frame_time);
  }

  /// The task of following a motion from a state.
  task::Task TaskOf(const character::ReferenceMotion& motion, const character::State& state,
                    std::vector<int> steps) const {
    task::Task task = clip_.preparation.task;
    task.reference = &motion;
    task.world = control_.world;
    task.start = state;
    task.schedule = {std::move(steps), {}};
    return task;
  }

  /// Whether feedback takes the character on.
  bool Track(Continuation& way) {
    way.followed = TrackFrom(way, state_);
    return judged_.end.verdict == ViableEnd::Verdict::kViable;
  }

  /// For how long feedback follows it [s]; where that is to the end, it is accepted.
  double TrackFrom(const Continuation& way, const character::State& state) {
    if (!CanTrack()) return 0;
    const character::ReferenceMotion motion = Motion(MotionFrom(way, end_step(), state));
    tracking::Options options = configuration_.tracking;
    options.perturbation = 0;
    options.candidates = 0;
    tracking::Summary summary = Follow(motion, options, state, tail_steps());
    const double followed = InsideFor(summary.control, motion);
    if (!summary.reached_end() || followed < tail_steps() * h()) return followed;
    Accept(way, "tracking", std::move(summary.control.fragments), state);
    judged_.end.control.world = summary.control.world;
    return followed;
  }

  bool CanTrack() const { return configuration_.tracking.servo == tracking::Servo::kCharacter; }

  /// @param start none: where the motion begins
  tracking::Summary Follow(const character::ReferenceMotion& motion, const tracking::Options& options,
                           const std::optional<character::State>& start, int steps) const {
    CheckStop();
    const tracking::PreparedReference prepared = tracking::PrepareReference(motion, control_.world, options);
    tracking::Problem problem{TaskOf(motion, start.value_or(control_.start), {0, steps}), &prepared.motion, options};
    problem.task.world.contact_scale.clear();
    problem.start = start;
    problem.flights = prepared.flight.flights;
    tracking::Hooks hooks;
    hooks.stop = stop_;
    tracking::Summary summary = tracking::Run(problem, hooks);
    if (summary.status == tracking::Status::kStopped) throw StoppedError("the end was judged");
    return summary;
  }

  /// The whole motion is tracked anew, with what follows its end. Where that stays within tolerance and leads to an end
  /// that is viable, it takes the place of the control.
  bool TrackAnew(const Continuation& way) {
    const tracking::Options& options = configuration_.tracking;
    if (!CanTrack() || options.candidates > 0) return false;
    std::vector<character::Pose> poses = clip_.reference().poses();
    poses.insert(poses.end(), way.poses.begin(), way.poses.end());
    tracking::Summary summary = Follow(Motion(std::move(poses)), options, std::nullopt, end_step() + tail_steps());
    if (summary.control.num_steps() < end_step()) return false;
    control::OpenLoopControl mended = std::move(summary.control);
    std::erase_if(mended.fragments, [&](const control::Fragment& f) { return f.first_step >= end_step(); });
    control::Fragment& last = mended.fragments.back();
    last.num_steps = end_step() - last.first_step;
    last.commands.resize(static_cast<size_t>(last.num_steps));
    const ReplayedControl replayed = EvaluateReplay(clip_, mended, {});
    if (!replayed.evaluation.success()) return false;
    TrackFrom(way, replayed.end);
    if (judged_.end.verdict != ViableEnd::Verdict::kViable) return false;
    judged_.end.searched_from = 0;
    judged_.mended = std::move(mended);
    judged_.mended_end = replayed.end;
    return true;
  }

  /// For how long a control stays within tolerance of a motion [s].
  double InsideFor(const control::OpenLoopControl& control, const character::ReferenceMotion& motion) const {
    const metrics::Evaluation evaluation = metrics::Evaluate(clip_.character, control::Replay(clip_.character, control),
                                                             motion, tail_steps() * h(), clip_.preparation.task.gates);
    const metrics::Gate* const left = evaluation.FirstViolated();
    if (left != nullptr) return left->first_violation;
    return evaluation.completed ? tail_steps() * h() : evaluation.simulated_duration;
  }

  /// Instants of control from a step on, counted from there: those of the clip, its end, and evenly spaced ones.
  std::vector<int> StepsFrom(int from) const {
    std::vector<int> steps = {0};
    const int least = static_cast<int>(std::lround(kStep / 2 / h())), each = static_cast<int>(std::lround(kStep / h()));
    for (const int step : clip_.preparation.task.schedule.steps) {
      const bool inside = step >= from + least && step <= end_step() - least;
      if ((inside || step == end_step()) && step > from) steps.push_back(step - from);
    }
    const int end = end_step() - from, last = end + tail_steps();
    for (int step = end + each; step <= last - least; step += each) steps.push_back(step);
    if (steps.back() < last) steps.push_back(last);
    return steps;
  }

  /// Whether a search finds a control from a state at a step to what follows the end.
  bool Search(const Continuation& way, int from, const character::State& state, bool mends) {
    CheckStop();
    const character::ReferenceMotion motion = Motion(MotionFrom(way, from, state));
    sampling::Problem problem{TaskOf(motion, state, StepsFrom(from)), configuration_.sampling};
    sampling::Options& options = problem.options;
    options.samples = std::min(options.samples, mends ? kMendingSamples : kSamples);
    options.selection.saved = std::min(options.selection.saved, options.samples / kShareSaved);
    options.selection.saved = std::max(options.selection.saved, 1);
    const double left = allowed_ - judged_.end.simulated_seconds;
    options.budget = std::min(mends ? kMendingBudget : kBudget, left / problem.task.duration());
    if (options.budget < options.samples) return false;
    if (!mends) options.refinement.passes = 0;
    const auto farm = parallel::MakeThreadFarm(threads_, sampling::MakeWorkerFactory(problem));
    sampling::Hooks hooks;
    hooks.stop = stop_;
    hooks.most_samples_kept = 0;
    sampling::Summary summary = sampling::Run(problem, *farm, hooks);
    judged_.end.simulated_seconds += summary.simulated_seconds;
    judged_.end.cpu_seconds += summary.cpu_seconds;
    if (!summary.reached_end()) return false;
    if (mends) return Mend(way, from, std::move(summary));
    Accept(way, "sampling", std::move(summary.control.fragments), state);
    return StillViable(summary.end);
  }

  /// What was found is simulated once more: it must end where the search ended.
  bool StillViable(const character::State& searched) const {
    const control::Trajectory motion = control::Replay(clip_.character, judged_.end.control);
    if (control::Fingerprint(motion.states.back()) == control::Fingerprint(searched)) return true;
    throw std::logic_error("the replay beyond the end does not end in the state that the search found");
  }

  /// The new end instead of the old one, where the motion still stays within tolerance of the clip.
  bool Mend(const Continuation& way, int from, sampling::Summary summary) {
    control::OpenLoopControl mended = control_;
    std::erase_if(mended.fragments, [&](const control::Fragment& f) { return f.first_step >= from; });
    std::vector<control::Fragment> beyond;
    for (control::Fragment& fragment : summary.control.fragments) {
      fragment.first_step += from;
      const bool inside = fragment.first_step < end_step();
      if (!inside) fragment.first_step -= end_step();
      (inside ? mended.fragments : beyond).push_back(std::move(fragment));
    }
    const ReplayedControl replayed = EvaluateReplay(clip_, mended, {});
    if (!replayed.evaluation.success()) return false;
    Accept(way, "sampling", std::move(beyond), replayed.end);
    StillViable(summary.end);
    judged_.end.searched_from = from * h();
    judged_.mended = std::move(mended);
    judged_.mended_end = replayed.end;
    return true;
  }

  /// The last step not after this one at which a fragment of the control begins.
  int RestartBefore(int step) const {
    int restart = 0;
    for (const control::Fragment& fragment : control_.fragments) {
      if (fragment.first_step <= std::max(0, step)) restart = fragment.first_step;
    }
    return restart;
  }

  character::State StateAt(int step) const {
    if (step == 0) return control_.start;
    control::OpenLoopControl before = control_;
    std::erase_if(before.fragments, [&](const control::Fragment& f) { return f.first_step >= step; });
    return EvaluateReplay(clip_, before, {}).end;
  }

  void CheckStop() const {
    if (stop_ && stop_()) throw StoppedError("the end was judged");
  }

  const task::PreparedClip& clip_;
  const EndingMotion& ending_;
  const Configuration& configuration_;
  const control::OpenLoopControl& control_;
  const character::State& state_;
  int threads_;
  const std::function<bool()>& stop_;
  JudgedEnd judged_;
  double allowed_ = 0;  // simulated seconds
  int restart_ = -1;    // that was tried last
};

}  // namespace

std::string Name(ViableEnd::Verdict verdict) {
  switch (verdict) {
    case ViableEnd::Verdict::kViable:
      return "viable";
    case ViableEnd::Verdict::kNotViable:
      return "not viable";
    case ViableEnd::Verdict::kNotApplicable:
      break;
  }
  return "not applicable";
}

io::Json ViableEnd::ToJson() const {
  io::Json json = {{"verdict", Name(verdict)}, {"seconds", seconds}, {"simulated_seconds", simulated_seconds}};
  if (!reason.empty()) json["reason"] = reason;
  if (verdict == Verdict::kViable) json.update({{"continuation", continuation}, {"method", method}});
  if (searched_from) json["searched_from"] = *searched_from;
  return json;
}

std::string ViableEnd::Describe() const {
  std::string text = "the end is " + Name(verdict);
  if (verdict == Verdict::kNotViable && simulated_seconds > 0) {
    return text + ": " + reason + " (/run/recover_end=search searches the last seconds anew)";
  }
  if (verdict != Verdict::kViable) return text + ": " + reason;
  const char* how = continuation == "clip"    ? "with the recording that follows"
                    : continuation == "cycle" ? "with the best cycle of the clip"
                    : continuation == "walk"  ? "with the walk of the toolkit"
                                              : "in the last pose";
  text.append(": on the feet for ").append(io::Fixed(seconds, 1)).append(" s more ").append(how).append(", by ");
  text.append(method);
  if (searched_from) text.append("; found anew from ").append(io::Fixed(*searched_from, 2)).append(" s on");
  return text;
}

JudgedEnd JudgeEnd(const EndingMotion& ending, const Configuration& configuration,
                   const control::OpenLoopControl& control, const character::State& state, int threads,
                   const std::function<bool()>& stop) {
  return EndJudge(ending, configuration, control, state, threads, stop).Run();
}

}  // namespace retrace::runs
