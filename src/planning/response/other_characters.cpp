#include "other_characters.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "kinematic_blend.h"
#include "retrace/character/kinematics.h"
#include "retrace/control/cutting.h"
#include "retrace/io/number.h"
#include "retrace/metrics/state_distance.h"
#include "retrace/planning/response/contact_episodes.h"
#include "retrace/planning/segments/frame_sequence.h"
#include "retrace/planning/segments/joined_control.h"
#include "retrace/planning/segments/motion_start.h"
#include "retrace/planning/segments/rest.h"
#include "retrace/planning/segments/segment_search.h"
#include "retrace/planning/segments/segment_tracking.h"

namespace retrace::runs {
namespace {

constexpr double kLeastReturn = 0.2;  // of another's own motion, to go on with after an impact [s]
// After the two have parted, when feedback takes over: what falls from one instant may stand from the next [s].
constexpr double kHandOvers[] = {0, 0.05, 0.1, 0.2};
constexpr double kFades[] = {0.3, 0.6};  // in which what the impact left of a difference fades away [s]
constexpr double kSearchedFor = 1;       // before feedback takes over [s]
constexpr double kLongestAnswer = 4;     // by which the other one may need longer than it is asked to [s]
constexpr double kLongestFall = 15;      // and where it falls and gets up [s]
constexpr double kShareOfLowest = 0.8;   // of the least height of its root: what goes lower falls

double LowestRoot(const std::vector<character::Pose>& poses) {
  double lowest = std::numeric_limits<double>::infinity();
  for (const character::Pose& pose : poses) lowest = std::min(lowest, pose.root_position.y());
  return lowest;
}

/// For how long it stays within tolerance [s].
double Holds(const OtherCharacter& other) {
  const metrics::Gate* const left = other.evaluation.FirstViolated();
  return left != nullptr ? left->first_violation : other.evaluation.simulated_duration;
}

std::string HowItGoesOn(const OtherCharacter& other) {
  if (other.undisturbed) return " goes on as it is";
  return " is led back to its own motion as far as " + io::Fixed(other.reached, 2) + " s";
}

}  // namespace

void OtherCharacters::LeadBack() {
  const auto steps = static_cast<int>(struck_.whole().num_steps());
  for (size_t c = 0; c < problem_.run.scene.characters.size(); ++c) {
    if (c == ResponseProblem::kReceiver || !problem_.run.characters[c].reference) continue;
    OtherCharacter& other = found_.emplace_back();
    other.character = c;
    LeadBack(other);
    if (hooks_.on_line) hooks_.on_line("character " + std::to_string(c + 1) + HowItGoesOn(other));
  }
  struck_.Simulate(steps);
}

bool OtherCharacters::TrackBack() {
  const auto steps = static_cast<int>(struck_.whole().num_steps());
  const std::vector<std::vector<control::Fragment>> before = struck_.others();
  for (size_t c = 0; c < problem_.run.scene.characters.size(); ++c) {
    if (c == ResponseProblem::kReceiver || !problem_.run.characters[c].reference) continue;
    OtherCharacter& other = found_.emplace_back();
    other.character = c;
    if (TrackBack(other)) continue;
    found_.clear();
    struck_.others() = before;
    return false;
  }
  struck_.Simulate(steps);
  return true;
}

void OtherCharacters::LeadBack(OtherCharacter& other) {
  if (TrackBack(other)) return;
  const Course course{struck_.whole(), struck_.StepAfter(problem_.impact.end())};
  if (!SearchThenTrackBack(course, other)) SearchBack(course, other);
}

/// By feedback, if its own control does not lead it on.
bool OtherCharacters::TrackBack(OtherCharacter& other) {
  const size_t c = other.character;
  const character::ReferenceMotion& own = *problem_.run.characters[c].reference;
  std::optional<metrics::Evaluator> evaluator = problem_.run.EvaluatorOf(c);
  evaluator->Add(struck_.OneOf(control::Replay(problem_.run.scene, problem_.pushes), c));
  other.own_end = own.duration();
  other.undisturbed = evaluator->Finish(problem_.run.expected_duration(c)).success();
  other.reached = own.duration();
  other.reference = PosesOf(own, other.reached);
  if (other.undisturbed) return true;
  const int parted = struck_.StepAfter(problem_.impact.end());
  // In contact, too, feedback does what it can; then the receiver is in its world, as it moves by itself.
  for (const double fade : kFades) {
    if (TrackBack({struck_.whole(), struck_.impact(), &problem_.control.fragments}, fade, other)) return true;
  }
  for (const double later : kHandOvers) {
    for (const double fade : kFades) {
      if (TrackBack({struck_.whole(), parted + struck_.StepOf(later)}, fade, other)) return true;
    }
  }
  return false;
}

/// Its own motion from a time on, at the end of which it comes to rest.
std::vector<character::Pose> OtherCharacters::OwnFrom(size_t character, double time, double until) const {
  const character::ReferenceMotion& own = *problem_.run.characters[character].reference;
  std::vector<character::Pose> poses(NumCompositionFrames(until - time));
  for (size_t f = 0; f < poses.size(); ++f) {
    RestingPoseAt(own, own.duration(), time + static_cast<double>(f) * kCompositionFrame, poses[f]);
  }
  return poses;
}

SegmentProblem OtherCharacters::ProblemOf(const Course& course, const std::vector<character::Pose>& poses,
                                          const character::State& start, int first_step, size_t character) const {
  const control::Scene& scene = problem_.run.scene;
  const bool alone = course.receiver == nullptr;
  SegmentProblem problem{scene.characters[character],
                         alone ? alone_[character].world : scene.world,
                         start,
                         first_step,
                         poses,
                         problem_.settings.configuration,
                         1,
                         1,
                         threads_,
                         hooks_.stop};
  problem.restarts = course.restarts;
  problem.lowest_root = kShareOfLowest * LowestRoot(poses);
  if (alone) return problem;
  problem.place = character;
  problem.restarts_companions = false;
  for (size_t c = 0; c < scene.characters.size(); ++c) {
    if (c == character) continue;
    problem.companions.push_back(
        {&scene.characters[c], c == ResponseProblem::kReceiver ? *course.receiver : struck_.others()[c]});
  }
  return problem;
}

/// By feedback to the end of its own motion; from there on it comes to rest as well as it can.
bool OtherCharacters::TrackBack(const Course& course, double fade, OtherCharacter& other, const Searched* searched) {
  const size_t c = other.character;
  const simulation::Layout layout = problem_.run.scene.layout();
  const int from = searched != nullptr ? searched->fragments.back().end_step() : course.from;
  const double time = from * struck_.h(), end = other.own_end;
  if (end - time < kLeastReturn || static_cast<size_t>(course.from) >= course.whole.states.size()) return false;
  const character::State& all = course.whole.states[static_cast<size_t>(course.from)];
  const character::State state = searched != nullptr ? searched->end : layout.StateOf(all, c);
  const character::Character& character = problem_.run.scene.characters[c];
  std::vector<character::Pose> poses = StartingFrom(character, state, OwnFrom(c, time, end), kCompositionFrame, fade);
  FoundSegment way = TrackSegment(ProblemOf(course, poses, course.receiver != nullptr ? all : state, from, c));
  other.cpu_seconds += way.cpu_seconds;
  if (!way.reached_end) return false;
  // Its own motion may end in a pose in which a body cannot stand: what follows has to be tried.
  const double until = problem_.impact.end() + problem_.settings.seconds + problem_.settings.stand + kLongestAnswer;
  const int ended = way.fragments.back().end_step();
  const character::State there = course.receiver != nullptr ? layout.StateOf(way.end_state, c) : way.end_state;
  FoundSegment rest;
  std::vector<character::Pose> resting;
  for (const bool as_it_is : {false, true}) {
    resting = OwnFrom(c, ended * struck_.h(), std::max(until, end + kLeastReturn));
    if (as_it_is) {
      for (character::Pose& pose : resting) {
        const Vec3 place = pose.root_position;
        character::PoseOf(character, there, pose);
        pose.root_position.x() += place.x() - resting.front().root_position.x();
        pose.root_position.z() += place.z() - resting.front().root_position.z();
      }
    }
    resting = StartingFrom(character, there, std::move(resting), kCompositionFrame);
    SegmentProblem problem = ProblemOf(course, resting, way.end_state, ended, c);
    rest = TrackSegment(problem);
    other.cpu_seconds += rest.cpu_seconds;
    if (rest.reached_end) break;
  }
  if (!rest.reached_end) {
    SegmentProblem problem = ProblemOf(course, resting, way.end_state, ended, c);
    problem.lowest_root = -1;
    rest = TrackSegment(problem);
  }
  double reached = static_cast<double>(ended - from) * struck_.h();
  poses.resize(NumCompositionFrames(reached));
  AppendPoses(character, resting, reached, poses);
  if (searched != nullptr) {
    const double before = static_cast<double>(from - course.from) * struck_.h();
    std::vector<character::Pose> followed = searched->poses;
    followed.resize(static_cast<size_t>(std::ceil(before / kCompositionFrame - 1e-9)));
    AppendPoses(character, poses, before, followed);
    poses = std::move(followed);
    way.fragments.insert(way.fragments.begin(), searched->fragments.begin(), searched->fragments.end());
    reached += before;
  }
  std::move(rest.fragments.begin(), rest.fragments.end(), std::back_inserter(way.fragments));
  way.reached = reached;
  Take(course, poses, way, other);
  other.by_feedback = true;
  return true;
}

/// A search over what is hard at first, in a world without the others; feedback from the last instant from which it
/// reaches the end of its own motion.
bool OtherCharacters::SearchThenTrackBack(const Course& course, OtherCharacter& other) {
  const size_t c = other.character;
  const double time = course.from * struck_.h();
  const double until = std::min(time + kSearchedFor, other.own_end);
  if (other.own_end - time < kLeastReturn || static_cast<size_t>(course.from) >= course.whole.states.size())
    return false;
  const character::State state =
      problem_.run.scene.layout().StateOf(course.whole.states[static_cast<size_t>(course.from)], c);
  Searched searched;
  searched.poses = StartingFrom(problem_.run.scene.characters[c], state, OwnFrom(c, time, until), kCompositionFrame);
  const Course alone{course.whole, course.from};
  const SegmentProblem problem = ProblemOf(alone, searched.poses, state, course.from, c);
  const FoundSegment way = SearchSegment(problem);
  other.cpu_seconds += way.cpu_seconds;
  if (way.fragments.empty()) return false;
  const control::Trajectory simulated = SimulateSegment(problem, way.fragments);
  searched.fragments = way.fragments;
  for (; !searched.fragments.empty(); searched.fragments.pop_back()) {
    const auto step = static_cast<size_t>(searched.fragments.back().end_step() - course.from);
    if (step >= simulated.states.size()) continue;
    searched.end = simulated.states[step];
    for (const double fade : kFades) {
      if (TrackBack(alone, fade, other, &searched)) return true;
    }
  }
  return false;
}

/// By a search of its own, in a world without the others.
bool OtherCharacters::SearchBack(const Course& course, OtherCharacter& other) {
  const size_t c = other.character;
  const double time = course.from * struck_.h();
  if (other.own_end - time < kLeastReturn || static_cast<size_t>(course.from) >= course.whole.states.size())
    return false;
  const character::State state =
      problem_.run.scene.layout().StateOf(course.whole.states[static_cast<size_t>(course.from)], c);
  // Where its own motion ends it comes to rest, for as long as the other one may need.
  const double until =
      std::max(other.own_end, time + problem_.impact.duration + problem_.settings.seconds + problem_.settings.stand);
  const std::vector<character::Pose> poses =
      StartingFrom(problem_.run.scene.characters[c], state, OwnFrom(c, time, until), kCompositionFrame);
  FoundSegment way = SearchSegment(ProblemOf({course.whole, course.from}, poses, state, course.from, c));
  other.cpu_seconds += way.cpu_seconds;
  Take(course, poses, way, other);
  other.by_feedback = false;
  return way.reached_end;
}

/// What is found becomes its control.
void OtherCharacters::Take(const Course& course, const std::vector<character::Pose>& poses, FoundSegment& way,
                           OtherCharacter& other) {
  other.from = course.from * struck_.h();
  other.reached = other.from + way.reached;
  std::vector<control::Fragment>& fragments = struck_.others()[other.character];
  fragments = control::Truncate(course.from, fragments);
  std::move(way.fragments.begin(), way.fragments.end(), std::back_inserter(fragments));
  const auto before = static_cast<size_t>(std::ceil(other.from / kCompositionFrame - 1e-9));
  const character::ReferenceMotion& own = *problem_.run.characters[other.character].reference;
  other.reference = PosesOf(own, own.duration());
  other.reference.resize(std::min(other.reference.size(), before));
  AppendPoses(problem_.run.scene.characters[other.character], poses, other.from, other.reference);
}

void OtherCharacters::LeadBackAgain(const control::Trajectory& whole, const std::vector<control::Fragment>& receiver,
                                    const std::function<bool()>& evaluate) {
  evaluate();
  // A search restores all characters where its fragments begin, and so does the replay.
  std::vector<int> restarts;
  for (const control::Fragment& fragment : receiver) {
    if (fragment.first_step >= struck_.exit()) restarts.push_back(fragment.first_step);
  }
  if (!receiver.empty()) restarts.push_back(receiver.back().end_step());
  const int parted = struck_.StepAfter(problem_.impact.end());
  const double last = LastTouch(whole);
  for (OtherCharacter& other : found_) {
    if (other.within()) continue;
    const OtherCharacter before = other;
    const std::vector<control::Fragment> fragments = struck_.others()[other.character];
    const auto holds = [&] { return evaluate() && (other.within() || Holds(other) > Holds(before)); };
    const auto undo = [&] {
      struck_.others()[other.character] = fragments;
      other = before;
    };
    bool led = false;
    std::vector<int> starts;
    for (const double later : kHandOvers) starts.push_back(parted + struck_.StepOf(later));
    if (last >= 0) starts.insert(starts.begin(), struck_.StepAfter(last));
    for (const int from : starts) {
      for (const double fade : kFades) {
        if (led || from < parted) continue;
        led = TrackBack({whole, from, &receiver, restarts}, fade, other) && holds();
        if (!led) undo();
      }
    }
    if (led || last < 0 || problem_.settings.kinematic) continue;
    SearchBack({whole, struck_.StepAfter(last)}, other);
    if (!holds()) undo();
  }
  evaluate();
}

void OtherCharacters::BlendBack() {
  const auto steps = static_cast<int>(struck_.whole().num_steps());
  const control::Scene& scene = problem_.run.scene;
  const simulation::Layout layout = scene.layout();
  const int parted = std::min(struck_.StepAfter(problem_.impact.end()), steps - 1);
  for (size_t c = 0; c < scene.characters.size(); ++c) {
    if (c == ResponseProblem::kReceiver || !problem_.run.characters[c].reference) continue;
    const character::ReferenceMotion& own = *problem_.run.characters[c].reference;
    OtherCharacter& other = found_.emplace_back();
    other.character = c;
    other.own_end = other.reached = own.duration();
    std::vector<character::State> simulated;
    for (int step = 0; step <= parted; ++step) simulated.push_back(layout.StateOf(struck_.WholeState(step), c));
    const double time = parted * struck_.h();
    character::State entered;
    own.StateAt(time, entered);
    const auto [heading, offset] = metrics::AlignOnGround(scene.characters[c], simulated.back(), entered);
    const double until = std::max(
        own.duration(), problem_.impact.end() + problem_.settings.seconds + problem_.settings.stand + kLongestFall);
    const BlendProblem blend = {scene.characters[c],
                                struck_.h(),
                                Blend::kMatched,
                                struck_.impact(),
                                std::max(1, struck_.impact()),
                                parted,
                                simulated,
                                [&, turn = heading, move = offset](double after, character::Pose& pose) {
                                  RestingPoseAt(own, own.duration(), time + after, pose);
                                  pose.root_position = turn * pose.root_position + move;
                                  pose.root_orientation = turn * pose.root_orientation;
                                },
                                until - time};
    control::KinematicEnding ending = BlendIn(blend);
    ending.character = c;
    other.from = ending.step * struck_.h();
    other.reference = PosesOf(own, own.duration());
    other.reference.resize(
        std::min(other.reference.size(), static_cast<size_t>(std::ceil(other.from / kCompositionFrame - 1e-9))));
    AppendPoses(scene.characters[c], ending.poses, other.from, other.reference);
    struck_.others()[c] = control::Truncate(ending.step, struck_.others()[c]);
    struck_.endings_of_others().push_back(std::move(ending));
    if (hooks_.on_line) {
      hooks_.on_line("character " + std::to_string(c + 1) + " is blended back into its own motion at " +
                     io::Fixed(other.from, 2) + " s");
    }
  }
  struck_.Simulate(steps);
}

void OtherCharacters::EndWith(double duration) {
  for (control::KinematicEnding& ending : struck_.endings_of_others()) {
    const auto other = std::find_if(found_.begin(), found_.end(),
                                    [&](const OtherCharacter& one) { return one.character == ending.character; });
    const double until = std::max(duration, other->own_end) - ending.first_step * struck_.h();
    const size_t frames = std::max<size_t>(2, NumCompositionFrames(until));
    if (ending.poses.size() > frames) ending.poses.resize(frames);
    const size_t followed = NumCompositionFrames(std::max(duration, other->own_end));
    if (other->reference.size() > followed) other->reference.resize(followed);
  }
}

/// Since when no character touches the one that responds; negative where none did after the delay [s].
double OtherCharacters::LastTouch(const control::Trajectory& whole) const {
  double last = -1;
  for (double from = std::max(struck_.exit_time(), problem_.impact.end());;) {
    const std::optional<ContactEpisode> touch =
        FirstImpact(whole, problem_.run.scene.layout(), ResponseProblem::kReceiver, from);
    if (!touch) return last;
    from = last = touch->end;
  }
}

void OtherCharacters::ListAll() {
  for (size_t c = 0; c < problem_.run.characters.size(); ++c) {
    if (c == ResponseProblem::kReceiver || !problem_.run.characters[c].reference) continue;
    OtherCharacter& other = found_.emplace_back();
    other.character = c;
    other.own_end = other.reached = problem_.run.characters[c].reference->duration();
    other.reference = PosesOf(*problem_.run.characters[c].reference, other.reached);
  }
}

}  // namespace retrace::runs
