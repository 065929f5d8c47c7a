#include "retrace/planning/response/response.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>

#include "blend_leads.h"
#include "candidate_reference.h"
#include "get_up_planning.h"
#include "kinematic_response.h"
#include "other_characters.h"
#include "response_candidates.h"
#include "retrace/character/kinematics.h"
#include "retrace/control/cutting.h"
#include "retrace/control/feedback.h"
#include "retrace/io/error.h"
#include "retrace/io/number.h"
#include "retrace/math/smooth_step.h"
#include "retrace/metrics/state_distance.h"
#include "retrace/planning/response/contact_episodes.h"
#include "retrace/planning/response/impact_simulation.h"
#include "retrace/planning/segments/frame_sequence.h"
#include "retrace/planning/segments/joined_control.h"
#include "retrace/planning/segments/motion_start.h"
#include "retrace/planning/segments/rest.h"
#include "retrace/planning/segments/segment_search.h"
#include "retrace/planning/segments/segment_tracking.h"
#include "retrace/planning/segments/settle.h"

namespace retrace::runs {
namespace {

constexpr double kNaiveFragment = 0.1;  // [s]
constexpr int kNaiveTargets = 12;       // in each, after its first one
constexpr double kFarthest = 0.6;       // of a motion that is searched for where there is a get-up after a fall [m]
constexpr double kShareOfBudget = 0.5;  // of a get-up: there are others
constexpr int kMostBackOffs = 10;  // of a candidate where there are others: one that backtracks so often leads nowhere
constexpr double kNotSmooth = 1000;     // a fault that outweighs all others
constexpr size_t kMostBlended = 16;     // candidates of a kinematic transition that are looked at
constexpr double kFrictionOfPaper = 1;  // of its first simulation (section 5)
constexpr size_t kMostLed = 4;          // motions of the library that feedback is to lead to for a kinematic transition
constexpr size_t kInstantsOfLead = 3;   // at which a motion may be entered
constexpr double kLongestLed = 4;       // by feedback, after the impact [s]
constexpr double kShifted = 0.15;       // by which a motion may be entered earlier or later than it is followed [s]
constexpr double kShiftedLying = 0.3;   // the same of a body that lies [s]
constexpr double kNearGoal = 0.4;       // share of a drive after which a get-up may be entered
constexpr int kMostTracked = 10;        // motions of the library
// Shares of the height of the root before the impact: of a body that is on its feet, and of what it is to follow.
constexpr double kUprightRoot = 0.8, kUprightReference = 0.85;
constexpr double kFadesIntoOwn[] = {0.3, 0.6};  // in which what is left of the impact fades away [s]
constexpr double kLongestFallen = 10;           // for which others are to go on meanwhile [s]

class Responder {
 public:
  /// @param tracks_others where recorded motions may be blended in, feedback returns others to their own motions if it
  /// holds
  Responder(const ResponseProblem& problem, int threads, const ResponseHooks& hooks, bool tracks_others)
      : problem_(problem),
        o_(problem.settings),
        threads_(threads),
        hooks_(hooks),
        character_(problem.character()),
        struck_(problem),
        exit_(struck_.exit()),
        companions_(struck_, threads, hooks, result_.others),
        tracks_others_(tracks_others && problem.has_others() && o_.kinematic && !o_.paper) {}

  /// Whether feedback returns others to their own motions, and nothing of them is blended.
  bool tracks_others() const { return tracks_others_; }

  Response Run() {
    result_.exit_step = struck_.exit();
    try {
      Begin();
      if (problem_.has_others()) {
        tracks_others_ = tracks_others_ && companions_.TrackBack();
        if (!o_.kinematic) {
          companions_.LeadBack();
        } else if (!tracks_others_) {
          companions_.BlendBack();
        }
        if (result_.goes_on) JudgeOwn();  // the others now move otherwise
      }
      if (!result_.goes_on || o_.search_anyway) {
        Answer();
      } else if (problem_.has_others() && !o_.kinematic) {
        LeadOthersBackAgain();
      }
      companions_.EndWith(result_.control.duration());
    } catch (const StoppedError&) {
      result_.stopped = true;
      result_.ending = "stopped";
    }
    Evaluate();
    result_.control.pushes = problem_.pushes;
    result_.ragdoll = Ragdoll();
    result_.cpu_seconds = result_.timer.CpuSeconds();
    return std::move(result_);
  }

