#include "retrace/runs/response.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>

#include "companions.h"
#include "composition_frames.h"
#include "continuation.h"
#include "kinematic_response.h"
#include "response_candidates.h"
#include "retrace/character/kinematics.h"
#include "retrace/control/cutting.h"
#include "retrace/control/feedback.h"
#include "retrace/io/error.h"
#include "retrace/io/number.h"
#include "retrace/math/smooth_step.h"
#include "retrace/metrics/state_distance.h"
#include "retrace/runs/composed_motion.h"
#include "retrace/runs/touching.h"
#include "searched_way.h"
#include "struck_motion.h"
#include "tracked_way.h"

namespace retrace::runs {
namespace {

constexpr size_t kStruck = ResponseJob::kStruck;
constexpr double kNaiveFragment = 0.1;  // [s]
constexpr int kNaiveTargets = 12;       // in each, after its first one
// Before the end of a searched way that stands there, in which feedback may take over, and between two such instants.
constexpr double kHandOverWithin = 0.8, kHandOversApart = 0.15;  // [s]
constexpr double kSearchedAnew =
    2;  // before that end, from where the rest is searched for where nothing else works [s]

class Responder {
 public:
  Responder(const ResponseJob& job, int threads, const ResponseHooks& hooks)
      : job_(job),
        o_(job.options),
        threads_(threads),
        hooks_(hooks),
        character_(job.character()),
        struck_(job),
        companions_(struck_, threads, hooks, result_.others) {}

  Response Run() {
    result_.exit_step = struck_.exit();
    try {
      Begin();
      if (!result_.goes_on || o_.search_anyway) {
        if (job_.has_others()) companions_.LeadBack();
        Answer();
      }
    } catch (const StoppedError&) {
      result_.stopped = true;
      result_.ending = "stopped";
    }
    Evaluate();
    result_.control.pushes = job_.pushes;
    result_.cpu_seconds = result_.timer.CpuSeconds();
    return std::move(result_);
  }

 private:
  double h() const { return struck_.h(); }
  void Tell(const std::string& line) const {
    if (hooks_.on_line) hooks_.on_line(line);
  }

  const character::ReferenceMotion& Own() const { return *job_.run.characters[kStruck].reference; }

  /// The run's own control under the push, for as long as the windows look.
  void Begin() {
    result_.control = job_.control;
    const double window = o_.window.frames * matching::kFrameTime;
    const int steps = std::max(job_.control.num_steps(), struck_.impact() + struck_.StepAfter(o_.latest + window) + 1);
    struck_.Simulate(steps);
    const control::Trajectory& naive = struck_.naive();
    result_.reference = PosesOf(Own(), job_.control.duration());
    std::optional<metrics::Evaluator> evaluator = job_.run.EvaluatorOf(kStruck);
    evaluator->Add(naive);  // what is after the control's end is left out
    const metrics::Evaluation evaluation = evaluator->Finish(job_.control.duration());
    result_.goes_on = evaluation.success();
    const metrics::Gate* const left = evaluation.FirstViolated();
    result_.own_until = left != nullptr ? left->first_violation : evaluation.simulated_duration;
    if (naive.diverged && naive.states.size() <= static_cast<size_t>(struck_.exit()) + 1) {
      throw InputError(job_.blow.what, "a blow under which the simulation diverges", "one that it can take");
    }
    Tell(result_.goes_on ? "the run's own control stays within the gates to its end under the push"
                         : "the run's own control leaves the gates at " + io::Fixed(result_.own_until, 2) + " s");
  }

  void Answer() {
    result_.candidates = FindCandidates(struck_);
    if (result_.candidates.empty()) {
      result_.ending = "no motion of the library can be entered after the push and stands at its end";
      return;
    }
    if (TryInOrder()) return;
    if (job_.has_others()) {
      Response among_others = result_;
      result_.others_left_out = true;
      Tell("no way is found among the others: from " + io::Fixed(struck_.exit_time(), 2) + " s on they are left out");
      if (TryInOrder()) return;
      result_ = std::move(among_others);
    }
    result_.ending = "no way found into " + std::to_string(o_.candidates) + " motions";
  }

