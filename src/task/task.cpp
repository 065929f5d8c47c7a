#include "retrace/task/task.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "retrace/character/kinematics.h"
#include "retrace/character/limits.h"
#include "retrace/io/error.h"
#include "retrace/io/number.h"

namespace retrace::task {
namespace {

/// The contact preset for all motions: arms and ankles. It acts only on a limb that touches the ground, so that it
/// changes nothing where the paper has none but the ankles of a walk, which it makes as stiff as those of a run.
const char* const kAllContacts = "hands_and_flight";

void CheckNumberOfSteps(const character::ReferenceMotion& motion, double time_step) {
  const double steps = motion.duration() / time_step;
  if (steps <= character::kMostSteps) return;
  throw UsageError("/simulation/time_step: found " + io::Number(time_step) + " for a motion of " +
                   io::Fixed(motion.duration(), 2) + " s, expected at least " +
                   io::Number(motion.duration() / character::kMostSteps) + ": a simulation has at most " +
                   std::to_string(character::kMostSteps) + " steps");
}

/// A control file could not be read that began elsewhere.
void CheckStart(const character::Character& character, const character::State& start) {
  for (size_t b = 0; b < character.bodies.size(); ++b) {
    const double distance = start[b].position.cwiseAbs().maxCoeff();
    if (character::kPositions.Contains(distance)) continue;
    throw UsageError("the start: found " + character.bodies[b].name + " " + io::Number(distance) +
                     " m from the origin, expected at most " + io::Number(character::kPositions.max) + " m");
  }
}

}  // namespace

double DepthInGround(const character::Character& character, const character::State& state) {
  double lowest = 0;
  for (size_t b = 0; b < state.size(); ++b) {
    const character::Part part = character.bodies[b].part;
    if (part == character::Part::kHand || part == character::Part::kLowerArm) continue;
    lowest = std::min(lowest, character::LowestPoint(character.bodies[b], state[b]));
  }
  return -lowest;
}

character::State StartState(const character::ReferenceMotion& reference, double& raised) {
  character::State state;
  reference.StateAt(0, state);
  raised = DepthInGround(reference.character(), state);
  character::Translate(state, Vec3(0, raised, 0));
  return state;
}

io::Json Preparation::ToJson() const {
  io::Json boundaries = io::Json::array();
  for (const Boundary& boundary : task.schedule.boundaries) {
    boundaries.push_back({{"time", boundary.time}, {"reason", boundary.reason}});
  }
  return {{"motion", kind.ToJson()},
          {"cost_preset", cost_preset},
          {"cost_weights",
           {{"pose", task.weights.pose},
            {"root", task.weights.root},
            {"end_effector", task.weights.end_effector},
            {"balance", task.weights.balance},
            {"drift", task.weights.drift}}},
          {"contact_preset", contact_preset},
          {"start_raised", start_raised},
          {"iterations", task.schedule.num_iterations()},
          {"segment_boundaries", boundaries}};
}

Preparation Prepare(const Options& options, const character::ReferenceMotion& reference,
                    const character::ReferenceMotion* recorded, const simulation::Environment* ground) {
  if (const auto problem = options.Validate()) throw UsageError(*problem);
  Preparation preparation;
  const character::Character& character = reference.character();
  const character::ReferenceMotion& motion = recorded != nullptr ? *recorded : reference;
  preparation.kind = ClassifyMotion(motion, ground);
  const MotionKind kind = preparation.kind.kind;
  Task& task = preparation.task;
  task.character = &character;
  task.reference = &reference;
  task.world = options.world;
  task.gates = options.gates;

  task.cost = options.cost;
  preparation.cost_preset = options.cost_preset == "automatic" ? Name(kind) : options.cost_preset;
  task.weights = options.cost_custom;
  for (const MotionKind k :
       {MotionKind::kLocomotion, MotionKind::kFlight, MotionKind::kHands, MotionKind::kGetUp, MotionKind::kRoll}) {
    if (preparation.cost_preset == Name(k)) task.weights = PresetWeights(k);
  }

  task.weights.drift = options.drift_weight;

  const bool by_kind = options.contact_preset == "paper";
  const bool choose = by_kind || options.contact_preset == "automatic";
  preparation.contact_preset = by_kind ? PresetContacts(kind) : choose ? kAllContacts : options.contact_preset;
  const auto preset = character.contact_presets.find(preparation.contact_preset);
  if (preset != character.contact_presets.end()) {
    task.world.contact_scale = preset->second;
  } else if (choose) {
    preparation.contact_preset = "none";  // a character need not have any
  } else {
    std::string names;
    for (const auto& [name, scales] : character.contact_presets) names += (names.empty() ? "" : ", ") + name;
    throw UsageError("/contacts/preset: found \"" + options.contact_preset +
                     "\", expected automatic, paper or one of " + names);
  }

  const bool on_feet = kind == MotionKind::kLocomotion || kind == MotionKind::kFlight;
  CheckNumberOfSteps(motion, task.world.time_step);
  task.schedule = MakeSchedule(motion, task.world.time_step, options.schedule, on_feet, ground);
  task.start = StartState(reference, preparation.start_raised);
  CheckStart(character, task.start);
  task.world.environment.AppendStart(task.start);
  return preparation;
}

}  // namespace retrace::task