 private:
  double h() const { return struck_.h(); }
  void Tell(const std::string& line) const {
    if (hooks_.on_line) hooks_.on_line(line);
  }

  const character::ReferenceMotion& Own() const {
    return *problem_.run.characters[ResponseProblem::kReceiver].reference;
  }

  /// The run's own control under the push, for as long as the windows look.
  void Begin() {
    result_.control = problem_.control;
    const double window = o_.window.frames * matching::kFrameTime;
    const int steps =
        std::max(problem_.control.num_steps(), struck_.impact() + struck_.StepAfter(o_.latest + window) + 1);
    struck_.Simulate(steps);
    const control::Trajectory& naive = struck_.naive();
    result_.reference = PosesOf(Own(), problem_.control.duration());
    JudgeOwn();
    if (naive.diverged && naive.states.size() <= static_cast<size_t>(struck_.exit()) + 1) {
      throw InputError(problem_.impact.what, "an impact under which the simulation diverges", "one that it can take");
    }
    if (o_.paper) struck_.SimulateLimp(steps, kFrictionOfPaper);
    Tell(result_.goes_on ? "the run's own control stays within tolerance to its end under the push"
                         : "the run's own control exceeds the tolerances at " + io::Fixed(result_.own_until, 2) + " s");
  }

  /// Whether the run's own control stays within tolerance.
  void JudgeOwn() {
    std::optional<metrics::Evaluator> evaluator = problem_.run.EvaluatorOf(ResponseProblem::kReceiver);
    evaluator->Add(struck_.naive());  // what is after the control's end is left out
    const metrics::Evaluation evaluation = evaluator->Finish(problem_.control.duration());
    result_.goes_on = evaluation.success();
    const metrics::Gate* const left = evaluation.FirstViolated();
    result_.own_until = left != nullptr ? left->first_violation : evaluation.simulated_duration;
  }

  void Answer() {
    result_.candidates = FindCandidates(struck_);
    // The servos of a scene follow a recording and know of no balance: feedback alone leads to its own motion.
    if (o_.kinematic && problem_.has_others()) {
      std::erase_if(result_.candidates, [](const ResponseCandidate& candidate) { return candidate.own; });
    }
    if (TryInOrder()) return;
    if (result_.candidates.empty()) {
      result_.ending = "no motion of the library can be entered after the push and stands at its end";
      return;
    }
    if (problem_.has_others() && o_.leave_out) {
      Response among_others = result_;
      result_.others_left_out = true;
      Tell("no way is found among the others: from " + io::Fixed(struck_.exit_time(), 2) + " s on they are left out");
      if (TryInOrder()) return;
      result_ = std::move(among_others);
    }
    const auto tried = std::count_if(result_.candidates.begin(), result_.candidates.end(),
                                     [](const ResponseCandidate& candidate) { return candidate.tried; });
    result_.ending = "no way found into " + std::to_string(tried) + " motions";
  }

  /// The candidates, until one is found: what is near, then what gets up after a fall; where nothing does, what is far.
  bool TryInOrder() {
    std::erase_if(result_.candidates, [](const ResponseCandidate& candidate) { return candidate.lies_at >= 0; });
    lead_ = NoLead();
    const auto most = static_cast<size_t>(o_.candidates);
    if (o_.kinematic) {
      if (o_.feedback_first && problem_.has_others() && TrackUpright()) return true;
      if (!BlendSmoothly(most)) return false;
      Tell(Describe(problem_, result_.candidates[static_cast<size_t>(result_.chosen)]));
      return true;
    }
    if (!o_.open_loop && !o_.any_motion && TrackUpright()) return true;
    std::vector<size_t> near, far;
    for (size_t c = 0; c < result_.candidates.size() && near.size() + far.size() < most; ++c) {
      (MayFall() && result_.candidates[c].gap > kFarthest ? far : near).push_back(c);
    }
    for (const size_t c : near) {
      if (TryAndTell(c)) return true;
    }
    const std::vector<character::Pose> nothing;
    std::vector<GetUpPlan> ways;
    if (MayFall()) ways = PlanGetUps(struck_, ProblemOf(nothing, NumCompositionFrames(kLongestFallen)), most);
    for (const GetUpPlan& way : ways) {
      lead_ = way.lead;
      result_.candidates.push_back(way.candidate);
      if (TryAndTell(result_.candidates.size() - 1)) return true;
    }
    lead_ = NoLead();
    for (const size_t c : far) {
      if (ways.empty() && TryAndTell(c)) return true;
    }
    return false;
  }