  /// The candidates, until one is found.
  bool TryInOrder() {
    for (size_t c = 0; c < result_.candidates.size() && c < static_cast<size_t>(o_.candidates); ++c) {
      if (hooks_.stop && hooks_.stop()) throw StoppedError("stopped");
      Try(c);
      Tell(Describe(job_, result_.candidates[c]));
      if (!result_.candidates[c].found) continue;
      result_.chosen = static_cast<int>(c);
      if (job_.has_others() && !result_.others_left_out) {
        companions_.LeadBackAgain(ReplayAll(), [&] {
          Evaluate();
          return result_.evaluation.success();
        });
      }
      return true;
    }
    return false;
  }

  /// What the search follows, from the exit on: the second simulation, which goes over into the motion.
  std::vector<character::Pose> ReferenceOf(const ResponseCandidate& candidate) const {
    const control::Trajectory second = struck_.SecondSimulation(candidate, 1);
    const double since_exit = job_.blow.start - struck_.exit_time();
    const double enters = candidate.start + since_exit;  // from the exit on [s]
    const auto at = static_cast<size_t>(struck_.impact() + struck_.StepOf(candidate.start) - struck_.exit());
    const character::ReferenceMotion& motion = struck_.MotionOf(candidate);
    character::State state;
    motion.StateAt(candidate.time, state);
    const auto [heading, offset] =
        metrics::AlignOnGround(character_, second.states[std::min(at, second.states.size() - 1)], state);
    const double duration = enters + candidate.end + struck_.StandOf(candidate) - candidate.time;
    std::vector<character::Pose> poses(NumCompositionFrames(duration));
    character::Pose simulated;
    for (size_t f = 0; f < poses.size(); ++f) {
      const double time = static_cast<double>(f) * kCompositionFrame;
      character::Pose& pose = poses[f];
      const double share = SmoothStep(std::clamp((time - enters) / kGoOver, 0.0, 1.0));
      if (share < 1) {
        const auto step = std::min(static_cast<size_t>(struck_.StepOf(time)), second.states.size() - 1);
        character::PoseOf(character_, second.states[step], simulated);
        if (share == 0) {
          pose = simulated;
          continue;
        }
      }
      struck_.PoseOf(candidate, candidate.time + time - enters, pose);
      pose.root_position = heading * pose.root_position + offset;
      pose.root_orientation = heading * pose.root_orientation;
      if (share < 1) {
        const character::Pose placed = pose;
        character::Interpolate(simulated, placed, share, pose);
      }
    }
    return poses;
  }

  void Try(size_t c) {
    ResponseCandidate& candidate = result_.candidates[c];
    candidate.tried = true;
    if (o_.kinematic) {
      BlendInto(struck_, candidate, result_);
      candidate.found = true;
      SetReached(result_.control.duration() - job_.blow.start, candidate);
      return;
    }
    const std::vector<character::Pose> poses = ReferenceOf(candidate);
    if (o_.open_loop) {
      TryOpenLoop(candidate, poses);
    } else {
      TrySearch(candidate, poses);
    }
  }

  /// Since the push, and whether that is as far as the motion stands [s].
  static void SetReached(double reached, ResponseCandidate& candidate) {
    candidate.reached = reached;
    candidate.up = candidate.found || reached >= candidate.start + candidate.end - candidate.time - 1e-6;
  }

  /// A search leads to where the motion stands; from there feedback goes on, which needs a hundredth of the time, and
  /// where that falls another search.
  void TrySearch(ResponseCandidate& candidate, const std::vector<character::Pose>& poses) {
    const double stand = struck_.StandOf(candidate);
    std::vector<character::Pose> followed = poses;
    if (stand > 0) followed.resize(NumCompositionFrames(DurationOf(poses) - stand));
    WayProblem problem = ProblemOf(followed, poses.size());
    problem.share_of_budget = DurationOf(poses) / DurationOf(followed);  // that of all of the motion
    SearchedWay way = SearchWay(problem);
    candidate.found = way.reached_end;
    if (way.reached_end && stand > 0) candidate.found = GoOn(problem, poses, way, followed, candidate);
    candidate.cpu_seconds += way.cpu_seconds;
    SetReached(struck_.exit_time() - job_.blow.start + way.reached, candidate);
    // Of what is not found to the end, what there is is the result where nothing else is found.
    if (!candidate.found && candidate.reached <= best_reached_) return;
    best_reached_ = candidate.reached;
    Append(followed, std::move(way.fragments));
    const control::Trajectory whole = ReplayAll();
    if (control::Fingerprint(whole.states[std::min(whole.states.size() - 1, NumSteps())]) != way.end) {
      throw std::logic_error("the replay does not end in the state that the search found");
    }
    if (!IsAmongOthers()) return;
    const auto touch =
        FirstBlow(whole, job_.run.scene.layout(), kStruck, std::max(struck_.exit_time(), job_.blow.end()));
    candidate.touched_again = touch ? touch->start : -1;
  }

