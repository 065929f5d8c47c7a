#include "retrace/jobs/idling.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "retrace/character/kinematics.h"
#include "retrace/control/control_file.h"
#include "retrace/io/csv_writer.h"
#include "retrace/io/error.h"
#include "retrace/io/number.h"
#include "retrace/math/rotation.h"
#include "retrace/methods/idling/judge.h"
#include "retrace/methods/idling/relax.h"
#include "retrace/methods/idling/support.h"
#include "retrace/runs/inputs/character_input.h"
#include "retrace/runs/inputs/data_files.h"
#include "retrace/runs/inputs/world_input.h"
#include "retrace/runs/stored/run_files.h"
#include "retrace/simulation/solver_in_use.h"

namespace retrace::runs {
namespace {

std::vector<InputName> InputsOf(const IdlingOptions& options) {
  std::vector<InputName> names = {{kKeysRole, FindKeys(options.keys)}, {"character", FindCharacter(options.character)}};
  size_t number = 0;
  for (const std::filesystem::path& file : WorldFiles(options.worlds)) names.push_back({WorldRole(++number), file});
  return names;
}

character::Character ReadRelaxedCharacter(const IdlingOptions& options, std::span<const InputFile> files,
                                          const task::WorldVariation& world) {
  const InputFile& file = *FindInput(files, "character");
  const auto character = ParseCharacterFile(file);
  return idling::WithGain(task::WithLoads(character, world), options.options.gain);
}

task::WorldVariation ReadWorld(std::span<const InputFile> files) {
  task::WorldVariation world = ParseWorlds(files);
  const bool changes = world.follow_ground || world.feet_on_ground || world.legs_on_line;
  if (!world.scatters.empty() || changes) {
    throw UsageError("the world " + io::List(world.names) +
                     ": found things along a recorded way, or changes of a recorded motion, expected neither: idling "
                     "has no recording");
  }
  return world;
}

size_t FindKey(const KeyPoses& keys, const std::string& name, const std::string& text) {
  std::vector<std::string> names;
  for (size_t k = 0; k < keys.poses.size(); ++k) {
    if (keys.poses[k].name == name) return k;
    names.push_back(keys.poses[k].name);
  }
  throw UsageError("the choice " + text + ": found the key \"" + name + "\", expected one of " + io::List(names));
}

/// "FROM:TO:NUMBER[,NUMBER]...".
idling::Choice ParseChoice(const std::string& text, const KeyPoses& keys, int paths) {
  const size_t first = text.find(':');
  const size_t second = first == std::string::npos ? first : text.find(':', first + 1);
  if (second == std::string::npos) throw UsageError("found the choice \"" + text + "\", expected FROM:TO:NUMBERS");
  idling::Choice choice;
  choice.leg = {FindKey(keys, text.substr(0, first), text),
                FindKey(keys, text.substr(first + 1, second - first - 1), text)};
  const char* at = text.data() + second + 1;
  const char* const end = text.data() + text.size();
  for (;;) {
    int number = 0;
    const auto [next, error] = std::from_chars(at, end, number);
    if (error != std::errc() || number < 1 || number > paths || (next != end && *next != ',')) {
      throw UsageError("found the choice \"" + text + "\", expected numbers of paths from 1 to " +
                       std::to_string(paths) + " with commas between");
    }
    choice.numbers.push_back(number);
    if (next == end) return choice;
    at = next + 1;
  }
}

idling::Problem MakeProblem(const IdlingJob& job) {
  idling::Problem problem;
  problem.character = &job.character;
  problem.world.environment = job.world.environment;
  if (job.world.gravity) problem.world.gravity = *job.world.gravity;
  problem.world.solver = simulation::SolverInUse(problem.world);
  problem.keys = job.keys.poses;
  problem.options = job.options.options;
  for (const std::string& text : job.options.choices) {
    problem.choices.push_back(ParseChoice(text, job.keys, problem.options.paths));
  }
  return problem;
}

io::Json IdlingMember(const IdlingJob& job, const Idling& result) {
  const idling::Summary& summary = result.summary;
  io::Json keys = io::Json::array();
  for (const idling::RelaxedKey& key : summary.keys) {
    keys.push_back({{"name", key.name}, {"joint_rate", key.joint_rate}, {"at_rest", key.at_rest}});
  }
  io::Json pairs = io::Json::array();
  for (const idling::PairOfKeys& pair : summary.pairs) {
    io::Json paths = io::Json::array();
    for (const idling::Path& path : summary.paths) {
      if (path.from != pair.leg.from || path.to != pair.leg.to) continue;
      paths.push_back({{"duration", path.num_steps() * job.problem.world.time_step},
                       {"drives", path.drives.size()},
                       {"distance", path.distance},
                       {"extensions", path.nodes},
                       {"removed", path.removed},
                       {"smoothed", path.smoothed}});
    }
    pairs.push_back({{"from", summary.keys[pair.leg.from].name},
                     {"to", summary.keys[pair.leg.to].name},
                     {"found", pair.found},
                     {"paths", paths}});
  }
  const std::string carrier =
      summary.object < 0 ? "ground" : job.world.environment.ObjectName(static_cast<size_t>(summary.object));
  return {{"ending", Name(summary.status)},
          {"carried_by", carrier},
          {"keys", keys},
          {"pairs", pairs},
          {"invalid_steps", result.invalid_steps},
          {"largest_root_offset", result.largest_root_offset},
          {"mean_joint_rate", result.mean_joint_rate},
          {"largest_turn_of_carrier", result.largest_turn},
          {"dead_ends", summary.dead_ends},
          {"planning_simulated_seconds", summary.planning_seconds},
          {"simulated_seconds_per_second", summary.SimulatedSecondsPerSecond()},
          {"cpu_seconds", summary.cpu_seconds}};
}

io::Json IdlingManifest(const IdlingJob& job, const Idling& result, const RunContext& context) {
  const bool whole = result.summary.status == idling::Status::kReachedEnd;
  io::Json manifest = {{"format", results::kRunFormat},
                       {"version", 2},
                       {"program", "idle"},
                       {"status", whole ? "completed" : Name(result.summary.status)}};
  manifest["success"] = result.success();
  manifest["command"] = context.command;
  manifest["options"] = io::Write(job.options.options);
  manifest["choices"] = job.options.choices;
  manifest["seed"] = job.options.options.seed;
  manifest["inputs"] = ToJson(job.inputs);
  manifest["idling"] = IdlingMember(job, result);
  manifest["solver"] = simulation::DescribeSolver(job.problem.world);
  manifest["provenance"] = results::Provenance(context.timer != nullptr ? *context.timer : result.timer, {});
  return manifest;
}

void ForEachPart(const IdlingJob& job, const Idling& result,
                 const std::function<void(const control::Trajectory& part)>& observe) {
  const control::OpenLoopControl& control = result.summary.control;
  control::ReplayInParts(control::MakeScene(job.character, control), {}, StepsPerPart(control.world.time_step),
                         observe);
}

/// From the root of a key to where it came to rest [m].
double RootDistance(const IdlingJob& job, size_t key, const idling::RelaxedKey& relaxed) {
  character::State state;
  character::ForwardKinematics(job.character, job.keys.poses[key].pose, state);
  const auto root = static_cast<size_t>(job.character.root);
  return (relaxed.settled[root].position - state[root].position).norm();
}

}  // namespace

IdlingJob::IdlingJob(const IdlingOptions& o) : IdlingJob(o, ReadInputs(InputsOf(o))) {}

IdlingJob::IdlingJob(const IdlingOptions& o, std::span<const InputFile> files)
    : options(o),
      inputs(RecordsOf(files)),
      world(ReadWorld(files)),
      character(ReadRelaxedCharacter(o, files, world)),
      keys(ParseKeyPoses(*FindInput(files, kKeysRole), character)),
      problem(MakeProblem(*this)) {
  inputs.insert(inputs.end(), keys.clips.begin(), keys.clips.end());
}

bool Idling::success() const {
  return summary.status == idling::Status::kReachedEnd && !diverged && invalid_steps == 0;
}

Idling Idle(const IdlingJob& job, const idling::Hooks& hooks) {
  Idling result;
  result.summary = idling::Run(job.problem, hooks);
  const idling::Summary& summary = result.summary;
  const idling::Support support = idling::FindSupport(job.problem, summary.keys);
  idling::Judge judge(job.problem, support, summary.keys);
  size_t at = 0;
  character::State end = summary.control.start;
  ForEachPart(job, result, [&](const control::Trajectory& part) {
    result.diverged = part.diverged;
    for (size_t i = 0; i < part.num_steps(); ++i) {
      const auto step = static_cast<int>(part.first_step + i);
      while (at + 1 < summary.played.size() && step >= summary.played[at + 1].first_step) ++at;
      const character::State& state = part.states[i + 1];
      const idling::Leg leg = summary.played[at].leg;
      result.invalid_steps += judge.IsValid(state, part.contacts[i], leg) ? 0 : 1;
      result.largest_root_offset = std::max(result.largest_root_offset, judge.RootOffset(state, leg));
      result.mean_joint_rate += idling::JointRate(job.character, state);
      result.largest_turn = std::max(result.largest_turn, support.Turn(summary.control.start, state));
      ++result.num_steps;
    }
    end = part.states.back();
  });
  result.mean_joint_rate /= std::max<double>(1, static_cast<double>(result.num_steps));
  if (control::Fingerprint(end) != control::Fingerprint(summary.end)) {
    throw std::logic_error("the control does not end in the state that was planned");
  }
  return result;
}

void WriteIdling(results::RunFolder& folder, const IdlingJob& job, const Idling& result, const RunContext& context) {
  const control::OpenLoopControl& control = result.summary.control;
  control::WriteControl(job.character, control,
                        [&](std::string_view piece) { folder.Append(results::kControlFile, piece); });
  folder.FinishFiles();
  const std::string title = job.inputs.front().name.path.stem().string();
  MotionWriter writer(folder, "", {job.character, control.world, nullptr, title, result.num_steps});
  ForEachPart(job, result, [&](const control::Trajectory& part) { writer.Add(part); });
  writer.Finish();
  folder.Write(results::kIdlingFile, FormatIdling(result.summary, control.world.time_step));
  FinishWith(folder, IdlingManifest(job, result, context));
}

std::string FormatIdling(const idling::Summary& summary, double time_step) {
  io::CsvWriter csv;
  for (const char* column : {"start", "end", "from", "to", "path", "candidates"}) csv.Text(column);
  csv.EndRow();
  for (const idling::Played& played : summary.played) {
    csv.Number(played.first_step * time_step);
    csv.Number((played.first_step + played.num_steps) * time_step);
    csv.Text(summary.keys[played.leg.from].name);
    csv.Text(summary.keys[played.leg.to].name);
    csv.Integer(played.path < 0 ? 0 : summary.paths[static_cast<size_t>(played.path)].number);
    csv.Integer(played.candidates);
    csv.EndRow();
  }
  return csv.Take();
}

std::string Describe(const IdlingJob& job, const Idling& result) {
  const idling::Summary& summary = result.summary;
  std::string text;
  for (const idling::RelaxedKey& key : summary.keys) {
    text.append("  key ").append(key.name).append(": ");
    text.append(key.at_rest ? "at rest" : "not at rest, " + io::Fixed(key.joint_rate, 2) + " rad/s");
    const size_t k = static_cast<size_t>(&key - summary.keys.data());
    if (const double distance = RootDistance(job, k, key); distance > job.options.options.root_limit) {
      text.append(", its root ")
          .append(io::Fixed(distance, 2))
          .append(" m from where the key has it: nothing in this ");
      text.append("world carries it there");
    }
    text.append("\n");
  }
  size_t complete = 0;
  for (const idling::PairOfKeys& pair : summary.pairs) {
    if (pair.found == job.problem.options.paths) {
      ++complete;
      continue;
    }
    text.append("  ")
        .append(std::to_string(pair.found))
        .append(" of ")
        .append(std::to_string(job.problem.options.paths));
    text.append(" paths from ").append(summary.keys[pair.leg.from].name).append(" to ");
    text.append(summary.keys[pair.leg.to].name).append("\n");
  }
  text.append("  ").append(std::to_string(complete)).append(" of ").append(std::to_string(summary.pairs.size()));
  text.append(" pairs of keys have ").append(std::to_string(job.problem.options.paths)).append(" paths\n");
  text.append("  ")
      .append(std::to_string(result.invalid_steps))
      .append(" of ")
      .append(std::to_string(result.num_steps));
  text.append(" steps invalid, root at most ").append(io::Fixed(100 * result.largest_root_offset, 1));
  text.append(" cm off its keys, ").append(io::Fixed(result.mean_joint_rate, 3)).append(" rad/s in the mean\n");
  if (result.largest_turn > 0) {
    text.append("  what carries the character turns by up to ").append(io::Fixed(Degrees(result.largest_turn), 1));
    text.append(" degrees\n");
  }
  text.append("  ").append(io::Fixed(summary.SimulatedSecondsPerSecond(), 2)).append(" simulated seconds per second, ");
  text.append(io::Fixed(summary.planning_seconds, 0)).append(" for keys and paths, ");
  text.append(std::to_string(summary.dead_ends)).append(" dead ends, ").append(io::Fixed(summary.cpu_seconds, 1));
  return text.append(" CPU s\n");
}

}  // namespace retrace::runs