  /// The first candidate whose transition is acceptable, or else the one that is the least at fault: those that the
  /// run's own control, feedback or servos lead to, by what they are expected to show; then get-ups after a fall. Of
  /// the paper and of a linear blend the first one.
  bool BlendSmoothly(size_t most) {
    std::vector<LedCandidate> all;
    for (const ResponseCandidate& candidate : result_.candidates) all.push_back({candidate, nullptr});
    if (o_.blend == Blend::kLinear) {
      all.resize(std::min({all.size(), most, size_t{1}}));
      return !all.empty() && BlendLeastAtFault(all, all.size());
    }
    std::vector<LedCandidate> led = LedByFeedback();
    all.insert(all.end(), std::make_move_iterator(led.begin()), std::make_move_iterator(led.end()));
    std::stable_sort(all.begin(), all.end(), [&](const LedCandidate& a, const LedCandidate& b) {
      return ExpectedFault(struck_, a.candidate) < ExpectedFault(struck_, b.candidate);
    });
    const size_t before = std::min(all.size(), kMostBlended);
    if (BlendLeastAtFault(all, before)) return true;
    // No fall is a remedy for another character that comes through the body.
    if (before > 0 && result_.blend->smooth() && result_.blend->own_fault() == 0) return true;
    std::vector<LedCandidate> falls = LedByFalls(most);
    all.insert(all.begin() + static_cast<std::ptrdiff_t>(before), std::make_move_iterator(falls.begin()),
               std::make_move_iterator(falls.end()));
    if (all.empty()) return false;
    BlendLeastAtFault(all, before + falls.size(), before);
    return true;
  }

  /// The first acceptable one, or else the one that is the least at fault, becomes the result.
  /// @param from before which they were looked at in an earlier call
  /// @return whether it is acceptable, or the only one
  bool BlendLeastAtFault(const std::vector<LedCandidate>& all, size_t most, size_t from = 0) {
    const size_t looked_at = std::min(most, all.size());
    if (from == 0) {
      least_fault_ = std::numeric_limits<double>::infinity();
      least_at_fault_ = 0;
    }
    if (looked_at == 0) return false;
    size_t c = from;
    for (; c < looked_at; ++c) {
      if (hooks_.stop && hooks_.stop()) throw StoppedError("stopped");
      if (BlendInto(struck_, all[c], result_)) break;
      const double fault = result_.blend->fault() + (result_.blend->smooth() ? 0 : kNotSmooth);
      if (fault >= least_fault_) continue;
      least_fault_ = fault;
      least_at_fault_ = c;
    }
    const bool acceptable = c < looked_at;
    if (!acceptable) BlendInto(struck_, all[c = least_at_fault_], result_);
    result_.candidates.clear();
    for (const LedCandidate& led : all) result_.candidates.push_back(led.candidate);
    ResponseCandidate& candidate = result_.candidates[c];
    candidate.tried = candidate.found = candidate.blended = true;
    SetReached(result_.control.duration() - problem_.impact.start, candidate);
    result_.chosen = static_cast<int>(c);
    return acceptable || o_.blend == Blend::kLinear;
  }

