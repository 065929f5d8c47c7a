#include "retrace/runs/response.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>
#include <utility>

#include "blended_way.h"
#include "retrace/character/kinematics.h"
#include "retrace/control/feedback.h"
#include "retrace/io/error.h"
#include "retrace/io/number.h"
#include "retrace/math/random.h"
#include "retrace/math/smooth_step.h"
#include "retrace/metrics/state_distance.h"
#include "retrace/runs/composition.h"
#include "retrace/runs/pushes.h"
#include "retrace/runs/world_input.h"
#include "searched_way.h"

namespace retrace::runs {
namespace {

constexpr size_t kStartsApart = 3;    // frames between start times for which a second simulation is made
constexpr size_t kMostOfMotions = 6;  // nearest motions whose best place is a candidate, too
constexpr size_t kSamePlace = 5;      // frames: two candidates of one motion that go on alike count once
constexpr double kTimesApart = 0.15;  // of start times that are tried one after the other [s]
constexpr double kNearOwn = 0.2;      // of the run's own motion, where it is tried first [m]
constexpr double kTouch = 0.05;       // between two touches of one blow [s]
constexpr double kGoOver = 0.3;       // after T, in which the reference becomes the motion [s]
constexpr double kUpright =
    0.87;  // of the height of the root at rest: well above kStandingRoot, as the search misses some of it
constexpr double kStandingTime = 0.5;   // that the motion stands, before it may end [s]
constexpr double kLongestMotion = 10;   // that is used [s]
constexpr double kRest = 0.3;           // in which the root comes to rest where a motion is over [s]
constexpr double kNaiveFragment = 0.1;  // [s]
constexpr int kNaiveTargets = 12;       // in each, after its first one
constexpr double kLimp = 0.01;          // of the servos' strength, for comparison

/// Servos that go over from one motion to another. Targets are taken ahead of the time by kd / kp of each joint,
/// because damping holds servos back by so much.
class TwoMotions final : public control::Controller {
 public:
  /// Of the first motion and of the second one, their times are those of the world plus an offset [s].
  struct Course {
    const character::ReferenceMotion& motion;
    double offset = 0;
  };
  /// @param from,to when it goes over [s]
  TwoMotions(const character::Character& character, Course first, Course second, double from, double to, double gain)
      : character_(character), first_(first), second_(second), from_(from), to_(to), gain_(gain) {}

  void Command(const control::Instant& now, std::span<simulation::JointCommand> commands) override {
    const double share = SmoothStep(std::clamp((now.time - from_) / std::max(1e-6, to_ - from_), 0.0, 1.0));
    double ahead_of = -1;
    for (size_t j = 0; j < commands.size(); ++j) {
      const character::Joint& joint = character_.joints[j];
      const double ahead = joint.kp > 0 ? joint.kd / joint.kp : 0;
      if (ahead != ahead_of) {
        At(first_, now.time + ahead, first_pose_);
        At(second_, now.time + ahead, second_pose_);
        ahead_of = ahead;
      }
      commands[j] = {};
      commands[j].target = first_pose_.joint_rotations[j].slerp(share, second_pose_.joint_rotations[j]);
      commands[j].gain = gain_;
    }
  }
  bool UsesState() const override { return false; }

 private:
  static void At(const Course& course, double time, character::Pose& pose) {
    course.motion.PoseAt(std::max(0.0, time + course.offset), pose);
  }

  const character::Character& character_;
  Course first_, second_;
  double from_, to_, gain_;
  character::Pose first_pose_, second_pose_;
};

class Responder {
 public:
  Responder(const ResponseJob& job, int threads, const ResponseHooks& hooks)
      : job_(job),
        o_(job.options),
        threads_(threads),
        hooks_(hooks),
        character_(job.character()),
        own_(*job.run.characters[0].reference),
        impact_(StepOf(job.blow.start)),
        exit_(std::min(StepAfter(job.blow.start + std::max(o_.delay, job.blow.duration)), job.control.num_steps())) {}

