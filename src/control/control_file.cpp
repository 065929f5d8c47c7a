#include "retrace/control/control_file.h"

#include <cmath>

#include "retrace/io/error.h"
#include "retrace/io/file.h"
#include "retrace/io/number.h"

namespace retrace::control {
namespace {

using character::Character;
using io::Json;
using io::JsonView;

/// Name of an entry of a state: a body of the character, or one of the world that moves freely.
const std::string& NameOf(const Character& character, const simulation::Environment& environment, size_t b) {
  const size_t own = character.bodies.size();
  return b < own ? character.bodies[b].name : environment.bodies.at(b - own).name;
}

Json StateToJson(const Character& character, const simulation::Environment& environment,
                 const character::State& state) {
  Json bodies = Json::array();
  for (size_t b = 0; b < state.size(); ++b) {
    bodies.push_back({{"body", NameOf(character, environment, b)},
                      {"position", io::ToJson(state[b].position)},
                      {"orientation", io::ToJson(state[b].orientation)},
                      {"linear_velocity", io::ToJson(state[b].linear_velocity)},
                      {"angular_velocity", io::ToJson(state[b].angular_velocity)}});
  }
  return bodies;
}

character::State ReadState(const JsonView& view, const Character& character,
                           const simulation::Environment& environment) {
  const size_t count = character.bodies.size() + environment.bodies.size();
  if (view.size() != count) view.Expect("an array of " + std::to_string(count) + ", one entry per body");
  character::State state(count);
  for (size_t b = 0; b < state.size(); ++b) {
    const JsonView body = view[b];
    body.AllowOnly({"body", "position", "orientation", "linear_velocity", "angular_velocity"});
    const std::string& name = NameOf(character, environment, b);
    if (body["body"].String() != name) body["body"].Expect("\"" + name + "\"");
    state[b].position = body["position"].Vector();
    state[b].orientation = io::ReadQuaternion(body["orientation"]);
    state[b].linear_velocity = body["linear_velocity"].Vector();
    state[b].angular_velocity = body["angular_velocity"].Vector();
  }
  return state;
}

Fragment ReadFragment(const JsonView& view, const Character& character, double time_step, int first_step) {
  view.AllowOnly({"start", "duration", "steps", "targets"});
  Fragment fragment;
  fragment.first_step = first_step;
  fragment.num_steps = view["steps"].Integer(1, 1000000);
  const auto check_time = [&](const char* key, int steps) {
    const double time = view[key].Number();
    if (std::abs(time - steps * time_step) > 1e-6 * time_step * (steps + 1)) {
      view[key].Expect(io::Number(steps * time_step) + " (steps times time_step)");
    }
  };
  check_time("start", fragment.first_step);
  check_time("duration", fragment.num_steps);
  for (const JsonView& pose : view["targets"].Elements()) {
    if (pose.size() != character.joints.size()) {
      pose.Expect("an array of " + std::to_string(character.joints.size()) + " quaternions, one per joint");
    }
    TargetPose target;
    for (const JsonView& rotation : pose.Elements()) target.push_back(io::ReadQuaternion(rotation));
    fragment.targets.push_back(std::move(target));
  }
  if (fragment.targets.empty()) view["targets"].Expect("at least one target pose");
  return fragment;
}

}  // namespace

std::string FormatControl(const Character& character, const OpenLoopControl& control) {
  Json document;
  document["format"] = "retrace-control";
  document["version"] = 1;
  document["units"] = "SI; radians; y up; quaternions as [w, x, y, z]; a target is a joint's rotation, child to parent";
  document["world"] = control.world.ToJson();
  document["joints"] = Json::array();
  for (const auto& joint : character.joints) document["joints"].push_back(joint.name);
  document["start_state"] = StateToJson(character, control.world.environment, control.start);
  document["fragments"] = Json::array();
  for (const Fragment& fragment : control.fragments) {
    Json targets = Json::array();
    for (const TargetPose& target : fragment.targets) {
      Json pose = Json::array();
      for (const Quat& q : target) pose.push_back(io::ToJson(q));
      targets.push_back(std::move(pose));
    }
    document["fragments"].push_back({{"start", fragment.first_step * control.world.time_step},
                                     {"duration", fragment.num_steps * control.world.time_step},
                                     {"steps", fragment.num_steps},
                                     {"targets", std::move(targets)}});
  }
  document["character"] = character.json;
  // One line per member and per fragment: small, and two controls can still be compared line by line.
  std::string text = "{\n";
  for (const auto& [key, value] : document.items()) {
    text += text.size() > 2 ? ",\n" : "";
    text += "\"" + key + "\": ";
    if (key == "fragments" || key == "start_state") {
      text += "[";
      bool first = true;
      for (const auto& entry : value) {
        text += (first ? "\n  " : ",\n  ") + entry.dump();
        first = false;
      }
      text += "\n]";
    } else {
      text += value.dump();
    }
  }
  return text + "\n}\n";
}

LoadedControl ParseControl(const std::string& text, const std::string& name) {
  const Json document = io::ParseJson(text, name);
  const JsonView view(document, name);
  view.AllowOnly({"format", "version", "units", "world", "joints", "start_state", "fragments", "character"});
  if (view["format"].String() != "retrace-control") view["format"].Expect("\"retrace-control\"");
  view["version"].Integer(1, 1);
  LoadedControl loaded;
  loaded.character = character::ParseCharacter(view["character"].json(), name + ": /character");
  loaded.control.world = simulation::ReadWorldOptions(view["world"], loaded.character.joints.size());
  std::vector<std::string> names;
  for (const character::Joint& joint : loaded.character.joints) names.push_back(joint.name);
  if (view["joints"].Strings() != names) {
    view["joints"].Fail("another list of joints", "the joints of the character in its order");
  }
  loaded.control.start = ReadState(view["start_state"], loaded.character, loaded.control.world.environment);
  int first_step = 0;
  for (const JsonView& fragment : view["fragments"].Elements()) {
    loaded.control.fragments.push_back(
        ReadFragment(fragment, loaded.character, loaded.control.world.time_step, first_step));
    first_step += loaded.control.fragments.back().num_steps;
  }
  return loaded;
}

LoadedControl LoadControl(const std::filesystem::path& path) {
  return ParseControl(io::ReadFile(path), path.string());
}

}  // namespace retrace::control