  /// Feedback that loses its balance later has led the body near to a motion before: to the run's own one, or to the
  /// nearest ones of the library that stay upright.
  std::vector<LedCandidate> LedByFeedback() {
    std::vector<LedCandidate> led;
    lead_ = NoLead();
    const character::ReferenceMotion& own = Own();
    ResponseCandidate candidate;
    candidate.own = true;
    candidate.time = struck_.exit_time();
    candidate.start = candidate.time - problem_.impact.start;
    candidate.end = candidate.last = candidate.rest = own.duration();
    const double until = std::min(candidate.time + kLongestLed, own.duration());
    if (until - candidate.time > kGoOver) {
      std::vector<character::Pose> poses(NumCompositionFrames(until - candidate.time));
      for (size_t f = 0; f < poses.size(); ++f) {
        own.PoseAt(candidate.time + static_cast<double>(f) * kCompositionFrame, poses[f]);
      }
      const character::State& start = StateAt(struck_.exit());
      const character::State body(start.begin(), start.begin() + std::ssize(character_.bodies));
      for (const double fade : kFadesIntoOwn) {
        LeadAlong(candidate, StartingFrom(character_, body, poses, kCompositionFrame, fade), led);
      }
    }
    size_t tries = 0;
    for (const ResponseCandidate& other : result_.candidates) {
      if (other.own || tries == kMostLed) continue;
      std::vector<character::Pose> poses = FollowedAtOnce(other);
      if (poses.size() > NumCompositionFrames(kLongestLed)) poses.resize(NumCompositionFrames(kLongestLed));
      if (poses.empty() || !StaysUpright(poses)) continue;
      ++tries;
      ResponseCandidate followed = other;
      followed.start = struck_.exit_time() - problem_.impact.start;
      followed.time = TimeAtExit(other);
      LeadAlong(followed, poses, led);
    }
    return led;
  }

  void LeadAlong(const ResponseCandidate& followed, const std::vector<character::Pose>& poses,
                 std::vector<LedCandidate>& led) {
    if (hooks_.stop && hooks_.stop()) throw StoppedError("stopped");
    SegmentProblem problem = ProblemOf(poses, poses.size());
    problem.pushes = problem_.pushes;
    problem.lowest_root = -1;
    const std::vector<control::Fragment> fragments = TrackSegment(problem).fragments;
    if (fragments.empty()) return;
    const auto lead = SimulateLead(struck_, fragments, fragments.back().end_step());
    const auto root = static_cast<size_t>(character_.root);
    const double low = kUprightRoot * UprightHeight();
    const int enters = struck_.impact() + struck_.StepOf(followed.start);
    const int from = std::max({struck_.exit(), struck_.impact() + struck_.StepAfter(o_.earliest), enters});
    int to = struck_.exit();
    while (to + 1 < static_cast<int>(lead->states.size()) &&
           lead->states[static_cast<size_t>(to)][root].position.y() > low) {
      ++to;
    }
    for (LedCandidate& one : NearestInstants(struck_, lead, followed, from, to, kShifted, kInstantsOfLead)) {
      one.candidate.feedback_from = struck_.exit_time();
      led.push_back(std::move(one));
    }
  }

  /// A body that lies still hides hardly anything where a motion gets up from there.
  std::vector<LedCandidate> LedByFalls(size_t most) {
    std::vector<LedCandidate> led;
    lead_ = NoLead();
    const std::vector<character::Pose> nothing;
    SegmentProblem problem = ProblemOf(nothing, NumCompositionFrames(kLongestFallen));
    problem.pushes = problem_.pushes;
    for (GetUpPlan& plan : PlanGetUps(struck_, problem, most)) {
      const int end = plan.lead.end_step, lies = struck_.StepOf(plan.candidate.lies_at);
      const auto lead = SimulateLead(struck_, std::move(plan.lead.fragments), end);
      const int from = lies + static_cast<int>(kNearGoal * (end - lies));
      for (LedCandidate& one :
           NearestInstants(struck_, lead, plan.candidate, from, end, kShiftedLying, kInstantsOfLead)) {
        led.push_back(std::move(one));
      }
    }
    return led;
  }

