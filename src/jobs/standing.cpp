#include "retrace/jobs/standing.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "retrace/character/builder.h"
#include "retrace/character/kinematics.h"
#include "retrace/character/legs.h"
#include "retrace/control/control_file.h"
#include "retrace/control/reference_targets.h"
#include "retrace/io/csv_writer.h"
#include "retrace/io/error.h"
#include "retrace/io/number.h"
#include "retrace/math/random.h"
#include "retrace/methods/idling/problem.h"
#include "retrace/methods/idling/support.h"
#include "retrace/metrics/posture.h"
#include "retrace/motion_editing/balancing.h"
#include "retrace/parallel/rank_report.h"
#include "retrace/parallel/task_farm.h"
#include "retrace/parallel/thread_farm.h"
#include "retrace/planning/viability/continuation.h"
#include "retrace/runs/inputs/character_input.h"
#include "retrace/runs/inputs/data_files.h"
#include "retrace/runs/libraries/control_library.h"
#include "retrace/runs/stored/run_files.h"
#include "retrace/simulation/solver_in_use.h"

namespace retrace::runs {
namespace {

using character::Pose;
using character::State;

constexpr double kFrame = 1.0 / 120;                     // [s]
constexpr double kShortestHold = 0.3, kLongestHold = 2;  // of a key [s]
constexpr double kShortestMove = 1, kLongestMove = 2.5;  // from key to key [s]
constexpr double kVelocityInterval = 1.0 / 60;           // [s]
constexpr int kSavedShare = 5;                           // samples for each that is saved
constexpr double kPasses = 14;                           // of a search, which its budget has room for
constexpr const char* kPostureOfStanding = "standing";

std::vector<InputName> InputsOf(const StandingOptions& options) {
  return {{kKeysRole, FindKeys(options.keys)}, {"character", FindCharacter(options.character)}};
}

character::Character ReadCharacter(const StandingOptions& options, std::span<const InputFile> files) {
  const InputFile& file = *FindInput(files, "character");
  const auto character = ParseCharacterFile(file);
  return idling::WithGain(character, options.gain);
}

/// The feet of a pose put where they are to stand: ankles, and orientations of the feet.
class Feet {
 public:
  Feet(const character::Character& character, const Pose& pose)
      : character_(character), legs_(character::LegsOf(character)) {
    const State state = StateOf(pose);
    for (const character::Leg& leg : legs_) {
      ankles_.push_back(AnkleOf(leg, state));
      orientations_.push_back(FootOf(leg, state).orientation);
    }
  }

  bool empty() const { return legs_.empty(); }
  std::vector<Vec3> Places(const State& state) const {
    std::vector<Vec3> places;
    for (const character::Leg& leg : legs_) places.push_back(FootOf(leg, state).position);
    return places;
  }

  void Keep(Pose& pose) const {
    const State state = StateOf(pose);
    for (size_t l = 0; l < legs_.size(); ++l) {
      const Quat tilt = orientations_[l] * FootOf(legs_[l], state).orientation.conjugate();
      character::BendLeg(character_, legs_[l], state, {ankles_[l], tilt.normalized()}, pose);
    }
  }

 private:
  State StateOf(const Pose& pose) const {
    State state;
    character::ForwardKinematics(character_, pose, state);
    return state;
  }
  const character::BodyState& FootOf(const character::Leg& leg, const State& state) const {
    return state[static_cast<size_t>(character_.joints[static_cast<size_t>(leg.ankle)].child)];
  }
  Vec3 AnkleOf(const character::Leg& leg, const State& state) const {
    const character::Joint& ankle = character_.joints[static_cast<size_t>(leg.ankle)];
    const auto foot = static_cast<size_t>(ankle.child);
    return state[foot].position + state[foot].orientation * (ankle.anchor - character_.bodies[foot].rest_position);
  }

