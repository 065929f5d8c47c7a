#include "kinematic_response.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "kinematic_blend.h"
#include "retrace/character/approach.h"
#include "retrace/control/cutting.h"
#include "retrace/metrics/foot_slide.h"
#include "retrace/metrics/state_distance.h"
#include "retrace/planning/segments/frame_sequence.h"

namespace retrace::runs {
namespace {

constexpr double kLookedAt = 1.0 / 15;  // between instants at which bodies are looked for in one another [s]
constexpr double kApart = 0.1;          // after an impact, from when on they are to be apart [s]
constexpr double kTouchDepth = 0.01;    // by which the bodies of both together are in one another where they touch [m]

/// What the servos of the second simulation do from the exit on.
control::Fragment CommandsOf(const ImpactSimulation& struck, const ResponseCandidate& candidate, int end) {
  CrossfadeController servos = struck.ServosOf(candidate, 1);
  const simulation::Layout layout = struck.problem().run.scene.layout();
  const character::State unused;
  control::Fragment fragment{struck.exit(), end - struck.exit(), {}};
  for (int step = struck.exit(); step < end; ++step) {
    servos.Command({step, step * struck.h(), unused, layout, 0},
                   fragment.commands.emplace_back(struck.character().joints.size()));
  }
  return fragment;
}

/// With shapes that are smaller all around: bodies that touch are in one another by less.
character::Character Smaller(character::Character character, double by) {
  for (character::Body& body : character.bodies) {
    for (character::Shape& shape : body.shapes) {
      shape.radius = std::max(0.5 * shape.radius, shape.radius - by);
      shape.size = (shape.size - Vec3::Constant(2 * by)).cwiseMax(0.5 * shape.size);
    }
  }
  return character;
}

/// For how long a body of another character is in one of the receiver's, from a step on and after the impact [s]:
/// before, bodies that are simulated meet one another.
double ThroughOneAnother(const ImpactSimulation& struck, const control::Scene& scene, const control::Trajectory& whole,
                         int begin) {
  const simulation::Layout layout = scene.layout();
  const int every = std::max(1, struck.StepOf(kLookedAt));
  const int from = std::max(begin, struck.StepAfter(struck.problem().impact.end() + kApart));
  double through = 0;
  const character::Character receiver = Smaller(struck.character(), 0.5 * kTouchDepth);
  for (size_t c = 0; c < scene.characters.size(); ++c) {
    if (c == ResponseProblem::kReceiver) continue;
    const character::Character other = Smaller(scene.characters[c], 0.5 * kTouchDepth);
    for (auto s = static_cast<size_t>(from); s < whole.states.size(); s += static_cast<size_t>(every)) {
      const character::BodyPair pair =
          character::NearestBodies(receiver, layout.StateOf(whole.states[s], ResponseProblem::kReceiver), other,
                                   layout.StateOf(whole.states[s], c));
      if (pair.distance <= 0) through += every * struck.h();
    }
  }
  return through;
}

}  // namespace

bool BlendInto(const ImpactSimulation& struck, const LedCandidate& led, Response& result) {
  const ResponseCandidate& candidate = led.candidate;
  const ResponseProblem& problem = struck.problem();
  const character::Character& character = struck.character();
  const int exit = struck.exit(), enters = struck.impact() + struck.StepOf(candidate.start);
  std::vector<control::Fragment>& all = result.control.fragments;
  const bool goes_on = struck.GoesOnUntil(candidate);
  std::vector<character::State> simulated;
  if (led.lead) {
    all = control::Truncate(exit, problem.control.fragments);
    all.insert(all.end(), led.lead->fragments.begin(), led.lead->fragments.end());
    all = control::Truncate(enters, all);
    simulated = led.lead->states;
  } else {
    all = control::Truncate(goes_on ? enters : exit, problem.control.fragments);
    if (!goes_on && enters > exit) all.push_back(CommandsOf(struck, candidate, enters));
    const control::Trajectory second = goes_on ? struck.OwnFromExit() : struck.SecondSimulation(candidate, 1);
    simulated.assign(struck.naive().states.begin(), struck.naive().states.begin() + exit + 1);
    simulated.insert(simulated.end(), second.states.begin() + 1, second.states.end());
  }
  character::State entered;
  struck.MotionOf(candidate).StateAt(candidate.time, entered);
  const auto [heading, offset] = metrics::AlignOnGround(
      character, problem.settings.paper ? struck.NaiveState(enters) : simulated[static_cast<size_t>(enters)], entered);
  const BlendProblem blend = {character,
                              struck.h(),
                              problem.settings.blend,
                              struck.impact(),
                              exit,
                              enters,
                              std::span(simulated).first(static_cast<size_t>(enters) + 1),
                              [&, turn = heading, move = offset](double time, character::Pose& pose) {
                                struck.PoseOf(candidate, candidate.time + time, pose);
                                pose.root_position = turn * pose.root_position + move;
                                pose.root_orientation = turn * pose.root_orientation;
                              },
                              candidate.end + struck.StandOf(candidate) - candidate.time};
  result.control.ending = BlendIn(blend);
  all = control::Truncate(result.control.ending->step, all);
  control::Trajectory whole, shown;
  const auto show = [&] {
    whole = control::Replay(struck.SceneOf(result.control, false), problem.pushes);
    shown = struck.OneOf(whole, ResponseProblem::kReceiver);
    shown.states.resize(std::min(shown.states.size(), static_cast<size_t>(result.control.num_steps()) + 1));
  };
  show();
  // Jumps are those of the blend; then the motion is lifted, which makes none.
  result.blend = MeasureBlend(blend, *result.control.ending, shown.states, simulated);
  if (!problem.settings.paper) {
    result.blend->lifted = LiftOutOfFloor(character, *result.control.ending);
    if (result.blend->lifted > 0) show();
  }
  const auto from = static_cast<size_t>(result.control.ending->first_step);
  const auto to = std::min(static_cast<size_t>(std::lround(result.blend->to / struck.h())), shown.states.size() - 1);
  const std::span<const character::State> states(shown.states);
  result.blend->penetration = metrics::DeepestPoint(character, states.subspan(from, std::max(to, from) - from + 1));
  result.blend->deepest = metrics::DeepestPoint(character, states.subspan(from));
  result.blend->through = ThroughOneAnother(struck, struck.SceneOf(result.control, false), whole, enters);
  result.blend->hidden_impulse = candidate.hidden_impulse;
  result.blend->hidden_share = problem.impact.impulse > 0 ? candidate.hidden_impulse / problem.impact.impulse : 0;
  result.reference = PosesOf(*problem.run.characters[ResponseProblem::kReceiver].reference, problem.impact.start);
  AppendStates(character, shown.states, struck.h(), result.reference);
  return result.blend->acceptable();
}

}  // namespace retrace::runs