  /// Feedback, which takes a hundredth of the time of a search, along motions that stay upright: the run's own one,
  /// then the nearest ones of the library. So a light push is answered by steps.
  bool TrackUpright() {
    if (TrackOwn()) return true;
    int tries = 0;
    for (size_t c = 0; c < result_.candidates.size() && tries < kMostTracked; ++c) {
      if (result_.candidates[c].own) continue;
      bool upright = false;
      for (const bool at_once : {true, false}) {
        const std::vector<character::Pose> poses =
            at_once ? FollowedAtOnce(result_.candidates[c]) : ReferenceOf(result_.candidates[c]);
        if (poses.empty() || !StaysUpright(poses)) continue;
        upright = true;
        if (TryTracked(result_.candidates[c], poses)) {
          TellChosen(c);
          return true;
        }
      }
      tries += upright ? 1 : 0;
    }
    return false;
  }

  /// Time in the motion of a candidate where the run's own control ends [s].
  double TimeAtExit(const ResponseCandidate& candidate) const {
    return candidate.time - (problem_.impact.start + candidate.start - struck_.exit_time());
  }

  /// Feedback needs no servos that lead to a motion: it may follow it from the exit on, put where the body is. Empty
  /// where the recording begins later.
  std::vector<character::Pose> FollowedAtOnce(const ResponseCandidate& candidate) const {
    const double first = TimeAtExit(candidate);
    if (first < 0) return {};
    const double duration = candidate.end + struck_.StandOf(candidate) - first;
    std::vector<character::Pose> poses(NumCompositionFrames(duration));
    for (size_t f = 0; f < poses.size(); ++f) {
      struck_.PoseOf(candidate, first + static_cast<double>(f) * kCompositionFrame, poses[f]);
    }
    const character::State& state = StateAt(struck_.exit());
    const character::State body(state.begin(), state.begin() + std::ssize(character_.bodies));
    return StartingFrom(character_, body, std::move(poses), kCompositionFrame, kFadesIntoOwn[0]);
  }

  /// From the delay on, also while a push still acts, to where the motion ends and the body comes to rest; or to the
  /// end of the motion alone.
  bool TrackOwn() {
    const int delay = struck_.StepAfter(problem_.impact.start + o_.delay);
    const int from = std::min(IsAmongOthers() || result_.others_left_out ? struck_.exit() : delay, struck_.exit());
    const character::ReferenceMotion& own = Own();
    ResponseCandidate candidate;
    candidate.own = true;
    candidate.time = from * h();
    candidate.start = candidate.time - problem_.impact.start;
    candidate.end = candidate.last = candidate.rest = own.duration();
    if (own.duration() - candidate.time < kGoOver) return false;
    character::State motion;
    own.StateAt(candidate.time, motion);
    const character::State state = StateAt(from);
    const character::State body(state.begin(), state.begin() + std::ssize(character_.bodies));
    candidate.gap = metrics::StateDistance(character_, body, motion);
    const double stands = problem_.impact.start + o_.seconds + o_.stand;
    for (const double end : {std::max(stands, own.duration()), own.duration()}) {
      std::vector<character::Pose> poses(NumCompositionFrames(end - candidate.time));
      for (size_t f = 0; f < poses.size(); ++f) {
        const double time = candidate.time + static_cast<double>(f) * kCompositionFrame;
        RestingPoseAt(own, own.duration(), time, poses[f]);
      }
      for (const double fade : kFadesIntoOwn) {
        const std::vector<character::Pose> placed = StartingFrom(character_, body, poses, kCompositionFrame, fade);
        if (!StaysUpright(placed)) return false;
        lead_ = {{}, {}, state, from};
        exit_ = from;
        if (TryTracked(candidate, placed)) {
          result_.exit_step = exit_;
          result_.candidates.insert(result_.candidates.begin(), candidate);
          TellChosen(0);
          return true;
        }
        exit_ = struck_.exit();
        lead_ = NoLead();
      }
      if (end <= own.duration()) break;
    }
    return false;
  }