  bool IsAmongOthers() const { return job_.has_others() && !result_.others_left_out; }
  static double DurationOf(const std::vector<character::Pose>& poses) {
    return static_cast<double>(poses.size() - 1) * kCompositionFrame;
  }

  /// The way along poses from the exit on.
  /// @param num_frames for which others are to go on
  WayProblem ProblemOf(const std::vector<character::Pose>& poses, size_t num_frames) const {
    const bool among_others = IsAmongOthers();
    const simulation::WorldOptions& world = among_others ? job_.run.scene.world : job_.control.world;
    const int exit = struck_.exit();
    WayProblem problem{character_, world, among_others ? struck_.WholeState(exit) : struck_.NaiveState(exit),
                       exit,       poses, o_.configuration,
                       1,          1,     threads_,
                       hooks_.stop};
    const int end = exit + static_cast<int>(static_cast<double>(num_frames) * kCompositionFrame / h()) + 1;
    for (size_t c = 0; among_others && c < struck_.others().size(); ++c) {
      if (c == kStruck) continue;
      problem.companions.push_back({&job_.run.scene.characters[c], control::CutAt({end}, struck_.others()[c])});
    }
    return problem;
  }

  /// From one of the last places of a way to the end of the poses; or still in the pose there, or to rest where the
  /// motion is slowest. What is found goes into the way and into what is followed. Where nothing is found to the end,
  /// the way as far as it was found.
  bool GoOn(const WayProblem& problem, const std::vector<character::Pose>& poses, SearchedWay& way,
            std::vector<character::Pose>& followed, ResponseCandidate& candidate) const {
    const control::OpenLoopControl control = ControlWith(way.fragments);
    const control::Trajectory whole = ReplayOf(control, true);
    const int shift = control.num_steps() - way.fragments.back().end_step();  // of steps, where others are left out
    // Along these poses, or none: in the pose at hand.
    const auto from = [&](const std::vector<character::Pose>* onward, int step, bool feedback) {
      if (hooks_.stop && hooks_.stop()) throw StoppedError("stopped");
      const int at = step + shift;
      const character::State& state = whole.states[static_cast<size_t>(at)];
      const double time = (step - problem.first_step) * h();
      const std::vector<character::Pose> rest =
          onward != nullptr ? RestOf(*onward, time, state) : StillFrom(state, DurationOf(poses) - time);
      const WayProblem next{character_,  problem.world,     state, step, rest, o_.configuration, 1, 1, threads_,
                            hooks_.stop, problem.companions};
      SearchedWay on = feedback ? TrackWay(next) : SearchWay(next);
      way.cpu_seconds += on.cpu_seconds;
      const double reached = time + on.reached;
      if (!on.reached_end && (feedback || reached <= way.reached)) return false;
      way.fragments = control::UpTo(step, way.fragments);
      way.fragments.insert(way.fragments.end(), on.fragments.begin(), on.fragments.end());
      way.end = on.end;
      way.reached = reached;
      followed.resize(static_cast<size_t>(std::ceil(time / kCompositionFrame - 1e-9)));
      AppendPoses(character_, rest, time, followed);
      if (feedback) candidate.feedback_from = step * h();
      return on.reached_end;
    };
    std::vector<int> steps;  // from the end on back, at which fragments end
    const int end = way.fragments.back().end_step();
    for (size_t f = way.fragments.size(); f-- > 0;) {
      const int step = way.fragments[f].end_step();
      if (end - step > struck_.StepOf(kHandOverWithin)) break;
      if (steps.empty() || steps.back() - step >= struck_.StepOf(kHandOversApart)) steps.push_back(step);
    }
    ResponseCandidate resting = candidate;
    resting.last = candidate.rest;
    const std::vector<character::Pose> at_rest = ReferenceOf(resting);
    for (const std::vector<character::Pose>* onward :
         {&poses, static_cast<const std::vector<character::Pose>*>(nullptr), &at_rest}) {
      if (onward == &at_rest && candidate.rest >= candidate.last) continue;
      for (const int step : steps) {
        if (from(onward, step, true)) return true;
      }
    }
    if (from(&poses, steps.back(), false)) return true;
    // It may have come to stand so that nobody could go on: once more from before it stood.
    const int before = end - struck_.StepOf(kSearchedAnew);
    int step = steps.back();
    for (const control::Fragment& fragment : way.fragments) {
      if (fragment.end_step() <= before) step = fragment.end_step();
    }
    return step <= before && from(&poses, step, false);
  }

