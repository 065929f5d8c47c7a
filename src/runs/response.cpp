#include "retrace/runs/response.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <utility>

#include "blended_way.h"
#include "composition_frames.h"
#include "continuation.h"
#include "reference_targets.h"
#include "retrace/character/kinematics.h"
#include "retrace/control/cutting.h"
#include "retrace/control/feedback.h"
#include "retrace/io/error.h"
#include "retrace/io/number.h"
#include "retrace/math/random.h"
#include "retrace/math/smooth_step.h"
#include "retrace/metrics/state_distance.h"
#include "retrace/runs/composition.h"
#include "retrace/runs/touching.h"
#include "searched_way.h"

namespace retrace::runs {
namespace {

constexpr size_t kStruck = ResponseJob::kStruck;
constexpr size_t kStartsApart = 3;    // frames between start times for which a second simulation is made
constexpr size_t kMostOfMotions = 6;  // nearest motions whose best place is a candidate, too
constexpr size_t kSamePlace = 5;      // frames: two candidates of one motion that go on alike count once
constexpr double kTimesApart = 0.15;  // of start times that are tried one after the other [s]
constexpr double kNearOwn = 0.2;      // of the run's own motion, where it is tried first [m]
constexpr double kGoOver = 0.3;       // after T, in which the reference becomes the motion [s]
constexpr double kUpright =
    0.87;  // of the height of the root at rest: well above kStandingRoot, as the search misses some of it
constexpr double kStandingTime = 0.5;   // that the motion stands, before it may end [s]
constexpr double kLongestMotion = 10;   // that is used [s]
constexpr double kRest = 0.3;           // in which the root comes to rest where a motion is over [s]
constexpr double kNaiveFragment = 0.1;  // [s]
constexpr int kNaiveTargets = 12;       // in each, after its first one
constexpr double kLeastReturn = 0.2;    // of another's own motion, to go on with after a blow [s]
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
      const double ahead = TimeAhead(joint);
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
        own_(*job.run.characters[kStruck].reference),
        others_(job.run.scene.fragments),
        impact_(StepOf(job.blow.start)),
        exit_(std::min(StepAfter(job.blow.start + std::max(o_.delay, job.blow.duration)), job.control.num_steps())) {}