  bool TryTracked(ResponseCandidate& candidate, const std::vector<character::Pose>& poses) {
    if (hooks_.stop && hooks_.stop()) throw StoppedError("stopped");
    SegmentProblem problem = ProblemOf(poses, poses.size());
    problem.pushes = problem_.pushes;
    problem.lowest_root = kUprightRoot * UprightHeight();
    FoundSegment way = TrackSegment(problem);
    candidate.cpu_seconds += way.cpu_seconds;
    if (!way.reached_end) return false;
    candidate.tried = candidate.found = true;
    candidate.feedback_from = lead_.end_step * h();
    SetReached(lead_.end_step * h() - problem_.impact.start + way.reached, candidate);
    Keep(poses, way, candidate);
    return true;
  }

  void TellChosen(size_t c) {
    Tell(Describe(problem_, result_.candidates[c]));
    result_.chosen = static_cast<int>(c);
    if (IsAmongOthers() && (!o_.kinematic || tracks_others_)) LeadOthersBackAgain();
  }

  /// Height of the root where the impact begins, if that is lower than at rest: a guard has bent knees [m].
  double UprightHeight() const {
    character::Pose pose;
    Own().PoseAt(problem_.impact.start, pose);
    return std::min(pose.root_position.y(), character_.bodies[static_cast<size_t>(character_.root)].rest_position.y());
  }

  bool StaysUpright(const std::vector<character::Pose>& poses) const {
    const double low = kUprightReference * UprightHeight();
    return std::all_of(poses.begin(), poses.end(),
                       [&](const character::Pose& pose) { return pose.root_position.y() > low; });
  }

  bool TryAndTell(size_t c) {
    if (hooks_.stop && hooks_.stop()) throw StoppedError("stopped");
    Try(c);
    Tell(Describe(problem_, result_.candidates[c]));
    if (!result_.candidates[c].found) return false;
    result_.chosen = static_cast<int>(c);
    if (IsAmongOthers()) LeadOthersBackAgain();
    return true;
  }

  void LeadOthersBackAgain() {
    const std::vector<control::Fragment> receiver = result_.control.fragments;
    companions_.LeadBackAgain(ReplayAll(), receiver, [&] {
      Evaluate();
      return result_.evaluation.success();
    });
  }

  void Try(size_t c) {
    ResponseCandidate& candidate = result_.candidates[c];
    candidate.tried = true;
    const std::vector<character::Pose> poses = ReferenceOf(candidate);
    if (o_.open_loop) {
      TryOpenLoop(candidate, poses);
    } else {
      TrySearch(candidate, poses);
    }
  }

  /// What is followed from the end of the lead on.
  std::vector<character::Pose> ReferenceOf(const ResponseCandidate& candidate) const {
    return candidate.lies_at < 0 ? ReferenceInto(struck_, candidate) : ReferenceUp(struck_, candidate, lead_.end);
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
    SegmentProblem problem = ProblemOf(followed, poses.size());
    problem.share_of_budget = DurationOf(poses) / DurationOf(followed);  // that of all of the motion
    if (MayFall()) problem.share_of_budget *= kShareOfBudget;
    SegmentProblem first = problem;
    if (MayFall()) first.most_back_offs = kMostBackOffs;
    FoundSegment way = SearchSegment(first);
    candidate.found = way.reached_end;
    if (way.reached_end && stand > 0) candidate.found = GoOn(problem, poses, way, followed, candidate);
    candidate.cpu_seconds += way.cpu_seconds;
    SetReached(lead_.end_step * h() - problem_.impact.start + way.reached, candidate);
    // What is not found to the end is the result where nothing else is found.
    if (!candidate.found && candidate.reached <= best_reached_) return;
    best_reached_ = candidate.reached;
    Keep(followed, way, candidate);
  }

  /// What is found becomes the result.
  void Keep(const std::vector<character::Pose>& followed, FoundSegment& way, ResponseCandidate& candidate) {
    Append(followed, std::move(way.fragments));
    const control::Trajectory whole = ReplayAll();
    if (control::Fingerprint(whole.states[std::min(whole.states.size() - 1, NumSteps())]) != way.end) {
      throw std::logic_error("the replay does not end in the state that the search found");
    }
    if (!IsAmongOthers()) return;
    const auto touch = FirstImpact(whole, problem_.run.scene.layout(), ResponseProblem::kReceiver,
                                   std::max(struck_.exit_time(), problem_.impact.end()));
    candidate.touched_again = touch ? touch->start : -1;
  }