  /// Poses from a time on [s], put where a state is.
  std::vector<character::Pose> RestOf(const std::vector<character::Pose>& poses, double time,
                                      const character::State& state) const {
    const character::ReferenceMotion motion(character_, kCompositionFrame, poses, kCompositionFrame);
    std::vector<character::Pose> rest(NumCompositionFrames(motion.duration() - time));
    for (size_t f = 0; f < rest.size(); ++f) motion.PoseAt(time + static_cast<double>(f) * kCompositionFrame, rest[f]);
    const character::State own(state.begin(), state.begin() + std::ssize(character_.bodies));
    return StartingFrom(character_, own, std::move(rest), kCompositionFrame);
  }

  /// The pose of a state, whose root comes to rest.
  std::vector<character::Pose> StillFrom(const character::State& state, double duration) const {
    std::vector<character::Pose> poses(NumCompositionFrames(duration));
    Vec3 velocity = state[static_cast<size_t>(character_.root)].linear_velocity;
    velocity.y() = 0;
    for (size_t f = 0; f < poses.size(); ++f) {
      character::PoseOf(character_, state, poses[f]);
      poses[f].root_position += WayToRest(velocity, static_cast<double>(f) * kCompositionFrame);
    }
    return poses;
  }

  size_t NumSteps() const { return static_cast<size_t>(result_.control.num_steps()); }

  /// The control so far, in the world that it was made for.
  control::Trajectory ReplayAll() const { return ReplayOf(result_.control, searched_); }
  control::Trajectory ReplayOf(const control::OpenLoopControl& control, bool searched) const {
    if (result_.others_left_out) return control::Replay(character_, control);
    return control::Replay(struck_.SceneOf(control, searched), job_.pushes);
  }

  /// The gates alone judge it.
  void TryOpenLoop(ResponseCandidate& candidate, const std::vector<character::Pose>& poses) {
    const Response before = result_;
    Append(poses, Naive(poses));
    Evaluate();
    const metrics::Evaluation& evaluation = result_.evaluation;
    const metrics::Gate* const left = evaluation.FirstViolated();
    candidate.found = evaluation.success();
    SetReached((left != nullptr ? left->first_violation : evaluation.simulated_duration) - job_.blow.start, candidate);
    if (candidate.found || candidate.reached > best_reached_) {
      best_reached_ = candidate.reached;
      return;
    }
    result_.control = before.control;
    result_.reference = before.reference;
  }

  /// The poses themselves as targets, in fragments of a tenth of a second.
  std::vector<control::Fragment> Naive(const std::vector<character::Pose>& poses) const {
    const character::ReferenceMotion motion(character_, kCompositionFrame, poses, kCompositionFrame);
    const int end = struck_.exit() + struck_.StepOf(motion.duration());
    std::vector<control::Fragment> fragments;
    character::Pose pose;
    for (int first = struck_.exit(); first < end; first += struck_.StepOf(kNaiveFragment)) {
      control::Fragment& fragment = fragments.emplace_back();
      fragment.first_step = first;
      fragment.num_steps = std::min(struck_.StepOf(kNaiveFragment), end - first);
      for (int t = 0; t <= kNaiveTargets; ++t) {
        motion.PoseAt((first - struck_.exit() + static_cast<double>(fragment.num_steps * t) / kNaiveTargets) * h(),
                      pose);
        fragment.targets.push_back(pose.joint_rotations);
      }
    }
    return fragments;
  }

