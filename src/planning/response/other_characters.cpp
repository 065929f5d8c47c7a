#include "other_characters.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "retrace/control/cutting.h"
#include "retrace/io/number.h"
#include "retrace/planning/response/contact_episodes.h"
#include "retrace/planning/segments/frame_sequence.h"
#include "retrace/planning/segments/joined_control.h"
#include "retrace/planning/segments/motion_start.h"
#include "retrace/planning/segments/rest.h"
#include "retrace/planning/segments/segment_search.h"

namespace retrace::runs {
namespace {

constexpr double kLeastReturn = 0.2;  // of another's own motion, to go on with after an impact [s]

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

void OtherCharacters::LeadBack(OtherCharacter& other) {
  const size_t c = other.character;
  const character::ReferenceMotion& own = *problem_.run.characters[c].reference;
  std::optional<metrics::Evaluator> evaluator = problem_.run.EvaluatorOf(c);
  evaluator->Add(struck_.OneOf(control::Replay(problem_.run.scene, problem_.pushes), c));
  other.undisturbed = evaluator->Finish(problem_.run.expected_duration(c)).success();
  other.reached = own.duration();
  other.reference = PosesOf(own, other.reached);
  if (!other.undisturbed) LeadBackFrom(struck_.whole(), struck_.StepAfter(problem_.blow.end()), other);
}

/// From a state of a motion of all characters on, by a search of its own.
void OtherCharacters::LeadBackFrom(const control::Trajectory& whole, int from, OtherCharacter& other) {
  const size_t c = other.character;
  const control::Scene& scene = problem_.run.scene;
  const ResponseSettings& o = problem_.settings;
  const character::ReferenceMotion& own = *problem_.run.characters[c].reference;
  const double time = from * struck_.h();
  if (own.duration() - time < kLeastReturn || static_cast<size_t>(from) >= whole.states.size()) return;
  const character::State state = scene.layout().StateOf(whole.states[static_cast<size_t>(from)], c);
  // Where its own motion ends it comes to rest, for as long as the other one may need.
  const double left = std::max(own.duration() - time, problem_.blow.duration + o.seconds + o.stand);
  std::vector<character::Pose> poses(NumCompositionFrames(left));
  for (size_t f = 0; f < poses.size(); ++f) {
    RestingPoseAt(own, own.duration(), time + static_cast<double>(f) * kCompositionFrame, poses[f]);
  }
  poses = StartingFrom(scene.characters[c], state, std::move(poses), kCompositionFrame);
  const control::OpenLoopControl control = control::ControlOf(scene, c);
  FoundSegment way = SearchSegment(
      {scene.characters[c], control.world, state, from, poses, o.configuration, 1, 1, threads_, hooks_.stop});
  other.from = time;
  other.cpu_seconds += way.cpu_seconds;
  other.reached = time + way.reached;
  std::vector<control::Fragment>& fragments = struck_.others()[c];
  fragments = control::Truncate(from, fragments);
  std::move(way.fragments.begin(), way.fragments.end(), std::back_inserter(fragments));
  const auto before = static_cast<size_t>(std::ceil(time / kCompositionFrame - 1e-9));
  other.reference.resize(std::min(other.reference.size(), before));
  AppendPoses(scene.characters[c], poses, time, other.reference);
}

void OtherCharacters::LeadBackAgain(const control::Trajectory& whole, const std::function<bool()>& evaluate) {
  evaluate();
  const double last = LastTouch(whole);
  if (last < 0) return;
  for (OtherCharacter& other : found_) {
    if (other.evaluation.success()) continue;
    const OtherCharacter before = other;
    const std::vector<control::Fragment> fragments = struck_.others()[other.character];
    LeadBackFrom(whole, struck_.StepAfter(last), other);
    if (evaluate() && Holds(other) > Holds(before)) continue;
    struck_.others()[other.character] = fragments;
    other = before;
  }
}

/// Since when no character touches the one that responds; negative where none did after the delay [s].
double OtherCharacters::LastTouch(const control::Trajectory& whole) const {
  double last = -1;
  for (double from = std::max(struck_.exit_time(), problem_.blow.end());;) {
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
    other.reached = problem_.run.characters[c].reference->duration();
    other.reference = PosesOf(*problem_.run.characters[c].reference, other.reached);
  }
}

}  // namespace retrace::runs
