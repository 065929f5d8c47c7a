#include "composition_builder.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "retrace/character/kinematics.h"
#include "retrace/math/smooth_step.h"
#include "retrace/metrics/posture.h"
#include "retrace/metrics/state_distance.h"
#include "retrace/planning/segments/frame_sequence.h"

namespace retrace::runs {
namespace {

constexpr double kBlend = 0.3;          // in which a reference goes over from the state at hand to the motion [s]
constexpr double kBlendOnGround = 0.6;  // the same where the root is low [s]

template <typename Item>
std::vector<Item> Rest(const std::vector<Item>& all, size_t from) {
  return {all.begin() + static_cast<std::ptrdiff_t>(from), all.end()};
}

template <typename Item>
void AppendTo(std::vector<Item>& all, const std::vector<Item>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

}  // namespace

const character::State& StateOf(const LibraryControl& control, int step) {
  return control.states[std::min(static_cast<size_t>(step), control.states.size() - 1)];
}

CompositionBuilder::CompositionBuilder(const CompositionProblem& problem)
    : problem_(problem), character_(problem.controls[0].run.scene.characters[0]) {
  const LibraryControl& first = problem_.controls[problem_.play[0]];
  result_.control = first.control;
  const auto& reference = first.run.characters[0].reference;
  const size_t frames = NumCompositionFrames(first.control.duration());
  for (size_t f = 0; f < frames; ++f) {
    const double time = static_cast<double>(f) * kCompositionFrame;
    character::Pose& pose = result_.reference.emplace_back();
    if (reference) {
      reference->PoseAt(time, pose);
    } else {
      character::PoseOf(character_, StateOf(first, StepsIn(time)), pose);
    }
  }
  Add({0, problem_.play[0], 0, 0, 0, CompositionEvent::kPlan, 0});
  Simulate();
}

int CompositionBuilder::StepsIn(double seconds) const {
  return static_cast<int>(std::lround(seconds / h()));
}

CompositionBuilder::Snapshot CompositionBuilder::Take() const {
  return {result_.control.fragments, result_.control.transitions, result_.reference, result_.parts, actual_};
}

void CompositionBuilder::BackTo(const Snapshot& snapshot) {
  result_.control.fragments = snapshot.fragments;
  result_.control.transitions = snapshot.transitions;
  result_.reference = snapshot.reference;
  result_.parts = snapshot.parts;
  actual_ = snapshot.actual;
}

CompositionBuilder::Piece CompositionBuilder::Since(const Snapshot& before) const {
  return {Rest(result_.control.fragments, before.fragments.size()), Rest(result_.reference, before.reference.size()),
          Rest(actual_, before.actual.size())};
}

void CompositionBuilder::Again(const Snapshot& before, const Piece& piece) {
  BackTo(before);
  AppendTo(result_.control.fragments, piece.fragments);
  AppendTo(result_.reference, piece.reference);
  AppendTo(actual_, piece.actual);
}

void CompositionBuilder::Simulate() {
  actual_ = control::Replay(character_, result_.control, problem_.pushes).states;
}

void CompositionBuilder::FollowItself() {
  AppendStates(character_, actual_, h(), result_.reference);
}

bool CompositionBuilder::Play(const control::Fragment& fragment) {
  if (problem_.settings.transition == Transition::kKinematic) return PlayBehindABlend(fragment);
  control::OpenLoop open_loop({&fragment, 1});
  control::Controller* const controller = &open_loop;
  const character::Character* const character = &character_;
  control::Trajectory played =
      control::Simulate({&character, 1}, result_.control.world, actual_.back(), {&controller, 1}, fragment.first_step,
                        fragment.num_steps, problem_.pushes);
  if (played.diverged) return false;
  actual_.insert(actual_.end(), played.states.begin() + 1, played.states.end());
  result_.control.fragments.push_back(fragment);
  FollowItself();
  return true;
}

/// The same where the state at hand may be that of a blend, behind which the simulation has another one.
bool CompositionBuilder::PlayBehindABlend(const control::Fragment& fragment) {
  result_.control.fragments.push_back(fragment);
  Simulate();
  const bool sane = actual_.size() == static_cast<size_t>(result_.control.num_steps()) + 1;
  if (sane) FollowItself();
  return sane;
}

void CompositionBuilder::CutOff(int exit, double own_from) {
  std::erase_if(result_.control.fragments,
                [&](const control::Fragment& fragment) { return fragment.first_step >= exit; });
  std::erase_if(result_.control.transitions,
                [&](const control::KinematicTransition& transition) { return transition.step >= exit; });
  std::erase_if(result_.parts, [&](const CompositionPart& part) { return part.first_step >= exit; });
  actual_.resize(static_cast<size_t>(exit) + 1);
  result_.reference.resize(std::min(NumCompositionFrames(own_from), result_.reference.size()));
  FollowItself();
}

/// How long a blend from a state lasts [s].
double CompositionBuilder::BlendFrom(const character::State& state) const {
  const auto root = static_cast<size_t>(character_.root);
  const bool low = state[root].position.y() < kLowRoot * character_.bodies[root].rest_position.y();
  return low ? kBlendOnGround : kBlend;
}

std::vector<character::Pose> CompositionBuilder::ReferenceFrom(const Cut& cut) const {
  const LibraryControl& control = problem_.controls[cut.control];
  const character::State& here = actual_[static_cast<size_t>(cut.exit_step)];
  const auto [heading, offset] = metrics::AlignOnGround(character_, here, StateOf(control, cut.step));
  const double duration = (control.control.num_steps() - cut.step) * h();
  const size_t frames = NumCompositionFrames(duration);
  const double blend = BlendFrom(here);
  character::Pose at_hand, first;
  character::PoseOf(character_, here, at_hand);
  std::vector<character::Pose> poses(frames);
  for (size_t f = 0; f < frames; ++f) {
    character::Pose& pose = poses[f];
    const double time = static_cast<double>(f) * kCompositionFrame;
    character::PoseOf(character_, StateOf(control, cut.step + StepsIn(time)), pose);
    pose.root_position = heading * pose.root_position + offset;
    pose.root_orientation = heading * pose.root_orientation;
    if (f == 0) first = pose;
    const double share = 1 - SmoothStep(std::min(1.0, time / blend));
    if (share > 0) character::MoveTowards(first, at_hand, share, pose);
  }
  return poses;
}

std::vector<control::Fragment> CompositionBuilder::FragmentsFrom(const Cut& cut) const {
  std::vector<control::Fragment> fragments;
  for (const control::Fragment& fragment : problem_.controls[cut.control].control.fragments) {
    if (fragment.first_step < cut.step) continue;
    fragments.push_back(fragment);
    fragments.back().first_step += cut.exit_step - cut.step;
  }
  return fragments;
}

double CompositionBuilder::Jump(const Cut& cut) {
  const character::State& here = actual_[static_cast<size_t>(cut.exit_step)];
  const character::State& state = StateOf(problem_.controls[cut.control], cut.step);
  const auto [heading, offset] = metrics::AlignOnGround(character_, here, state);
  const Vec3 change =
      heading * character::CenterOfMassVelocity(character_, state) - character::CenterOfMassVelocity(character_, here);
  jump_ = {cut.exit_step, BlendFrom(here), state, heading, offset};
  return character_.total_mass() * change.norm();
}

void CompositionBuilder::Append(const Way& way) {
  const double exit = way.cut.exit_step * h();
  CutOff(way.cut.exit_step, exit);
  AppendTo(result_.control.fragments, way.fragments);
  if (jump_) result_.control.transitions.push_back(*std::exchange(jump_, std::nullopt));
  AppendPoses(character_, way.reference, exit, result_.reference);
  Simulate();
  const bool as_searched = problem_.settings.transition == Transition::kSearched && !PushedAfter(way.cut.exit_step);
  if (as_searched && control::Fingerprint(actual_.back()) != way.end) {
    throw std::logic_error("the replay does not end in the state that the search found");
  }
}

bool CompositionBuilder::PushedAfter(int step) const {
  return std::any_of(problem_.pushes.begin(), problem_.pushes.end(), [&](const control::Push& push) {
    return push.start + push.duration > step * h() && push.start < result_.control.duration();
  });
}

Composition CompositionBuilder::Finish(const std::string& ending, bool stopped) {
  const character::ReferenceMotion reference(character_, kCompositionFrame, result_.reference, kCompositionFrame);
  result_.evaluation =
      metrics::Evaluate(character_, control::Replay(character_, result_.control, problem_.pushes), reference,
                        result_.control.duration(), problem_.settings.configuration.task.gates);
  result_.control.pushes = problem_.pushes;
  result_.ending = ending;
  result_.stopped = stopped;
  return std::move(result_);
}

}  // namespace retrace::runs