  /// The run's control up to the exit, and fragments that go on from there.
  control::OpenLoopControl ControlWith(std::vector<control::Fragment> fragments) const {
    control::OpenLoopControl control = result_.control;
    if (result_.others_left_out) {
      // The state that the blow left is the beginning.
      for (control::Fragment& fragment : fragments) fragment.first_step -= struck_.exit();
      control.start = struck_.NaiveState(struck_.exit());
      control.fragments = std::move(fragments);
      return control;
    }
    control.fragments = control::UpTo(struck_.exit(), job_.control.fragments);
    std::move(fragments.begin(), fragments.end(), std::back_inserter(control.fragments));
    return control;
  }

  /// Fragments from the exit on, and the poses that they follow, become the result.
  void Append(const std::vector<character::Pose>& poses, std::vector<control::Fragment> fragments) {
    result_.control = ControlWith(std::move(fragments));
    searched_ = !o_.open_loop;
    if (result_.others_left_out) {
      result_.reference = poses;
      return;
    }
    // Up to the push the reference is the run's; then the motion itself; from the exit on what the search follows.
    result_.reference = PosesOf(Own(), job_.blow.start);
    AppendStates(character_, std::span(struck_.naive().states).first(static_cast<size_t>(struck_.exit())), h(),
                 result_.reference);
    AppendPoses(character_, poses, struck_.exit_time(), result_.reference);
  }

  void Evaluate() {
    const control::Trajectory whole = ReplayAll();
    if (!job_.has_others() || result_.others_left_out) {
      const character::ReferenceMotion reference(character_, kCompositionFrame, result_.reference, kCompositionFrame);
      result_.evaluation =
          metrics::Evaluate(character_, whole, reference, reference.duration(), o_.configuration.task.gates);
      return;
    }
    result_.scene = struck_.SceneOf(result_.control, searched_);
    const auto evaluate = [&](size_t c, const std::vector<character::Pose>& poses) {
      const std::vector<control::Fragment>& fragments = result_.scene->fragments[c];
      const auto steps = static_cast<size_t>(fragments.empty() ? 0 : fragments.back().end_step());
      const character::ReferenceMotion reference(job_.run.scene.characters[c], kCompositionFrame, poses,
                                                 kCompositionFrame);
      metrics::Evaluator evaluator(job_.run.scene.characters[c], reference, o_.configuration.task.gates, steps);
      evaluator.Add(struck_.OneOf(whole, c));
      return evaluator.Finish(std::max(static_cast<double>(steps) * h(), reference.duration() - h()));
    };
    result_.evaluation = evaluate(kStruck, result_.reference);
    if (result_.others.empty()) companions_.ListAll();
    for (Companion& other : result_.others) other.evaluation = evaluate(other.character, other.reference);
  }

  const ResponseJob& job_;
  const ResponseOptions& o_;
  int threads_;
  const ResponseHooks& hooks_;
  const character::Character& character_;
  StruckMotion struck_;
  Response result_;
  Companions companions_;
  double best_reached_ = 0;
  bool searched_ = false;  // the control goes on from the exit by what was found
};

}  // namespace

Configuration ResponseConfiguration() {
  return CompositionConfiguration();
}

void UseRuleOfPaper(ResponseOptions& options) {
  options.paper = options.kinematic = true;
  options.blend = Blend::kLinear;
  options.delay = 0.1;
  options.earliest = 0.1;
  options.window.velocity_time = 0;
}

std::string Name(Blend blend) {
  return blend == Blend::kLinear ? "linear" : "matched";
}

Response Respond(const ResponseJob& job, int threads, const ResponseHooks& hooks) {
  return Responder(job, threads, hooks).Run();
}

}  // namespace retrace::runs