  const character::Character& character_;
  std::vector<character::Leg> legs_;
  std::vector<Vec3> ankles_;
  std::vector<Quat> orientations_;
};

KeyPoses ReadKeys(std::span<const InputFile> files, const character::Character& character) {
  KeyPoses keys = ParseKeyPoses(*FindInput(files, kKeysRole), character);
  double floor = 0;
  for (idling::KeyPose& key : keys.poses) {
    const double height = character.bodies[static_cast<size_t>(character.root)].rest_position.y();
    if (key.pose.root_position.y() < kStandingRoot * height) {
      throw InputError(key.place, "a pose that lies or sits", "one that stands, as all keys of the file do");
    }
    State state;
    character::ForwardKinematics(character, key.pose, state);
    if (&key == &keys.poses.front()) {
      floor = state[0].position.y();
      for (size_t b = 0; b < state.size(); ++b) {
        floor = std::min(floor, character::LowestPoint(character.bodies[b], state[b]));
      }
    }
    key.pose.root_position.y() -= floor;
  }
  const Feet feet(character, keys.poses.front().pose);
  if (feet.empty()) {
    throw InputError(keys.poses.front().place, "key poses for a character without legs that can be put down",
                     "one with a ball joint at hip and ankle");
  }
  for (idling::KeyPose& key : keys.poses) feet.Keep(key.pose);
  return keys;
}

std::vector<StandingPart> MakeParts(const StandingOptions& options, size_t num_keys) {
  std::vector<StandingPart> parts;
  size_t at = 0;
  double time = 0;
  for (uint32_t p = 0; time < options.duration; ++p) {
    RandomStream random(options.seed, RandomStage::kIdlingPlay, p, 0);
    const double hold = random.Uniform(kShortestHold, kLongestHold), move = random.Uniform(kShortestMove, kLongestMove);
    parts.push_back({at, at, time, time + hold});
    time += hold;
    if (num_keys < 2) continue;
    const auto other = static_cast<size_t>(random.Uniform(0, static_cast<double>(num_keys - 1)));
    const size_t next = std::min(other, num_keys - 2);
    const size_t to = next < at ? next : next + 1;
    parts.push_back({at, to, time, time + move});
    time += move;
    at = to;
  }
  std::erase_if(parts, [&](const StandingPart& part) { return part.start >= options.duration; });
  parts.back().end = std::min(parts.back().end, options.duration);
  return parts;
}

/// From key to key with the least jerk, the feet where they are, and the root moved so that they can carry it.
character::ReferenceMotion MakeMotion(const StandingOptions& options, const character::Character& character,
                                      const KeyPoses& keys, const std::vector<StandingPart>& parts) {
  const Feet feet(character, keys.poses.front().pose);
  const auto frames = static_cast<size_t>(std::lround(options.duration / kFrame)) + 1;
  std::vector<Pose> poses(frames);
  size_t p = 0;
  for (size_t f = 0; f < frames; ++f) {
    const double time = static_cast<double>(f) * kFrame;
    while (p + 1 < parts.size() && time >= parts[p + 1].start) ++p;
    const double x = std::clamp((time - parts[p].start) / (parts[p].end - parts[p].start), 0.0, 1.0);
    const double share = x * x * x * (10 - 15 * x + 6 * x * x);
    character::Interpolate(keys.poses[parts[p].from].pose, keys.poses[parts[p].to].pose, share, poses[f]);
    feet.Keep(poses[f]);
  }
  const character::ReferenceMotion motion(character, kFrame, std::move(poses), kVelocityInterval);
  return motion.WithPoses(task::BalanceMotion(motion, {}, simulation::WorldOptions{}.gravity).poses);
}

task::Preparation PrepareTask(const character::ReferenceMotion& reference) {
  task::Options options;
  options.world.solver = simulation::SolverInUse(options.world);
  return task::Prepare(options, reference);
}

sampling::Options SearchOptions(const StandingOptions& options) {
  sampling::Options search;
  search.samples = options.samples;
  search.selection.saved = std::max(1, options.samples / kSavedShare);
  search.growth = 1;
  search.refinement.samples = 0.5;
  search.seed = options.seed;
  search.restart.samples = 0;
  search.budget = std::max(kPasses * options.samples, 1000.0);
  return search;
}

/// When servos that are driven at the reference itself, without any search, exceed the tolerances [s].
double ServosAlone(const StandingJob& job) {
  control::OpenLoopControl naive{job.problem.task.world, job.problem.task.start, {}};
  const std::vector<int>& steps = job.problem.task.schedule.steps;
  for (size_t i = 0; i + 1 < steps.size(); ++i) {
    control::Fragment& fragment = naive.fragments.emplace_back();
    fragment.first_step = steps[i];
    fragment.num_steps = steps[i + 1] - steps[i];
    fragment.targets.resize(static_cast<size_t>(job.problem.options.target_knots));
  }
  SetTargetsToReference(job.reference, naive.world.time_step, naive.fragments);
  metrics::Evaluator evaluator(job.character, job.reference, job.problem.task.gates);
  control::ReplayInParts(control::MakeScene(job.character, naive), {}, StepsPerPart(naive.world.time_step),
                         [&](const control::Trajectory& part) { evaluator.Add(part); });
  const metrics::Evaluation evaluation = evaluator.Finish(job.problem.task.duration());
  const metrics::Gate* const left = evaluation.FirstViolated();
  if (left != nullptr) return left->first_violation;
  return evaluation.completed ? std::numeric_limits<double>::infinity() : evaluation.simulated_duration;
}

}  // namespace

bool AreStanding(const std::string& keys) {
  const std::vector<InputFile> files = ReadInputs({{kKeysRole, FindKeys(keys)}});
  const io::Json document = files.front().Parse();
  return document.is_object() && document.value("posture", io::Json()) == kPostureOfStanding;
}

StandingJob::StandingJob(const StandingOptions& o) : StandingJob(o, ReadInputs(InputsOf(o))) {}

StandingJob::StandingJob(const StandingOptions& o, std::span<const InputFile> files)
    : options(o),
      inputs(RecordsOf(files)),
      character(ReadCharacter(o, files)),
      keys(ReadKeys(files, character)),
      parts(MakeParts(o, keys.poses.size())),
      reference(MakeMotion(o, character, keys, parts)),
      preparation(PrepareTask(reference)),
      problem{preparation.task, SearchOptions(o)} {
  inputs.insert(inputs.end(), keys.clips.begin(), keys.clips.end());
}

Standing Stand(const StandingJob& job, int threads, const sampling::Hooks& hooks) {
  Standing result;
  const auto farm = parallel::MakeThreadFarm(threads, sampling::MakeWorkerFactory(job.problem));
  result.search = sampling::Run(job.problem, *farm, hooks);
  const control::OpenLoopControl& control = result.search.control;
  metrics::Evaluator evaluator(job.character, job.reference, job.problem.task.gates);
  const Feet feet(job.character, job.reference.poses().front());
  const std::vector<Vec3> places = feet.Places(control.start);
  State end = control.start;
  control::ReplayInParts(control::MakeScene(job.character, control), {}, StepsPerPart(control.world.time_step),
                         [&](const control::Trajectory& part) {
                           evaluator.Add(part);
                           result.diverged = part.diverged;
                           for (size_t i = 0; i < part.num_steps(); ++i) {
                             const State& state = part.states[i + 1];
                             result.mean_joint_rate += idling::JointRate(job.character, state);
                             const std::vector<Vec3> now = feet.Places(state);
                             for (size_t f = 0; f < now.size(); ++f) {
                               const double creep = std::hypot(now[f].x() - places[f].x(), now[f].z() - places[f].z());
                               result.largest_creep = std::max(result.largest_creep, creep);
                             }
                             ++result.num_steps;
                           }
                           end = part.states.back();
                         });
  result.servos_alone = ServosAlone(job);
  result.mean_joint_rate /= std::max<double>(1, static_cast<double>(result.num_steps));
  result.evaluation = evaluator.Finish(job.problem.task.duration());
  if (!control.fragments.empty() && control::Fingerprint(end) != control::Fingerprint(result.search.end)) {
    throw std::logic_error("the replay does not end in the state that the search found");
  }
  return result;
}

void WriteStanding(results::RunFolder& folder, const StandingJob& job, const Standing& result,
                   const RunContext& context) {
  const control::OpenLoopControl& control = result.search.control;
  control::WriteControl(job.character, control,
                        [&](std::string_view piece) { folder.Append(results::kControlFile, piece); });
  folder.FinishFiles();
  const std::string title = job.inputs.front().name.path.stem().string();
  MotionWriter writer(folder, "", {job.character, control.world, &job.reference, title, result.num_steps});
  control::ReplayInParts(control::MakeScene(job.character, control), {}, StepsPerPart(control.world.time_step),
                         [&](const control::Trajectory& part) { writer.Add(part); });
  writer.Finish();
  io::CsvWriter csv;
  for (const char* column : {"start", "end", "from", "to"}) csv.Text(column);
  csv.EndRow();
  for (const StandingPart& part : job.parts) {
    csv.Number(part.start);
    csv.Number(part.end);
    csv.Text(job.keys.poses[part.from].name);
    csv.Text(job.keys.poses[part.to].name);
    csv.EndRow();
  }
  folder.Write(results::kIdlingFile, csv.Take());
  const bool whole = result.search.reached_end();
  io::Json manifest = {
      {"format", results::kRunFormat},
      {"version", 2},
      {"program", "idle"},
      {"status", whole ? "completed" : "partial"},
      {"success", result.success()},
      {"evaluation", result.evaluation.ToJson()},
      {"command", context.command},
      {"seed", job.options.seed},
      {"options", {{"duration", job.options.duration}, {"gain", job.options.gain}, {"samples", job.options.samples}}},
      {"inputs", ToJson(job.inputs)},
      {"preparation", job.preparation.ToJson()},
      {"idling",
       {{"posture", kPostureOfStanding},
        {"ending", task::Name(result.search.ending)},
        {"reference", "the key poses one after the other, feet in place: kinematic"},
        {"largest_creep", result.largest_creep},
        {"mean_joint_rate", result.mean_joint_rate},
        {"servos_alone", std::isfinite(result.servos_alone) ? io::Json(result.servos_alone) : io::Json()},
        {"back_offs", result.search.back_offs},
        {"simulated_seconds_per_second", result.search.simulated_seconds / std::max(1e-9, control.duration())},
        {"cpu_seconds", result.search.cpu_seconds}}},
      {"solver", simulation::DescribeSolver(control.world)}};
  manifest["provenance"] = results::Provenance(context.timer != nullptr ? *context.timer : result.timer, {});
  FinishWith(folder, std::move(manifest));
}

std::string Describe(const StandingJob& job, const Standing& result) {
  const double duration = std::max(1e-9, result.search.control.duration());
  return Describe(result.evaluation, job.problem.task.duration(), result.diverged) + "  feet creep by at most " +
         io::Fixed(100 * result.largest_creep, 1) + " cm, " + io::Fixed(result.mean_joint_rate, 3) +
         " rad/s in the mean\n  servos alone " +
         (std::isfinite(result.servos_alone) ? "exceed the tolerances after " + io::Fixed(result.servos_alone, 2) + " s"
                                             : std::string("stay within tolerance, too")) +
         "\n  " + io::Fixed(result.search.simulated_seconds / duration, 2) +
         " simulated seconds per second, gone back " + std::to_string(result.search.back_offs) + " times, " +
         io::Fixed(result.search.cpu_seconds, 1) + " CPU s\n";
}

}  // namespace retrace::runs