  Response Run() {
    result_.exit_step = exit_;
    try {
      Begin();
      if (!result_.goes_on || o_.search_anyway) {
        if (job_.has_others()) ReturnOthers();
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
  double h() const { return job_.control.world.time_step; }
  int StepOf(double time) const { return static_cast<int>(std::lround(time / h())); }
  int StepAfter(double time) const { return static_cast<int>(std::ceil(time / h() - 1e-9)); }
  void Tell(const std::string& line) const {
    if (hooks_.on_line) hooks_.on_line(line);
  }

  /// All characters from a state of all of them on: that which responds under a controller, the others under their own
  /// controls.
  control::Trajectory SimulateAll(const character::State& start, control::Controller& controller, int first,
                                  int steps) const {
    const control::Scene& scene = job_.run.scene;
    std::vector<const character::Character*> characters;
    std::vector<control::OpenLoop> open_loops(others_.begin(), others_.end());
    std::vector<control::Controller*> controllers;
    for (size_t c = 0; c < scene.characters.size(); ++c) {
      characters.push_back(&scene.characters[c]);
      controllers.push_back(c == kStruck ? &controller : &open_loops[c]);
    }
    return control::Simulate(characters, scene.world, start, controllers, first, steps, job_.pushes);
  }

  /// What a motion of all characters is to one of them.
  control::Trajectory OneOf(control::Trajectory whole, size_t character) const {
    if (!job_.has_others()) return whole;
    return control::TrajectoryOf(whole, job_.run.scene.layout(), character);
  }

  /// All characters, with what is the control so far. A search restores all of them where its fragments begin, so that
  /// the controls of the others are cut there.
  control::Scene SceneOf(const control::OpenLoopControl& control) const {
    control::Scene scene = job_.run.scene;
    scene.fragments = others_;
    scene.fragments[kStruck] = control.fragments;
    scene.ending = control.ending;
    if (!searched_) return scene;
    std::vector<int> steps;
    for (const control::Fragment& fragment : control.fragments) {
      if (fragment.first_step >= exit_) steps.push_back(fragment.first_step);
    }
    steps.push_back(control.num_steps());
    for (size_t c = 0; c < scene.fragments.size(); ++c) {
      if (c != kStruck) scene.fragments[c] = control::CutAt(steps, scene.fragments[c]);
    }
    return scene;
  }

  /// The run's own control under the push, for as long as the windows look.
  void Begin() {
    result_.control = job_.control;
    const double window = o_.window.frames * matching::kFrameTime;
    const int steps = std::max(job_.control.num_steps(), impact_ + StepAfter(o_.latest + window) + 1);
    SimulateNaively(steps);
    FillOwnReference(job_.control.duration());
    std::optional<metrics::Evaluator> evaluator = job_.run.EvaluatorOf(kStruck);
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

  void SimulateNaively(int steps) {
    control::OpenLoop open_loop(job_.control.fragments);
    whole_ = SimulateAll(job_.run.scene.start, open_loop, 0, steps);
    naive_ = OneOf(whole_, kStruck);
  }

  /// Others whose own control does not survive the blow are led back to their own motion by a search, each for itself.
  void ReturnOthers() {
    const control::Scene& scene = job_.run.scene;
    const int steps = static_cast<int>(whole_.num_steps());
    for (size_t c = 0; c < scene.characters.size(); ++c) {
      if (c == kStruck || !job_.run.characters[c].reference) continue;
      Companion& other = result_.others.emplace_back();
      other.character = c;
      ReturnOther(other);
      Tell("character " + std::to_string(c + 1) + HowItGoesOn(other));
    }
    SimulateNaively(steps);
  }

  void ReturnOther(Companion& other) {
    const size_t c = other.character;
    std::optional<metrics::Evaluator> evaluator = job_.run.EvaluatorOf(c);
    evaluator->Add(OneOf(control::Replay(job_.run.scene, job_.pushes), c));
    other.undisturbed = evaluator->Finish(job_.run.expected_duration(c)).success();
    other.reached = job_.run.characters[c].reference->duration();
    FillReference(*job_.run.characters[c].reference, other.reached, other.reference);
    if (!other.undisturbed) LeadBack(whole_, StepAfter(job_.blow.end()), other);
  }

  /// From a state of a motion of all characters on, by a search of its own.
  void LeadBack(const control::Trajectory& whole, int from, Companion& other) {
    const size_t c = other.character;
    const control::Scene& scene = job_.run.scene;
    const character::ReferenceMotion& own = *job_.run.characters[c].reference;
    const double time = from * h();
    if (own.duration() - time < kLeastReturn || static_cast<size_t>(from) >= whole.states.size()) return;
    const character::State state = scene.layout().StateOf(whole.states[static_cast<size_t>(from)], c);
    // Where its own motion ends it comes to rest, for as long as the other one may need.
    const double left = std::max(own.duration() - time, job_.blow.duration + o_.seconds + o_.stand);
    std::vector<character::Pose> poses(NumCompositionFrames(left));
    for (size_t f = 0; f < poses.size(); ++f) {
      RestingPoseAt(own, own.duration(), time + static_cast<double>(f) * kCompositionFrame, poses[f]);
    }
    poses = StartingFrom(scene.characters[c], state, std::move(poses), kCompositionFrame);
    const control::OpenLoopControl control = control::ControlOf(scene, c);
    SearchedWay way = SearchWay(
        {scene.characters[c], control.world, state, from, poses, o_.configuration, 1, 1, threads_, hooks_.stop});
    other.from = time;
    other.cpu_seconds += way.cpu_seconds;
    other.reached = time + way.reached;
    others_[c] = control::UpTo(from, others_[c]);
    std::move(way.fragments.begin(), way.fragments.end(), std::back_inserter(others_[c]));
    const auto before = static_cast<size_t>(std::ceil(time / kCompositionFrame - 1e-9));
    other.reference.resize(std::min(other.reference.size(), before));
    AppendPoses(scene.characters[c], poses, time, other.reference);
  }

  /// Others that are touched again leave their way. From the last touch on they are led back once more, where that does
  /// not take the response away.
  void LeadBackAgain() {
    const control::Trajectory whole = ReplayAll();
    Evaluate();
    const double last = LastTouch(whole);
    if (last < 0) return;
    for (size_t i = 0; i < result_.others.size(); ++i) {
      const Companion before = result_.others[i];
      if (before.evaluation.success()) continue;
      const std::vector<control::Fragment> fragments = others_[before.character];
      LeadBack(whole, StepAfter(last), result_.others[i]);
      Evaluate();
      if (result_.evaluation.success() && Holds(result_.others[i]) > Holds(before)) continue;
      others_[before.character] = fragments;
      result_.others[i] = before;
    }
  }

  /// Since when nobody touches the one that responds any more; negative where nobody did after the delay [s].
  double LastTouch(const control::Trajectory& whole) const {
    double last = -1;
    for (double from = std::max(exit_ * h(), job_.blow.end());;) {
      const std::optional<Touching> touch = FirstBlow(whole, job_.run.scene.layout(), kStruck, from);
      if (!touch) return last;
      from = last = touch->end;
    }
  }

  /// For how long it stays within its gates [s].
  static double Holds(const Companion& other) {
    const metrics::Gate* const left = other.evaluation.FirstViolated();
    return left != nullptr ? left->first_violation : other.evaluation.simulated_duration;
  }

  static std::string HowItGoesOn(const Companion& other) {
    if (other.undisturbed) return " goes on as it is";
    return " is led back to its own motion as far as " + io::Fixed(other.reached, 2) + " s";
  }

  static void FillReference(const character::ReferenceMotion& motion, double duration,
                            std::vector<character::Pose>& poses) {
    const size_t frames = NumCompositionFrames(duration);
    for (size_t f = 0; f < frames; ++f) motion.PoseAt(static_cast<double>(f) * kCompositionFrame, poses.emplace_back());
  }

  void FillOwnReference(double duration) { FillReference(own_, duration, result_.reference); }

  const character::State& NaiveState(int step) const {
    return naive_.states[std::min(static_cast<size_t>(step), naive_.states.size() - 1)];
  }
  /// Of all characters.
  const character::State& WholeState(int step) const {
    return whole_.states[std::min(static_cast<size_t>(step), whole_.states.size() - 1)];
  }

  void Answer() {
    FindCandidates();
    if (result_.candidates.empty()) {
      result_.ending = "no motion of the library can be entered after the push and stands at its end";
      return;
    }
    if (TryInOrder()) return;
    if (job_.has_others()) {
      Response among_others = result_;
      result_.others_left_out = true;
      Tell("no way is found among the others: from " + io::Fixed(exit_ * h(), 2) + " s on they are left out");
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
      if (job_.has_others() && !result_.others_left_out) LeadBackAgain();
      return true;
    }
    return false;
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
    return OneOf(SimulateAll(WholeState(exit_), servos, exit_, impact_ + StepOf(candidate.start + kGoOver) - exit_ + 1),
                 kStruck);
  }

  // ---- the way there

  /// For how long it is to stand or walk after the end of the motion [s]: the run's own one is over where it ends.
  double StandOf(const ResponseCandidate& candidate) const { return candidate.own || o_.paper ? 0 : o_.stand; }

  /// The motion, which comes to rest after its last instant.
  void PoseOf(const ResponseCandidate& candidate, double time, character::Pose& pose) const {
    RestingPoseAt(MotionOf(candidate), candidate.last, time, pose);
  }

  static void RestingPoseAt(const character::ReferenceMotion& motion, double last, double time, character::Pose& pose) {
    motion.PoseAt(std::min(time, last), pose);
    if (time <= last) return;
    character::Pose before;
    motion.PoseAt(last - matching::kFrameTime, before);
    Vec3 velocity = (pose.root_position - before.root_position) / matching::kFrameTime;
    velocity.y() = 0;
    pose.root_position += kRest * (1 - std::exp((last - time) / kRest)) * velocity;
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
    std::vector<character::Pose> poses(NumCompositionFrames(duration));
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
    const bool among_others = job_.has_others() && !result_.others_left_out;
    const simulation::WorldOptions& world = among_others ? job_.run.scene.world : job_.control.world;
    WayProblem problem{character_, world, among_others ? WholeState(exit_) : NaiveState(exit_),
                       exit_,      poses, o_.configuration,
                       1,          1,     threads_,
                       hooks_.stop};
    for (size_t c = 0; among_others && c < others_.size(); ++c) {
      if (c == kStruck) continue;
      const int end = exit_ + static_cast<int>(static_cast<double>(poses.size()) * kCompositionFrame / h()) + 1;
      problem.companions.push_back({&job_.run.scene.characters[c], control::CutAt({end}, others_[c])});
    }
    SearchedWay way = SearchWay(problem);
    candidate.cpu_seconds += way.cpu_seconds;
    candidate.found = way.reached_end;
    SetReached(exit_ * h() - job_.blow.start + way.reached, candidate);
    // Of what is not found to the end, what there is is the result where nothing else is found.
    if (!candidate.found && candidate.reached <= best_reached_) return;
    best_reached_ = candidate.reached;
    searched_ = true;
    Append(poses, std::move(way.fragments));
    const control::Trajectory whole = ReplayAll();
    if (control::Fingerprint(whole.states[std::min(whole.states.size() - 1, NumSteps())]) != way.end) {
      throw std::logic_error("the replay does not end in the state that the search found");
    }
    if (!among_others) return;
    const auto touch = FirstBlow(whole, job_.run.scene.layout(), kStruck, std::max(exit_ * h(), job_.blow.end()));
    candidate.touched_again = touch ? touch->start : -1;
  }

  size_t NumSteps() const { return static_cast<size_t>(result_.control.num_steps()); }

  /// The control so far, in the world that it was made for.
  control::Trajectory ReplayAll() const {
    if (result_.others_left_out) return control::Replay(character_, result_.control);
    return control::Replay(SceneOf(result_.control), job_.pushes);
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
    all = control::UpTo(goes_on ? enters : exit_, job_.control.fragments);
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
    if (result_.others_left_out) {
      // The state that the blow left is the beginning.
      for (control::Fragment& fragment : fragments) fragment.first_step -= exit_;
      result_.control.start = NaiveState(exit_);
      result_.control.fragments = std::move(fragments);
      result_.reference = poses;
      return;
    }
    std::vector<control::Fragment>& all = result_.control.fragments;
    all = control::UpTo(exit_, job_.control.fragments);
    all.insert(all.end(), std::make_move_iterator(fragments.begin()), std::make_move_iterator(fragments.end()));
    // Up to the push the reference is the run's; then the motion itself; from the exit on what the search follows.
    result_.reference.clear();
    FillOwnReference(job_.blow.start);
    const double exit = exit_ * h();
    for (;;) {
      const double time = static_cast<double>(result_.reference.size()) * kCompositionFrame;
      if (time >= exit) break;
      character::PoseOf(character_, NaiveState(StepOf(time)), result_.reference.emplace_back());
    }
    AppendPoses(character_, poses, exit, result_.reference);
  }

  void Evaluate() {
    const control::Trajectory whole = ReplayAll();
    if (!job_.has_others() || result_.others_left_out) {
      const character::ReferenceMotion reference(character_, kCompositionFrame, result_.reference, kCompositionFrame);
      result_.evaluation =
          metrics::Evaluate(character_, whole, reference, reference.duration(), o_.configuration.task.gates);
      return;
    }
    result_.scene = SceneOf(result_.control);
    const auto evaluate = [&](size_t c, const std::vector<character::Pose>& poses) {
      const std::vector<control::Fragment>& fragments = result_.scene->fragments[c];
      const auto steps = static_cast<size_t>(fragments.empty() ? 0 : fragments.back().end_step());
      const character::ReferenceMotion reference(job_.run.scene.characters[c], kCompositionFrame, poses,
                                                 kCompositionFrame);
      metrics::Evaluator evaluator(job_.run.scene.characters[c], reference, o_.configuration.task.gates, steps);
      evaluator.Add(OneOf(whole, c));
      return evaluator.Finish(std::max(static_cast<double>(steps) * h(), reference.duration() - h()));
    };
    result_.evaluation = evaluate(kStruck, result_.reference);
    if (result_.others.empty()) NameOthers();
    for (Companion& other : result_.others) other.evaluation = evaluate(other.character, other.reference);
  }

  /// Who there is where nobody had to be led back.
  void NameOthers() {
    for (size_t c = 0; c < job_.run.characters.size(); ++c) {
      if (c == kStruck || !job_.run.characters[c].reference) continue;
      const character::ReferenceMotion& own = *job_.run.characters[c].reference;
      Companion& other = result_.others.emplace_back();
      other.character = c;
      other.reached = own.duration();
      FillReference(own, own.duration(), other.reference);
    }
  }

  const ResponseJob& job_;
  const ResponseOptions& o_;
  int threads_;
  const ResponseHooks& hooks_;
  const character::Character& character_;
  const character::ReferenceMotion& own_;
  std::vector<std::vector<control::Fragment>> others_;  // (characters) their controls; that which responds has another
  int impact_, exit_;                                   // steps
  Response result_;
  control::Trajectory naive_;
  control::Trajectory whole_;  // of all characters
  /// As it is simulated without the blow, where the transition is kinematic: what is then gone back to.
  std::optional<character::ReferenceMotion> own_motion_;
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

std::string Describe(const ResponseJob& job, const ResponseCandidate& candidate) {
  std::string text = candidate.own ? "its own motion" : job.library.motions().motions()[candidate.motion].name;
  text.append(" from ").append(io::Fixed(candidate.time, 2)).append(" s on, ");
  text.append(io::Fixed(candidate.start, 2)).append(" s after the push, ");
  text.append(io::Fixed(candidate.gap, 2)).append(" m off: ");
  if (candidate.found && job.options.kinematic) {
    return text + "blended in, for an impulse of " + io::Fixed(candidate.hidden_impulse, 0) + " N s";
  }
  if (candidate.found && candidate.touched_again >= 0) {
    return text + "found, touched again at " + io::Fixed(candidate.touched_again, 2) + " s";
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
