#include "retrace/runs/stored/stored_scene.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "retrace/control/pushes.h"
#include "retrace/control/reference_targets.h"
#include "retrace/io/error.h"
#include "retrace/io/number.h"
#include "retrace/io/split_text.h"
#include "retrace/math/rotation.h"

namespace retrace::runs {
namespace {

/// A reference turned and moved, of a character that is equal to its own.
character::ReferenceMotion Placed(const character::ReferenceMotion& reference, const character::Character& character,
                                  const Placement& placement) {
  const Quat heading = AxisRotation(1, placement.heading);
  std::vector<character::Pose> poses = reference.poses();
  for (character::Pose& pose : poses) {
    pose.root_position = heading * pose.root_position + placement.offset;
    pose.root_orientation = heading * pose.root_orientation;
  }
  return reference.Of(character).WithPoses(std::move(poses));
}

/// Options of the world in which two runs differ, but for what is there besides the characters.
std::vector<std::string> DifferingOptions(const simulation::WorldOptions& a, const simulation::WorldOptions& b) {
  std::vector<std::string> names;
  const io::Json json_a = a.ToJson();
  const io::Json json_b = b.ToJson();
  for (const auto& [name, value] : json_a.items()) {
    const bool of_characters = name == "contact_scale" || name == "environment";
    if (!of_characters && value != json_b[name]) names.push_back(name);
  }
  return names;
}

/// What is kinematic of a scene is taken away: what was shown after the end of the simulation is then driven at.
void MakePhysical(control::Scene& scene) {
  scene.transitions.clear();
  scene.beginning.reset();
  for (const control::KinematicEnding& ending : std::exchange(scene.endings, {})) {
    const int steps = ending.end_step(scene.world.time_step) - ending.step;
    control::Fragment& last = scene.fragments[ending.character].emplace_back();
    last.first_step = ending.step;
    last.num_steps = steps;
    last.targets.resize(static_cast<size_t>(steps) + 1);
  }
}

}  // namespace

task::PlacedWorld PutInto(const task::WorldVariation& world, StoredRun& run) {
  run.RequireOneCharacter("a world is placed along the motion of one (put its run there first, and let others join)");
  std::optional<character::ReferenceMotion>& reference = run.characters[0].reference;
  if (!reference) {
    throw InputError(run.characters[0].reference_file.string(), "no such file",
                     "the reference, which the place of a world follows from");
  }
  for (const control::Push& push : run.AllPushes()) {
    if (!run.scene.layout().IsFree(push.body)) continue;
    throw UsageError(run.folder.string() + ": found a push on " + control::BodyName(run.scene, push.body) +
                     ", expected none on what is not in another world");
  }
  run.scene.characters[0] = task::WithLoads(run.scene.characters[0], world);
  task::PlacedWorld placed = task::PlaceWorld(world, *reference);
  reference.emplace(placed.reference);
  if (world.gravity) run.scene.world.gravity = *world.gravity;
  run.scene.start = run.scene.layout().StateOf(run.scene.start, 0);
  run.scene.world.environment = placed.environment;
  run.scene.world.environment.AppendStart(run.scene.start);
  return placed;
}

std::vector<std::string> Join(const StoredRun& other, const Placement& placement, StoredRun& run) {
  std::vector<std::string> notes;
  const std::string name = other.folder.string();
  const std::vector<std::string> differing = DifferingOptions(run.scene.world, other.scene.world);
  if (!differing.empty()) {
    notes.push_back(name + " was made in a world with another " + io::List(differing) + "; here that of " +
                    run.folder.string() + " holds");
  }
  if (!other.AllPushes().empty()) notes.push_back(name + " was made under pushes, which are left out");
  const std::vector<ControlInput> added = other.controls;  // a run may join itself
  const size_t joining = other.characters.size();
  for (size_t c = 0; c < joining; ++c) {
    try {
      control::AddToScene(other.scene.characters[c], control::ControlOf(other.scene, c),
                          AxisRotation(1, placement.heading), placement.offset, run.scene);
    } catch (const UsageError& error) {
      throw UsageError(name + ": " + error.what());
    }
    RunCharacter& joined = run.characters.emplace_back(other.characters[c]);
    joined.placement = placement.After(joined.placement);
    if (joined.reference) joined.reference = Placed(*joined.reference, run.scene.characters.back(), placement);
    const size_t number = run.characters.size();
    const auto root = static_cast<size_t>(run.scene.layout().BodyOf(number - 1, run.scene.characters.back().root));
    const Vec3& at = run.scene.start[root].position;
    notes.push_back("character " + std::to_string(number) + " is " + run.scene.characters.back().name + " of " + name +
                    ", which starts at x " + io::Fixed(at.x(), 2) + ", z " + io::Fixed(at.z(), 2) + " m");
  }
  // The characters of the scene may have moved to another position in memory.
  for (size_t c = 0; c < run.characters.size(); ++c) {
    auto& reference = run.characters[c].reference;
    if (reference) reference = reference->Of(run.scene.characters[c]);
  }
  run.controls.insert(run.controls.end(), added.begin(), added.end());
  return notes;
}

control::Scene NaiveTracking(const StoredRun& run) {
  control::Scene tracking = run.scene;
  if (run.characters[0].reference) MakePhysical(tracking);
  for (size_t c = 0; c < run.characters.size(); ++c) {
    if (!run.characters[c].reference) continue;
    SetTargetsToReference(*run.characters[c].reference, run.scene.world.time_step, tracking.fragments[c]);
  }
  return tracking;
}

void TrackReference(StoredRun& run) {
  for (const RunCharacter& character : run.characters) {
    if (character.reference) continue;
    throw InputError(character.reference_file.string(), "no such file", "the reference to track");
  }
  // Not the whole scene: references point to its characters.
  run.scene.fragments = NaiveTracking(run).fragments;
  run.scene.transitions.clear();
  run.scene.endings.clear();
}

JoiningRun ParseJoiningRun(const std::string& text) {
  const auto refuse = [&](const std::string& found) {
    std::string message = "the other run \"" + text + "\"";
    message.append(": found ").append(found).append(", expected OTHER, OTHER,X,Z or OTHER,X,Z,HEADING: the folder of ");
    throw UsageError(message.append("a run, meters up to 1000, and degrees"));
  };
  const std::vector<std::string> parts = io::Split(text, ',');
  if (parts.size() == 2 || parts.size() > 4) refuse(std::to_string(parts.size()) + " parts between commas");
  if (parts[0].empty()) refuse("no folder");
  const auto number = [&](size_t part, double limit) {
    double value = 0;
    if (part >= parts.size()) return value;
    // Written so that NaN is refused, too.
    if (!io::ParseNumber(parts[part], value) || !(std::abs(value) <= limit)) refuse("\"" + parts[part] + "\"");
    return value;
  };
  constexpr double kFarAway = 1000;  // [m] a simulation that goes further has diverged
  const Vec3 offset(number(1, kFarAway), 0, number(2, kFarAway));
  return {parts[0], {Radians(number(3, 360)), offset}};
}

}  // namespace retrace::runs
