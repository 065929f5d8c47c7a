#include "kinematic_response.h"

#include <span>
#include <vector>

#include "kinematic_blend.h"
#include "retrace/control/cutting.h"
#include "retrace/metrics/state_distance.h"
#include "retrace/planning/segments/frame_sequence.h"

namespace retrace::runs {
namespace {

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

}  // namespace

bool BlendInto(const ImpactSimulation& struck, const ResponseCandidate& candidate, Response& result) {
  const ResponseProblem& problem = struck.problem();
  const character::Character& character = struck.character();
  const int exit = struck.exit(), enters = struck.impact() + struck.StepOf(candidate.start);
  std::vector<control::Fragment>& all = result.control.fragments;
  const bool goes_on = struck.GoesOnUntil(candidate);
  all = control::Truncate(goes_on ? enters : exit, problem.control.fragments);
  if (!goes_on && enters > exit) all.push_back(CommandsOf(struck, candidate, enters));
  const control::Trajectory second = goes_on ? struck.OwnFromExit() : struck.SecondSimulation(candidate, 1);
  std::vector<character::State> simulated(struck.naive().states.begin(), struck.naive().states.begin() + exit + 1);
  simulated.insert(simulated.end(), second.states.begin() + 1, second.states.end());
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
  const control::Trajectory shown = control::Replay(character, result.control, problem.pushes);
  result.blend = MeasureBlend(blend, *result.control.ending, shown.states, simulated);
  result.blend->hidden_impulse = candidate.hidden_impulse;
  result.blend->hidden_share = problem.impact.impulse > 0 ? candidate.hidden_impulse / problem.impact.impulse : 0;
  result.reference = PosesOf(*problem.run.characters[ResponseProblem::kReceiver].reference, problem.impact.start);
  AppendStates(character, shown.states, struck.h(), result.reference);
  return result.blend->smooth();
}

}  // namespace retrace::runs