  /// Whether it may fall and get up where no candidate is found.
  bool MayFall() const { return !o_.open_loop && !o_.any_motion; }
  bool IsAmongOthers() const { return problem_.has_others() && !result_.others_left_out; }

  /// The state of all in the world in which the response is looked for.
  const character::State& StateAt(int step) const {
    return IsAmongOthers() ? struck_.WholeState(step) : struck_.NaiveState(step);
  }
  Lead NoLead() const { return {{}, {}, StateAt(struck_.exit()), struck_.exit()}; }

  /// The segment along poses from the end of the lead on.
  /// @param num_frames for which others are to go on
  SegmentProblem ProblemOf(const std::vector<character::Pose>& poses, size_t num_frames) const {
    const bool among_others = IsAmongOthers();
    SegmentProblem problem{character_, among_others ? problem_.run.scene.world : problem_.control.world,
                           lead_.end,  lead_.end_step,
                           poses,      o_.configuration,
                           1,          1,
                           threads_,   hooks_.stop};
    const int end = lead_.end_step + static_cast<int>(static_cast<double>(num_frames) * kCompositionFrame / h()) + 1;
    if (among_others) problem.endings = struck_.endings_of_others();
    for (size_t c = 0; among_others && c < struck_.others().size(); ++c) {
      if (c == ResponseProblem::kReceiver) continue;
      problem.companions.push_back({&problem_.run.scene.characters[c], control::SplitAt({end}, struck_.others()[c])});
    }
    return problem;
  }

  /// Goes on from where the motion stands.
  bool GoOn(const SegmentProblem& problem, const std::vector<character::Pose>& poses, FoundSegment& way,
            std::vector<character::Pose>& followed, ResponseCandidate& candidate) const {
    ResponseCandidate resting = candidate;
    resting.last = candidate.rest;
    std::vector<character::Pose> at_rest;
    if (candidate.rest < candidate.last) at_rest = ReferenceOf(resting);
    int from = -1;
    const bool found = Settle({problem, poses, at_rest}, way, followed, from);
    if (from >= 0) candidate.feedback_from = from * h();
    return found;
  }

  size_t NumSteps() const { return static_cast<size_t>(result_.control.num_steps()); }

  /// The control so far, in the world that it was made for.
  control::Trajectory ReplayAll() const { return ReplayOf(result_.control, searched_); }
  control::Trajectory ReplayOf(const control::OpenLoopControl& control, bool searched) const {
    if (result_.others_left_out) return control::Replay(character_, control);
    return control::Replay(struck_.SceneOf(control, searched), problem_.pushes);
  }

  /// The tolerances alone judge it.
  void TryOpenLoop(ResponseCandidate& candidate, const std::vector<character::Pose>& poses) {
    const Response before = result_;
    Append(poses, Naive(poses));
    Evaluate();
    const metrics::Evaluation& evaluation = result_.evaluation;
    const metrics::Gate* const left = evaluation.FirstViolated();
    candidate.found = evaluation.success();
    SetReached((left != nullptr ? left->first_violation : evaluation.simulated_duration) - problem_.impact.start,
               candidate);
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
      // The state that the impact left is the beginning.
      for (control::Fragment& fragment : fragments) fragment.first_step -= struck_.exit();
      control.start = struck_.NaiveState(struck_.exit());
      control.fragments = std::move(fragments);
      return control;
    }
    control.fragments = control::Truncate(exit_, problem_.control.fragments);
    std::move(fragments.begin(), fragments.end(), std::back_inserter(control.fragments));
    return control;
  }