  Response Run() {
    result_.exit_step = exit_;
    try {
      Begin();
      if (!result_.goes_on || o_.search_anyway) Answer();
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
  double h() const { return job_.control.world.time_step; }
  int StepOf(double time) const { return static_cast<int>(std::lround(time / h())); }
  int StepAfter(double time) const { return static_cast<int>(std::ceil(time / h() - 1e-9)); }
  void Tell(const std::string& line) const {
    if (hooks_.on_line) hooks_.on_line(line);
  }

  control::Trajectory SimulateOn(const character::State& start, control::Controller& controller, int first,
                                 int steps) const {
    control::Controller* const pointer = &controller;
    const character::Character* const character = &character_;
    return control::Simulate({&character, 1}, job_.control.world, start, {&pointer, 1}, first, steps, job_.pushes);
  }

  /// The run's own control under the push, for as long as the windows look.
  void Begin() {
    result_.control = job_.control;
    const double window = o_.window.frames * matching::kFrameTime;
    const int steps = std::max(job_.control.num_steps(), impact_ + StepAfter(o_.latest + window) + 1);
    control::OpenLoop open_loop(job_.control.fragments);
    naive_ = SimulateOn(job_.control.start, open_loop, 0, steps);
    FillOwnReference(job_.control.duration());
    std::optional<metrics::Evaluator> evaluator = job_.run.EvaluatorOf(0);
    evaluator->Add(naive_);  // what is after the control's end is left out
    const metrics::Evaluation evaluation = evaluator->Finish(job_.control.duration());
    result_.goes_on = evaluation.success();
    const metrics::Gate* const left = evaluation.FirstViolated();
    result_.own_until = left != nullptr ? left->first_violation : evaluation.simulated_duration;
    if (naive_.diverged && naive_.states.size() <= static_cast<size_t>(exit_) + 1) {
      throw InputError(job_.blow.what, "a blow under which the simulation diverges", "one that it can take");
    }
    if (o_.kinematic) FindOwnMotion();
    Tell(result_.goes_on ? "the run's own control stays within the gates to its end under the push"
                         : "the run's own control leaves the gates at " + io::Fixed(result_.own_until, 2) + " s");
  }

  /// The run's motion without the blow.
  void FindOwnMotion() {
    control::OpenLoopControl control = job_.control;
    control.pushes = job_.run.AllPushes();
    const control::Trajectory motion = control::Replay(character_, control);
    std::vector<character::Pose> poses;
    for (;;) {
      const auto step = static_cast<size_t>(StepOf(static_cast<double>(poses.size()) * kCompositionFrame));
      if (step >= motion.states.size()) break;
      character::PoseOf(character_, motion.states[step], poses.emplace_back());
    }
    own_motion_.emplace(character_, kCompositionFrame, std::move(poses),
                        o_.configuration.task.reference.velocity_interval);
  }

  void FillOwnReference(double duration) {
    const auto frames = static_cast<size_t>(std::floor(duration / kCompositionFrame + 1e-9)) + 1;
    for (size_t f = 0; f < frames; ++f) {
      own_.PoseAt(static_cast<double>(f) * kCompositionFrame, result_.reference.emplace_back());
    }
  }

  const character::State& NaiveState(int step) const {
    return naive_.states[std::min(static_cast<size_t>(step), naive_.states.size() - 1)];
  }

  void Answer() {
    FindCandidates();
    if (result_.candidates.empty()) {
      result_.ending = "no motion of the library can be entered after the push and stands at its end";
      return;
    }
    int tried = 0;
    for (size_t c = 0; c < result_.candidates.size() && tried < o_.candidates; ++c) {
      if (hooks_.stop && hooks_.stop()) throw StoppedError("stopped");
      ++tried;
      Try(c);
      Tell(Describe(job_, result_.candidates[c]));
      if (!result_.candidates[c].found) continue;
      result_.chosen = static_cast<int>(c);
      return;
    }
    result_.ending = "no way found into " + std::to_string(tried) + " motions";
  }

  // ---- the places of the library

  void FindCandidates() {
    std::vector<matching::Frame> query;
    const auto last = static_cast<size_t>(std::floor(o_.latest / matching::kFrameTime + 1e-9));
    for (size_t f = 0; f < last + static_cast<size_t>(o_.window.frames); ++f) {
      const character::State& state = NaiveState(impact_ + StepOf(static_cast<double>(f) * matching::kFrameTime));
      query.push_back(matching::FrameOf(character_, state, character::CenterOfMassVelocity(character_, state)));
    }
    const double earliest = std::max(o_.earliest, (exit_ - impact_) * h());
    std::vector<size_t> starts;
    for (auto f = static_cast<size_t>(std::ceil(earliest / matching::kFrameTime - 1e-9)); f <= last; ++f) {
      starts.push_back(f);
    }
    const matching::MotionLibrary& library = job_.library.motions();
    if (!o_.paper) AddOwn(static_cast<double>(starts.front()) * matching::kFrameTime);
    std::vector<matching::Match> matches;
    if (o_.any_motion) {
      matches = AnyPlaces(starts);
    } else {
      const matching::WindowSearch search(library, query, starts, o_.window);
      const std::vector<std::optional<matching::Match>> nearest = search.Nearest();
      for (size_t s = 0; s < nearest.size(); s += o_.paper ? 1 : kStartsApart) {
        if (nearest[s]) matches.push_back(*nearest[s]);
      }
      std::vector<matching::Match> of_motions;
      for (const auto& match : search.NearestOfEachMotion()) {
        if (match) of_motions.push_back(*match);
      }
      std::stable_sort(of_motions.begin(), of_motions.end(),
                       [](const auto& a, const auto& b) { return a.distance < b.distance; });
      if (of_motions.size() > kMostOfMotions) of_motions.resize(o_.paper ? 0 : kMostOfMotions);
      matches.insert(matches.end(), of_motions.begin(), of_motions.end());
    }
    for (const matching::Match& match : matches) AddCandidate(match);
    std::stable_sort(result_.candidates.begin(), result_.candidates.end(),
                     [](const auto& a, const auto& b) { return a.own > b.own || (a.own == b.own && a.gap < b.gap); });
    if (o_.paper) {
      std::stable_sort(result_.candidates.begin(), result_.candidates.end(),
                       [](const auto& a, const auto& b) { return a.distance < b.distance; });
    }
    // Of those that go on in one motion from nearly the same place, the nearest.
    std::vector<ResponseCandidate> kept;
    for (const ResponseCandidate& candidate : result_.candidates) {
      const bool known = std::any_of(kept.begin(), kept.end(), [&](const ResponseCandidate& other) {
        return other.own == candidate.own && other.motion == candidate.motion &&
               std::abs((other.time - other.start) - (candidate.time - candidate.start)) <
                   static_cast<double>(kSamePlace) * matching::kFrameTime;
      });
      if (!known) kept.push_back(candidate);
    }
    result_.candidates = o_.paper ? std::move(kept) : OrderOf(std::move(kept));
  }

  /// The nearest first, then the nearest that are entered at other times: what fails at one instant, while the body is
  /// not yet where the motion is, may be found later.
  static std::vector<ResponseCandidate> OrderOf(std::vector<ResponseCandidate> by_gap) {
    std::vector<ResponseCandidate> ordered;
    while (!by_gap.empty()) {
      std::vector<double> starts;
      for (auto it = by_gap.begin(); it != by_gap.end();) {
        const bool near = std::any_of(starts.begin(), starts.end(),
                                      [&](double start) { return std::abs(start - it->start) < kTimesApart; });
        if (near) {
          ++it;
          continue;
        }
        starts.push_back(it->start);
        ordered.push_back(*it);
        it = by_gap.erase(it);
      }
    }
    return ordered;
  }

  std::vector<matching::Match> AnyPlaces(const std::vector<size_t>& starts) const {
    RandomStream random(o_.configuration.sampling.seed, RandomStage::kResponse, 0, 0);
    const matching::MotionLibrary& library = job_.library.motions();
    std::vector<matching::Match> matches;
    for (size_t s = 0; s < starts.size(); s += kStartsApart) {
      const auto frame = static_cast<size_t>(random.Uniform() * static_cast<double>(library.frames().size()));
      const size_t motion = library.MotionOf(frame);
      matches.push_back({starts[s], motion, frame - library.motions()[motion].first, 0});
    }
    return matches;
  }

  const character::ReferenceMotion& MotionOf(const ResponseCandidate& candidate) const {
    if (candidate.own) return own_motion_ ? *own_motion_ : own_;
    return job_.library.motions().motions()[candidate.motion].reference;
  }

  /// A match becomes a candidate where its motion goes on long enough and then stands.
  void AddCandidate(const matching::Match& match) {
    ResponseCandidate candidate;
    candidate.motion = match.motion;
    candidate.time = static_cast<double>(match.frame) * matching::kFrameTime;
    candidate.start = static_cast<double>(match.start) * matching::kFrameTime;
    candidate.distance = match.distance;
    if (!FindEnd(candidate)) return;
    if (Measure(candidate)) result_.candidates.push_back(candidate);
  }

  /// The run's own motion is tried first where the push has not led far from it.
  void AddOwn(double start) {
    ResponseCandidate candidate;
    candidate.own = true;
    candidate.start = start;
    candidate.time = job_.blow.start + start;
    candidate.end = candidate.last = MotionOf(candidate).duration();
    if (o_.any_motion || candidate.end < candidate.time + kGoOver || !Measure(candidate)) return;
    if (candidate.gap < kNearOwn) result_.candidates.push_back(candidate);
  }

  /// Whether the run's own control goes on up to the start time: for its own motion to be blended in, no servos need to
  /// lead there.
  bool GoesOnUntil(const ResponseCandidate& candidate) const { return o_.kinematic && candidate.own; }

  /// By simulations up to the start time; false where these diverge.
  bool Measure(ResponseCandidate& candidate) const {
    const auto at = static_cast<size_t>(StepOf(candidate.start) - (exit_ - impact_));
    const control::Trajectory second = GoesOnUntil(candidate) ? OwnFromExit() : SecondSimulation(candidate, 1);
    if (second.diverged || second.states.size() <= at) return false;
    character::State motion;
    MotionOf(candidate).StateAt(candidate.time, motion);
    const character::State& state = second.states[at];
    candidate.gap = metrics::StateDistance(character_, state, motion);
    const auto [heading, offset] = metrics::AlignOnGround(character_, state, motion);
    const Vec3 change = heading * character::CenterOfMassVelocity(character_, motion) -
                        character::CenterOfMassVelocity(character_, state);
    candidate.hidden_impulse = character_.total_mass() * change.norm();
    const control::Trajectory limp = SecondSimulation(candidate, kLimp);
    if (!limp.diverged && limp.states.size() > at) {
      candidate.limp_gap = metrics::StateDistance(character_, limp.states[at], motion);
    }
    return true;
  }

  /// When the motion has stood for a while, late enough, and until when it goes on so; false where it does not.
  bool FindEnd(ResponseCandidate& candidate) const {
    const character::ReferenceMotion& motion = MotionOf(candidate);
    if (o_.paper) {
      candidate.end = candidate.last = std::min(motion.duration(), candidate.time + kLongestMotion);
      return candidate.end >= candidate.time + kGoOver;
    }
    const auto root = static_cast<size_t>(character_.root);
    const double low = kUpright * character_.bodies[root].rest_position.y();
    const double least = candidate.time + std::max(o_.seconds - candidate.start, kGoOver + kStandingTime);
    const double most = std::min(motion.duration(), candidate.time + kLongestMotion);
    double stood = 0;
    character::Pose pose;
    for (double time = candidate.time; time <= most + 1e-9; time += matching::kFrameTime) {
      motion.PoseAt(time, pose);
      stood = pose.root_position.y() >= low ? stood + matching::kFrameTime : 0;
      if (time < least - 1e-9 || stood < kStandingTime) continue;
      candidate.end = candidate.last = time;
      while (candidate.last + matching::kFrameTime <= std::min(motion.duration(), candidate.end + o_.stand)) {
        motion.PoseAt(candidate.last + matching::kFrameTime, pose);
        if (pose.root_position.y() < low) break;
        candidate.last += matching::kFrameTime;
      }
      return true;
    }
    return false;
  }

  /// The first simulation from there on, as far as it is sane.
  control::Trajectory OwnFromExit() const {
    control::Trajectory own;
    own.time_step = h();
    own.states.assign(naive_.states.begin() + std::min<std::ptrdiff_t>(exit_, std::ssize(naive_.states)),
                      naive_.states.end());
    return own;
  }

  TwoMotions ServosOf(const ResponseCandidate& candidate, double gain) const {
    const double enters = job_.blow.start + candidate.start;
    return TwoMotions(character_, {own_, 0}, {MotionOf(candidate), candidate.time - enters}, exit_ * h(), enters, gain);
  }

  /// From where the run's control ends to past T: servos go over from the run's motion to that of the library.
  control::Trajectory SecondSimulation(const ResponseCandidate& candidate, double gain) const {
    TwoMotions servos = ServosOf(candidate, gain);
    return SimulateOn(NaiveState(exit_), servos, exit_, impact_ + StepOf(candidate.start + kGoOver) - exit_ + 1);
  }

  // ---- the way there

  /// For how long it is to stand or walk after the end of the motion [s]: the run's own one is over where it ends.
  double StandOf(const ResponseCandidate& candidate) const { return candidate.own || o_.paper ? 0 : o_.stand; }

  /// The motion, which comes to rest after its last instant.
  void PoseOf(const ResponseCandidate& candidate, double time, character::Pose& pose) const {
    const character::ReferenceMotion& motion = MotionOf(candidate);
    motion.PoseAt(std::min(time, candidate.last), pose);
    if (time <= candidate.last) return;
    character::Pose before;
    motion.PoseAt(candidate.last - matching::kFrameTime, before);
    Vec3 velocity = (pose.root_position - before.root_position) / matching::kFrameTime;
    velocity.y() = 0;
    pose.root_position += kRest * (1 - std::exp((candidate.last - time) / kRest)) * velocity;
  }

  /// What the search follows, from the exit on: the second simulation, which goes over into the motion.
  std::vector<character::Pose> ReferenceOf(const ResponseCandidate& candidate) const {
    const control::Trajectory second = SecondSimulation(candidate, 1);
    const double since_exit = job_.blow.start - exit_ * h();
    const double enters = candidate.start + since_exit;  // from the exit on [s]
    const auto at = static_cast<size_t>(impact_ + StepOf(candidate.start) - exit_);
    const character::ReferenceMotion& motion = MotionOf(candidate);
    character::State state;
    motion.StateAt(candidate.time, state);
    const auto [heading, offset] =
        metrics::AlignOnGround(character_, second.states[std::min(at, second.states.size() - 1)], state);
    const double duration = enters + candidate.end + StandOf(candidate) - candidate.time;
    std::vector<character::Pose> poses(static_cast<size_t>(std::floor(duration / kCompositionFrame + 1e-9)) + 1);
    character::Pose simulated;
    for (size_t f = 0; f < poses.size(); ++f) {
      const double time = static_cast<double>(f) * kCompositionFrame;
      character::Pose& pose = poses[f];
      const double share = SmoothStep(std::clamp((time - enters) / kGoOver, 0.0, 1.0));
      if (share < 1) {
        const auto step = std::min(static_cast<size_t>(StepOf(time)), second.states.size() - 1);
        character::PoseOf(character_, second.states[step], simulated);
        if (share == 0) {
          pose = simulated;
          continue;
        }
      }
      PoseOf(candidate, candidate.time + time - enters, pose);
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
    if (o_.kinematic) return BlendInto(candidate);
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

  void TrySearch(ResponseCandidate& candidate, const std::vector<character::Pose>& poses) {
    SearchedWay way = SearchWay({character_, job_.control.world, NaiveState(exit_), exit_, poses, o_.configuration, 1,
                                 1, threads_, hooks_.stop});
    candidate.cpu_seconds = way.cpu_seconds;
    candidate.found = way.reached_end;
    SetReached(exit_ * h() - job_.blow.start + way.reached, candidate);
    // Of what is not found to the end, what there is is the result where nothing else is found.
    if (!candidate.found && candidate.reached <= best_reached_) return;
    best_reached_ = candidate.reached;
    Append(poses, std::move(way.fragments));
    if (control::Fingerprint(control::Replay(character_, result_.control, job_.pushes).states.back()) != way.end) {
      throw std::logic_error("the replay does not end in the state that the search found");
    }
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

  // ---- the kinematic transition

  /// The run's control, the servos of the second simulation up to T, and the motion, blended in.
  void BlendInto(ResponseCandidate& candidate) {
    const int enters = impact_ + StepOf(candidate.start);
    std::vector<control::Fragment>& all = result_.control.fragments;
    const bool goes_on = GoesOnUntil(candidate);
    KeepOwnUpTo(goes_on ? enters : exit_);
    if (!goes_on && enters > exit_) all.push_back(CommandsOf(candidate, enters));
    const control::Trajectory second = goes_on ? OwnFromExit() : SecondSimulation(candidate, 1);
    std::vector<character::State> simulated(naive_.states.begin(), naive_.states.begin() + exit_ + 1);
    simulated.insert(simulated.end(), second.states.begin() + 1, second.states.end());
    character::State entered;
    MotionOf(candidate).StateAt(candidate.time, entered);
    const auto [heading, offset] = metrics::AlignOnGround(
        character_, o_.paper ? NaiveState(enters) : simulated[static_cast<size_t>(enters)], entered);
    const BlendProblem problem = {character_,
                                  h(),
                                  o_.blend,
                                  impact_,
                                  enters,
                                  std::span(simulated).first(static_cast<size_t>(enters) + 1),
                                  [&, turn = heading, move = offset](double time, character::Pose& pose) {
                                    PoseOf(candidate, candidate.time + time, pose);
                                    pose.root_position = turn * pose.root_position + move;
                                    pose.root_orientation = turn * pose.root_orientation;
                                  },
                                  candidate.end + StandOf(candidate) - candidate.time};
    result_.control.ending = BlendIn(problem);
    const control::Trajectory shown = control::Replay(character_, result_.control, job_.pushes);
    result_.blend = MeasureBlend(problem, *result_.control.ending, shown.states, simulated);
    result_.blend->hidden_impulse = candidate.hidden_impulse;
    result_.blend->hidden_share = job_.blow.impulse > 0 ? candidate.hidden_impulse / job_.blow.impulse : 0;
    result_.reference.clear();
    FillOwnReference(job_.blow.start);
    for (;;) {
      const auto step = static_cast<size_t>(StepOf(static_cast<double>(result_.reference.size()) * kCompositionFrame));
      if (step >= shown.states.size()) break;
      character::PoseOf(character_, shown.states[step], result_.reference.emplace_back());
    }
    candidate.found = true;
    SetReached(result_.control.duration() - job_.blow.start, candidate);
  }

  /// What the servos of the second simulation do from the exit on.
  control::Fragment CommandsOf(const ResponseCandidate& candidate, int end) const {
    TwoMotions servos = ServosOf(candidate, 1);
    const simulation::Layout layout = job_.run.scene.layout();
    const character::State unused;
    control::Fragment fragment{exit_, end - exit_, {}};
    for (int step = exit_; step < end; ++step) {
      servos.Command({step, step * h(), unused, layout, 0}, fragment.commands.emplace_back(character_.joints.size()));
    }
    return fragment;
  }

  /// The poses themselves as targets, in fragments of a tenth of a second.
  std::vector<control::Fragment> Naive(const std::vector<character::Pose>& poses) const {
    const character::ReferenceMotion motion(character_, kCompositionFrame, poses, kCompositionFrame);
    const int end = exit_ + StepOf(motion.duration());
    std::vector<control::Fragment> fragments;
    character::Pose pose;
    for (int first = exit_; first < end; first += StepOf(kNaiveFragment)) {
      control::Fragment& fragment = fragments.emplace_back();
      fragment.first_step = first;
      fragment.num_steps = std::min(StepOf(kNaiveFragment), end - first);
      for (int t = 0; t <= kNaiveTargets; ++t) {
        motion.PoseAt((first - exit_ + static_cast<double>(fragment.num_steps * t) / kNaiveTargets) * h(), pose);
        fragment.targets.push_back(pose.joint_rotations);
      }
    }
    return fragments;
  }

  void Append(const std::vector<character::Pose>& poses, std::vector<control::Fragment> fragments) {
    KeepOwnUpTo(exit_);
    std::vector<control::Fragment>& all = result_.control.fragments;
    all.insert(all.end(), std::make_move_iterator(fragments.begin()), std::make_move_iterator(fragments.end()));
    // Up to the push the reference is the run's; then the motion itself; from the exit on what the search follows.
    result_.reference.clear();
    FillOwnReference(job_.blow.start);
    const double exit = exit_ * h();
    const character::ReferenceMotion followed(character_, kCompositionFrame, poses, kCompositionFrame);
    for (;;) {
      const double time = static_cast<double>(result_.reference.size()) * kCompositionFrame;
      if (time > exit + followed.duration() + 1e-9) break;
      character::Pose& pose = result_.reference.emplace_back();
      if (time < exit) {
        character::PoseOf(character_, NaiveState(StepOf(time)), pose);
      } else {
        followed.PoseAt(time - exit, pose);
      }
    }
  }

  void KeepOwnUpTo(int exit) {
    std::vector<control::Fragment>& all = result_.control.fragments;
    all.clear();
    for (const control::Fragment& fragment : job_.control.fragments) {
      if (fragment.first_step >= exit) break;
      all.push_back(fragment.end_step() <= exit ? fragment : Beginning(fragment, exit));
    }
  }

  /// A fragment up to a step, as the commands of its steps.
  control::Fragment Beginning(const control::Fragment& whole, int end) const {
    control::Fragment fragment;
    fragment.first_step = whole.first_step;
    fragment.num_steps = end - whole.first_step;
    for (int step = 0; step < fragment.num_steps; ++step) {
      std::vector<simulation::JointCommand>& commands = fragment.commands.emplace_back(character_.joints.size());
      control::CommandsAt(whole, step, commands);
    }
    return fragment;
  }

  void Evaluate() {
    const character::ReferenceMotion reference(character_, kCompositionFrame, result_.reference, kCompositionFrame);
    result_.evaluation = metrics::Evaluate(character_, control::Replay(character_, result_.control, job_.pushes),
                                           reference, reference.duration(), o_.configuration.task.gates);
  }

  const ResponseJob& job_;
  const ResponseOptions& o_;
  int threads_;
  const ResponseHooks& hooks_;
  const character::Character& character_;
  const character::ReferenceMotion& own_;
  int impact_, exit_;  // steps
  Response result_;
  control::Trajectory naive_;
  /// As it is simulated without the blow, where the transition is kinematic: what is then gone back to.
  std::optional<character::ReferenceMotion> own_motion_;
  double best_reached_ = 0;
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

ResponseJob::ResponseJob(const ResponseOptions& o) : options(o), run(o.run), library(o.library, o.mirrored) {
  run.RequireOneCharacter("a response is that of one");
  run.RequirePhysical("a response is simulated");
  const std::string file = run.controls[0].file.string();
  if (!run.characters[0].reference) throw InputError(file, "no reference beside it", "reference.bvh, as runs keep it");
  if (run.scene.first_step() != 0) throw InputError(file, "a control that begins later", "one from step 0 on");
  if (control::CharacterSha256(character()) != control::CharacterSha256(library.character())) {
    throw InputError(o.library.string(), "motions of the character " + library.character().name,
                     "motions of that of " + file + ", " + character().name);
  }
  if (o.push.empty() == o.worlds.empty()) {
    throw UsageError("what strikes is a push or a thing of a world: found " +
                     std::string(o.push.empty() ? "neither --push nor --world" : "--push and --world") +
                     ", expected one");
  }
  if (!o.worlds.empty()) run.PutInto(ReadWorlds(o.worlds));
  simulation::Environment fixed = run.scene.world.environment;
  fixed.bodies.clear();
  if (!fixed.empty()) {
    throw InputError(o.worlds.empty() ? file : io::List(o.worlds), "another ground or fixed things",
                     "plain ground, with free bodies at most: recorded motions know of nothing else");
  }
  if (o.kinematic && o.open_loop) {
    throw UsageError("found a kinematic transition and an open loop, expected one of the two");
  }
  if (o.kinematic && run.scene.layout().num_free_bodies() > 0) {
    throw InputError(o.worlds.empty() ? file : io::List(o.worlds), "bodies that move freely",
                     "none: after a kinematic transition nothing is simulated");
  }
  control = control::ControlOf(run.scene, 0);
  control.pushes.clear();  // they are among these
  pushes = run.AllPushes();
  if (o.push.empty()) {
    FindTouch();
  } else {
    const control::Push push = ParsePush(o.push, run.scene);
    pushes.push_back(push);
    blow = {push.start, push.duration, Describe(run.scene, push), push.force.norm() * push.duration};
  }
  for (const control::Push& earlier : run.AllPushes()) {
    if (earlier.end() > blow.start) {
      throw UsageError("--push: found the start " + io::Fixed(blow.start, 2) +
                       " s, expected one after the run's own push " + Describe(run.scene, earlier));
    }
  }
  if (o.latest < std::max({o.earliest, o.delay, blow.duration})) {
    throw UsageError("--latest: found " + io::Fixed(o.latest, 2) +
                     " s, expected no less than --earliest, --delay and the duration of the blow");
  }
}

/// The first touch of a free body, until the two part for a while.
void ResponseJob::FindTouch() {
  const simulation::Environment& environment = run.scene.world.environment;
  const std::string worlds = io::List(options.worlds);
  if (environment.bodies.empty()) throw InputError(worlds, "no body that moves freely", "one that strikes");
  const control::Trajectory own = control::Replay(character(), control, pushes);
  const double h = control.world.time_step;
  const int first = environment.ObjectOfFreeBody(0);
  Vec3 impulse = Vec3::Zero();
  for (size_t step = 0; step < own.contacts.size(); ++step) {
    for (const simulation::Contact& contact : own.contacts[step]) {
      if (contact.other >= 0 || contact.object < first) continue;
      const double time = static_cast<double>(step) * h;
      if (blow.what.empty()) {
        blow = {time, h,
                own.objects[static_cast<size_t>(contact.object)] + ", which meets " + BodyName(run.scene, contact.body),
                0};
      } else if (time - blow.end() < kTouch) {
        blow.duration = time + h - blow.start;
      } else {
        continue;
      }
      impulse += contact.force * h;
    }
  }
  blow.impulse = impulse.norm();
  if (!blow.what.empty()) return;
  double least = std::numeric_limits<double>::infinity(), when = 0;
  std::string what;
  const size_t num_bodies = character().bodies.size();
  for (size_t s = 0; s < own.states.size(); ++s) {
    for (size_t f = num_bodies; f < own.states[s].size(); ++f) {
      for (size_t b = 0; b < num_bodies; ++b) {
        const double distance = (own.states[s][f].position - own.states[s][b].position).norm();
        if (distance >= least) continue;
        least = distance;
        when = own.TimeOf(s);
        what = "that of " + environment.bodies[f - num_bodies].name + " comes no nearer than " + io::Fixed(least, 2) +
               " m to that of " + character().bodies[b].name;
      }
    }
  }
  throw InputError(worlds,
                   "nothing that touches the character (of the centres, " + what + ", at " + io::Fixed(when, 2) + " s)",
                   "a body that strikes it");
}

Response Respond(const ResponseJob& job, int threads, const ResponseHooks& hooks) {
  return Responder(job, threads, hooks).Run();
}

std::string Describe(const ResponseJob& job, const ResponseCandidate& candidate) {
  std::string text = candidate.own ? "its own motion" : job.library.motions().motions()[candidate.motion].name;
  text.append(" from ").append(io::Fixed(candidate.time, 2)).append(" s on, ");
  text.append(io::Fixed(candidate.start, 2)).append(" s after the push, ");
  text.append(io::Fixed(candidate.gap, 2)).append(" m off: ");
  if (candidate.found && job.options.kinematic) {
    return text + "blended in, for an impulse of " + io::Fixed(candidate.hidden_impulse, 0) + " N s";
  }
  if (candidate.found) return text + "found";
  if (candidate.up) return text + "up, and lost " + io::Fixed(candidate.reached, 2) + " s after the push";
  return text + (candidate.tried ? "lost " + io::Fixed(candidate.reached, 2) + " s after the push" : "not tried");
}

std::string Describe(const ResponseBlend& blend) {
  std::string text = "not physical: from " + io::Fixed(blend.from, 2) + " to " + io::Fixed(blend.to, 2);
  text.append(" s a recorded motion is blended in, and then shown; hidden impulse ");
  text.append(io::Fixed(blend.hidden_impulse, 1)).append(" N s, ").append(io::Fixed(blend.hidden_share, 2));
  text.append(" of the blow's\n    jumps ").append(io::Fixed(1000 * blend.position_jump, 2)).append(" mm and ");
  text.append(io::Fixed(std::max(blend.begin_velocity_jump, blend.end_velocity_jump), 2));
  text.append(" m/s; feet slide at ").append(io::Fixed(blend.foot_slide, 2)).append(" m/s (the motion's own at ");
  text.append(io::Fixed(blend.motion_foot_slide, 2)).append("), ").append(io::Fixed(100 * blend.penetration, 1));
  return text.append(" cm in the floor (").append(io::Fixed(100 * blend.motion_penetration, 1)).append(")");
}

}  // namespace retrace::runs