  /// Fragments after the lead, and the poses that they follow, become the result.
  void Append(const std::vector<character::Pose>& poses, std::vector<control::Fragment> fragments) {
    fragments.insert(fragments.begin(), lead_.fragments.begin(), lead_.fragments.end());
    result_.control = ControlWith(std::move(fragments));
    searched_ = !o_.open_loop;
    // Up to the push the reference is the run's; then the motion itself; after the lead what the search follows.
    std::vector<character::State> themselves;
    int begin = lead_.end_step;
    if (result_.others_left_out) {
      result_.reference.clear();
      begin -= struck_.exit();
    } else {
      const auto first = struck_.naive().states.begin();
      result_.reference = PosesOf(Own(), problem_.impact.start);
      themselves.assign(first, first + exit_);
    }
    themselves.insert(themselves.end(), lead_.states.begin(), lead_.states.end());
    AppendStates(character_, themselves, h(), result_.reference);
    AppendPoses(character_, poses, begin * h(), result_.reference);
  }

  void Evaluate() {
    const control::Trajectory whole = ReplayAll();
    if (!problem_.has_others() || result_.others_left_out) {
      const character::ReferenceMotion reference(character_, kCompositionFrame, result_.reference, kCompositionFrame);
      result_.evaluation =
          metrics::Evaluate(character_, whole, reference, reference.duration(), o_.configuration.task.gates);
      return;
    }
    result_.scene = struck_.SceneOf(result_.control, searched_);
    const auto evaluate = [&](size_t c, const std::vector<character::Pose>& poses) {
      const auto steps = static_cast<size_t>(result_.scene->num_steps_of(c));
      const character::ReferenceMotion reference(problem_.run.scene.characters[c], kCompositionFrame, poses,
                                                 kCompositionFrame);
      metrics::Evaluator evaluator(problem_.run.scene.characters[c], reference, o_.configuration.task.gates, steps);
      evaluator.Add(struck_.OneOf(whole, c));
      return evaluator.Finish(std::max(static_cast<double>(steps) * h(), reference.duration() - h()));
    };
    result_.evaluation = evaluate(ResponseProblem::kReceiver, result_.reference);
    if (result_.others.empty()) companions_.ListAll();
    for (OtherCharacter& other : result_.others) other.evaluation = evaluate(other.character, other.reference);
  }

  control::Scene Ragdoll() const {
    control::OpenLoopControl limp = result_.control;
    limp.ending.reset();
    if (result_.others_left_out) {  // the control begins at the exit
      limp.fragments = {struck_.RagdollFromExit(struck_.exit() + limp.num_steps()).back()};
      limp.fragments[0].first_step = 0;
      return control::MakeScene(character_, limp);
    }
    limp.fragments = struck_.RagdollFromExit(result_.control.num_steps());
    return problem_.has_others() ? struck_.SceneOf(limp, false) : control::MakeScene(character_, limp);
  }

  const ResponseProblem& problem_;
  const ResponseSettings& o_;
  int threads_;
  const ResponseHooks& hooks_;
  const character::Character& character_;
  ImpactSimulation struck_;
  int exit_;  // step at which the run's own control ends
  Response result_;
  OtherCharacters companions_;
  bool tracks_others_;
  Lead lead_;  // from the exit to where the motion of a candidate begins
  double best_reached_ = 0;
  size_t least_at_fault_ = 0;  // of the kinematic transitions that were looked at
  double least_fault_ = 0;     // its fault
  bool searched_ = false;      // the control goes on from the exit by what was found
};

/// How much shows of what is not simulated; infinite where it is no success.
double FaultOf(const Response& response) {
  if (!response.success()) return std::numeric_limits<double>::infinity();
  return response.blend ? response.blend->fault() + (response.blend->smooth() ? 0 : kNotSmooth) : 0;
}

}  // namespace

Response Respond(const ResponseProblem& problem, int threads, const ResponseHooks& hooks) {
  Responder responder(problem, threads, hooks, true);
  Response response = responder.Run();
  if (!responder.tracks_others() || response.stopped || FaultOf(response) == 0) return response;
  // Feedback leads the others back, but something is amiss: so they are blended back.
  Response blended = Responder(problem, threads, hooks, false).Run();
  blended.cpu_seconds += response.cpu_seconds;
  return FaultOf(response) <= FaultOf(blended) ? response : blended;
}

}  // namespace retrace::runs
