#include "retrace/control/control_file.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <span>

#include "retrace/character/limits.h"
#include "retrace/control/pushes.h"
#include "retrace/io/error.h"
#include "retrace/io/file.h"
#include "retrace/io/number.h"

namespace retrace::control {
namespace {

using character::Character;
using io::Json;
using io::JsonView;

constexpr const char* kUnits =
    "SI; radians; y up; quaternions as [w, x, y, z]; a target is a joint's rotation, child to parent";

/// Members of version 3.
constexpr const char* kUnitsWithCommands =
    "SI; radians; y up; quaternions as [w, x, y, z]; a target is a joint's rotation, child to parent; a torque is "
    "on the child, in the parent's axes; a gain is a factor on the servo's kp and kd";

/// Members of version 4, and of version 5 with kinematic transitions.
constexpr const char* kUnitsWithTransitions =
    "SI; radians; y up; quaternions as [w, x, y, z]; a target is a joint's rotation, child to parent; a torque is "
    "on the child, in the parent's axes; a gain is a factor on the servo's kp and kd; at a kinematic transition the "
    "simulation goes on from another state, which no force leads to";

/// Members of version 6 with several characters.
constexpr const char* kUnitsOfKinematicScene =
    "SI; radians; y up; quaternions as [w, x, y, z]; a target is a joint's rotation, child to parent; a torque is "
    "on the child, in the parent's axes; a gain is a factor on the servo's kp and kd; before the first fragment "
    "begins, "
    "and of a character from the step of its kinematic ending on, poses are shown, which are not simulated";

/// Members of version 5 with a kinematic ending.
constexpr const char* kUnitsWithEnding =
    "SI; radians; y up; quaternions as [w, x, y, z]; a target is a joint's rotation, child to parent; a torque is "
    "on the child, in the parent's axes; a gain is a factor on the servo's kp and kd; from the step of the kinematic "
    "ending on nothing is simulated, and poses are shown";

constexpr size_t kMostTargets = 1000;  // of a fragment
constexpr io::Range kTorques{-1e6, 1e6};
constexpr io::Range kGains{0, 1e6};

/// One body of a state. `character` is counted from 1 and left out where it is 0.
Json BodyToJson(const std::string& name, const character::BodyState& body, size_t character) {
  Json json;
  if (character > 0) json["character"] = character;
  json["body"] = name;
  json["position"] = io::ToJson(body.position);
  json["orientation"] = io::ToJson(body.orientation);
  json["linear_velocity"] = io::ToJson(body.linear_velocity);
  json["angular_velocity"] = io::ToJson(body.angular_velocity);
  return json;
}

/// What a body of a state is called, and of which character it is, counted from 1; 0: it is free, or there is only one.
struct NamedBody {
  std::string name;
  size_t character = 0;
};

std::vector<NamedBody> NamesOf(const std::vector<const Character*>& characters,
                               const simulation::Environment& environment) {
  std::vector<NamedBody> names;
  for (size_t c = 0; c < characters.size(); ++c) {
    for (const character::Body& body : characters[c]->bodies) {
      names.push_back({body.name, characters.size() > 1 ? c + 1 : 0});
    }
  }
  for (const simulation::FreeBody& body : environment.bodies) names.push_back({body.name, 0});
  return names;
}

Json StateToJson(const std::vector<NamedBody>& names, const character::State& state) {
  Json bodies = Json::array();
  for (size_t b = 0; b < state.size(); ++b) {
    bodies.push_back(BodyToJson(names.at(b).name, state[b], names[b].character));
  }
  return bodies;
}

character::State ReadState(const JsonView& view, const std::vector<NamedBody>& names) {
  if (view.size() != names.size()) {
    view.Expect("an array of " + std::to_string(names.size()) + ", one entry per body");
  }
  character::State state(names.size());
  for (size_t b = 0; b < state.size(); ++b) {
    const JsonView body = view[b];
    if (names[b].character > 0) {
      body.AllowOnly({"character", "body", "position", "orientation", "linear_velocity", "angular_velocity"});
      const int number = static_cast<int>(names[b].character);
      body["character"].Integer(number, number);
    } else {
      body.AllowOnly({"body", "position", "orientation", "linear_velocity", "angular_velocity"});
    }
    if (body["body"].String() != names[b].name) body["body"].Expect("\"" + names[b].name + "\"");
    state[b].position = body["position"].Vector(character::kPositions);
    state[b].orientation = io::ReadQuaternion(body["orientation"]);
    state[b].linear_velocity = body["linear_velocity"].Vector(character::kStateVelocities);
    state[b].angular_velocity = body["angular_velocity"].Vector(character::kStateVelocities);
  }
  return state;
}

/// One entry per joint.
std::vector<JsonView> JointElements(const JsonView& view, const Character& character, const std::string& what) {
  if (view.size() != character.joints.size()) {
    view.Expect("an array of " + std::to_string(character.joints.size()) + " " + what + ", one per joint");
  }
  return view.Elements(character.joints.size());
}

/// Torques and gains of each step, beside the targets that were read; these are then no longer needed.
void ReadCommands(const JsonView& view, const Character& character, Fragment& fragment) {
  const size_t steps = view["targets"].size() == 1 ? 1 : static_cast<size_t>(fragment.num_steps);
  for (const char* key : {"targets", "torques", "gains"}) {
    if (view[key].size() != steps) {
      view[key].Expect("an array of " + std::to_string(steps) +
                       (steps == 1 ? " for all steps" : ", one entry per step"));
    }
  }
  fragment.commands.assign(steps, std::vector<simulation::JointCommand>(character.joints.size()));
  for (size_t step = 0; step < steps; ++step) {
    const std::vector<JsonView> torques = JointElements(view["torques"][step], character, "torques");
    const std::vector<JsonView> gains = JointElements(view["gains"][step], character, "gains");
    for (size_t j = 0; j < character.joints.size(); ++j) {
      simulation::JointCommand& command = fragment.commands[step][j];
      command.target = fragment.targets[step][j];
      command.torque = torques[j].Vector(kTorques);
      command.gain = gains[j].Number(kGains);
    }
  }
  fragment.targets.clear();
}

Fragment ReadFragment(const JsonView& view, const Character& character, double time_step, int first_step,
                      bool may_have_commands) {
  const bool has_commands = may_have_commands && view.Has("torques");
  if (has_commands) {
    view.AllowOnly({"start", "duration", "steps", "targets", "torques", "gains"});
  } else {
    view.AllowOnly({"start", "duration", "steps", "targets"});
  }
  Fragment fragment;
  fragment.first_step = first_step;
  fragment.num_steps = view["steps"].Integer(1, character::kMostSteps - first_step);
  const auto check_time = [&](const char* key, int steps) {
    const double time = view[key].Number({0, character::kMostSteps * simulation::kTimeSteps.max});
    if (std::abs(time - steps * time_step) > 1e-6 * time_step * (steps + 1)) {
      view[key].Expect(io::Number(steps * time_step) + " (steps times time_step)");
    }
  };
  check_time("start", fragment.first_step);
  check_time("duration", fragment.num_steps);
  for (const JsonView& pose : view["targets"].Elements(kMostTargets)) {
    TargetPose target;
    for (const JsonView& rotation : JointElements(pose, character, "quaternions"))
      target.push_back(io::ReadQuaternion(rotation));
    fragment.targets.push_back(std::move(target));
  }
  if (fragment.targets.empty()) view["targets"].Expect("at least one target pose");
  if (has_commands) ReadCommands(view, character, fragment);
  return fragment;
}

std::vector<Fragment> ReadFragments(const JsonView& view, const Character& character, double time_step,
                                    bool may_have_commands, int first_step = 0) {
  std::vector<Fragment> fragments;
  for (const JsonView& fragment : view.Elements(character::kMostSteps)) {
    if (first_step == character::kMostSteps)
      fragment.Fail("it after " + std::to_string(first_step) + " steps", "no further one");
    fragments.push_back(ReadFragment(fragment, character, time_step, first_step, may_have_commands));
    first_step += fragments.back().num_steps;
  }
  return fragments;
}

/// Arrays over steps and joints.
Json CommandsToJson(const Fragment& fragment) {
  Json targets = Json::array(), torques = Json::array(), gains = Json::array();
  for (const std::vector<simulation::JointCommand>& step : fragment.commands) {
    Json of_targets = Json::array(), of_torques = Json::array(), of_gains = Json::array();
    for (const simulation::JointCommand& command : step) {
      of_targets.push_back(io::ToJson(command.target));
      of_torques.push_back(io::ToJson(command.torque));
      of_gains.push_back(command.gain);
    }
    targets.push_back(std::move(of_targets));
    torques.push_back(std::move(of_torques));
    gains.push_back(std::move(of_gains));
  }
  return {{"targets", std::move(targets)}, {"torques", std::move(torques)}, {"gains", std::move(gains)}};
}

Json FragmentToJson(const Fragment& fragment, double time_step) {
  if (fragment.has_commands()) {
    Json json = {{"start", fragment.first_step * time_step},
                 {"duration", fragment.num_steps * time_step},
                 {"steps", fragment.num_steps}};
    json.update(CommandsToJson(fragment));
    return json;
  }
  Json targets = Json::array();
  for (const TargetPose& target : fragment.targets) {
    Json pose = Json::array();
    for (const Quat& q : target) pose.push_back(io::ToJson(q));
    targets.push_back(std::move(pose));
  }
  return {{"start", fragment.first_step * time_step},
          {"duration", fragment.num_steps * time_step},
          {"steps", fragment.num_steps},
          {"targets", std::move(targets)}};
}

std::vector<KinematicTransition> ReadTransitions(const JsonView& view, const std::vector<NamedBody>& names,
                                                 double time_step, int num_steps) {
  std::vector<KinematicTransition> transitions;
  int least = 0;
  for (const JsonView& entry : view.Elements(character::kMostSteps)) {
    entry.AllowOnly({"step", "start", "duration", "heading", "offset", "state"});
    KinematicTransition& transition = transitions.emplace_back();
    transition.step = entry["step"].Integer(least, std::max(least, num_steps - 1));
    const double start = entry["start"].Number({0, character::kMostSteps * simulation::kTimeSteps.max});
    if (std::abs(start - transition.step * time_step) > 1e-6 * time_step * (transition.step + 1)) {
      entry["start"].Expect(io::Number(transition.step * time_step) + " (step times time_step)");
    }
    transition.duration = entry["duration"].Number(kBlendDurations);
    transition.heading = io::ReadQuaternion(entry["heading"]);
    transition.offset = entry["offset"].Vector(character::kPositions);
    transition.state = ReadState(entry["state"], names);
    least = transition.step + 1;
  }
  return transitions;
}

Json PoseToJson(const character::Pose& pose) {
  Json joints = Json::array();
  for (const Quat& q : pose.joint_rotations) joints.push_back(io::ToJson(q));
  return {{"root_position", io::ToJson(pose.root_position)},
          {"root_orientation", io::ToJson(pose.root_orientation)},
          {"joints", std::move(joints)}};
}

std::vector<character::Pose> ReadPoses(const JsonView& view, const Character& character) {
  std::vector<character::Pose> poses;
  for (const JsonView& entry : view.Elements(character::kMostSteps)) {
    entry.AllowOnly({"root_position", "root_orientation", "joints"});
    character::Pose& pose = poses.emplace_back();
    pose.root_position = entry["root_position"].Vector(character::kPositions);
    pose.root_orientation = io::ReadQuaternion(entry["root_orientation"]);
    for (const JsonView& joint : JointElements(entry["joints"], character, "quaternions")) {
      pose.joint_rotations.push_back(io::ReadQuaternion(joint));
    }
  }
  if (poses.size() < 2) view.Expect("at least two poses");
  return poses;
}

/// The poses of one character up to the step at which the simulation begins.
std::vector<character::Pose> ReadBeginning(const JsonView& view, const Character& character, double time_step,
                                           int first_step, double& frame_time) {
  view.AllowOnly({"frame_time", "poses"});
  frame_time = view["frame_time"].Number(kPoseFrameTimes);
  std::vector<character::Pose> poses = ReadPoses(view["poses"], character);
  if (static_cast<double>(poses.size() - 1) * frame_time < (first_step - 1) * time_step - 1e-9) {
    view["poses"].Expect("as many as last to step " + std::to_string(first_step) + ", at which a simulation begins");
  }
  return poses;
}

KinematicEnding ReadEnding(const JsonView& view, const Character& character, double time_step, int num_steps) {
  view.AllowOnly({"first_step", "step", "start", "frame_time", "poses"});
  KinematicEnding ending;
  ending.first_step = view["first_step"].Integer(0, num_steps);
  ending.step = view["step"].Integer(num_steps, num_steps);  // nothing is simulated in vain
  const double start = view["start"].Number({0, character::kMostSteps * simulation::kTimeSteps.max});
  if (std::abs(start - ending.step * time_step) > 1e-6 * time_step * (ending.step + 1)) {
    view["start"].Expect(io::Number(ending.step * time_step) + " (step times time_step)");
  }
  ending.frame_time = view["frame_time"].Number(kPoseFrameTimes);
  ending.poses = ReadPoses(view["poses"], character);
  const int end = ending.end_step(time_step);
  if (end <= ending.step || end > character::kMostSteps) {
    view["poses"].Expect("as many as last beyond step " + std::to_string(ending.step) + ", and not beyond step " +
                         std::to_string(character::kMostSteps));
  }
  return ending;
}

Json JointNames(const Character& character) {
  Json names = Json::array();
  for (const character::Joint& joint : character.joints) names.push_back(joint.name);
  return names;
}

void CheckJoints(const JsonView& view, const Character& character) {
  std::vector<std::string> names;
  for (const character::Joint& joint : character.joints) names.push_back(joint.name);
  if (view.Strings(character::kMostBodies) != names)
    view.Fail("another list of joints", "the joints of the character in its order");
}

/// A file in pieces: one line for each entry of a list, which is small, and two controls can still be compared line by
/// line.
class Writer {
 public:
  explicit Writer(const TextSink& write) : write_(write) {}

  void Begin() { write_("{\n"); }
  /// The key of the next member of an object, the `index`-th one.
  void Key(const char* key, int index) { write_(std::string(index > 0 ? ",\n\"" : "\"").append(key).append("\": ")); }
  void Member(const char* key, int index, const Json& value) {
    Key(key, index);
    write_(value.dump());
  }
  template <typename List, typename ToJson>
  void Lines(const List& list, const ToJson& to_json) {
    write_("[");
    bool first = true;
    for (const auto& entry : list) {
      write_(std::string(first ? "\n  " : ",\n  ").append(to_json(entry).dump()));
      first = false;
    }
    write_("\n]");
  }
  void State(const std::vector<NamedBody>& names, const character::State& state) {
    Lines(StateToJson(names, state), [](const Json& body) { return body; });
  }
  void Fragments(const std::vector<Fragment>& fragments, double time_step) {
    Lines(fragments, [&](const Fragment& fragment) { return FragmentToJson(fragment, time_step); });
  }
  void Ending(const KinematicEnding& ending, double time_step) {
    Begin();
    Member("first_step", 0, ending.first_step);
    Member("step", 1, ending.step);
    Member("start", 2, ending.step * time_step);
    Member("frame_time", 3, ending.frame_time);
    Key("poses", 4);
    Lines(ending.poses, PoseToJson);
    End();
  }
  void End() { write_("\n}"); }
  void Text(const char* text) { write_(text); }

 private:
  const TextSink& write_;
};

/// What is written is read again: a file that goes beyond what readers take is not begun. Throws UsageError.
void CheckLimits(size_t characters, size_t pushes, std::span<const std::vector<Fragment>> fragments) {
  const auto refuse = [](size_t found, const std::string& what, size_t most) {
    if (found <= most) return;
    throw UsageError("a control file: found " + std::to_string(found) + " " + what + ", expected at most " +
                     std::to_string(most));
  };
  refuse(characters, "characters", character::kMostCharacters);
  refuse(pushes, "pushes", kMostPushes);
  for (const std::vector<Fragment>& of_character : fragments) {
    size_t steps = 0;
    for (const Fragment& fragment : of_character) {
      steps += static_cast<size_t>(fragment.num_steps);
      refuse(fragment.targets.size(), "target poses of a fragment", kMostTargets);
    }
    refuse(steps, "steps", character::kMostSteps);
  }
}

bool HaveCommands(const std::vector<Fragment>& fragments) {
  return std::any_of(fragments.begin(), fragments.end(), [](const Fragment& f) { return f.has_commands(); });
}

/// A scene that names the bodies, without anything that moves them.
Scene WorldOf(const Character& character, const OpenLoopControl& control) {
  return {{character}, control.world, control.start, {{}}};
}

/// Version 1, version 3 with commands, version 4 with kinematic transitions, version 5 with pushes or a kinematic
/// ending, or version 6 with such an ending beside bodies that move freely.
void WriteSingle(const Character& character, const OpenLoopControl& control, const TextSink& write) {
  const bool commands = HaveCommands(control.fragments), kinematic = !control.transitions.empty();
  const bool pushed = !control.pushes.empty(), ends = control.ending.has_value();
  const bool moving = !control.world.environment.bodies.empty();  // goes on after an ending, which is version 6
  const int version = ends && moving ? 6 : pushed || ends ? 5 : kinematic ? 4 : commands ? 3 : 1;
  const std::vector<NamedBody> names = NamesOf({&character}, control.world.environment);
  Writer file(write);
  file.Begin();
  file.Member("format", 0, "retrace-control");
  file.Member("version", 1, version);
  file.Member("units", 2,
              ends        ? kUnitsWithEnding
              : kinematic ? kUnitsWithTransitions
              : commands  ? kUnitsWithCommands
                          : kUnits);
  file.Member("world", 3, control.world.ToJson());
  file.Member("joints", 4, JointNames(character));
  file.Key("start_state", 5);
  file.State(names, control.start);
  if (kinematic) {
    file.Key("kinematic_transitions", 5);
    file.Lines(control.transitions, [&](const KinematicTransition& transition) {
      return Json({{"step", transition.step},
                   {"start", transition.step * control.world.time_step},
                   {"duration", transition.duration},
                   {"heading", io::ToJson(transition.heading)},
                   {"offset", io::ToJson(transition.offset)},
                   {"state", StateToJson(names, transition.state)}});
    });
  }
  if (pushed) {
    file.Key("pushes", 5);
    file.Lines(PushesToJson(WorldOf(character, control), control.pushes), [](const Json& push) { return push; });
  }
  if (ends) {
    file.Key("kinematic_ending", 5);
    file.Ending(*control.ending, control.world.time_step);
  }
  file.Key("fragments", 6);
  file.Fragments(control.fragments, control.world.time_step);
  file.Member("character", 7, character.json);
  file.End();
  file.Text("\n");
}

void CheckFormat(const JsonView& view) {
  if (view["format"].String() != "retrace-control") view["format"].Expect("\"retrace-control\"");
}

/// Whether a document has one character in the form of version 1, and may have commands: version 4, which always has
/// one, or a later version or version 3 with a member `character`.
bool IsSingleWithCommands(const JsonView& view) {
  if (!view.Has("version")) return false;
  const Json& number = view["version"].json();
  const double version = number.is_number() ? number.get<double>() : 0;
  return version == 4 || ((version == 3 || version == 5 || version == 6) && view.Has("character"));
}

/// Version 1, the same with commands in version 3, with kinematic transitions in version 4, and with pushes, kinematic
/// transitions or a kinematic ending in version 5.
LoadedControl ReadSingle(const JsonView& view, const std::string& name) {
  CheckFormat(view);
  const bool commands = IsSingleWithCommands(view);
  const bool moving = commands && view["version"].json() == 6;
  const bool latest = moving || (commands && view["version"].json() == 5);
  const bool ends = latest && view.Has("kinematic_ending"), pushed = latest && view.Has("pushes");
  const bool kinematic = commands && (view["version"].json() == 4 || (latest && view.Has("kinematic_transitions")));
  if (latest) {
    view.AllowOnly({"format", "version", "units", "world", "joints", "start_state", "kinematic_transitions", "pushes",
                    "kinematic_ending", "fragments", "character"});
  } else if (kinematic) {
    view.AllowOnly({"format", "version", "units", "world", "joints", "start_state", "kinematic_transitions",
                    "fragments", "character"});
  } else {
    view.AllowOnly({"format", "version", "units", "world", "joints", "start_state", "fragments", "character"});
  }
  if (!commands) view["version"].Integer(1, 1);
  LoadedControl loaded;
  loaded.character = character::ParseCharacter(view["character"].json(), name + ": /character");
  OpenLoopControl& control = loaded.control;
  control.world = simulation::ReadWorldOptions(view["world"], loaded.character.joints.size());
  CheckJoints(view["joints"], loaded.character);
  const std::vector<NamedBody> names = NamesOf({&loaded.character}, control.world.environment);
  control.start = ReadState(view["start_state"], names);
  control.fragments = ReadFragments(view["fragments"], loaded.character, control.world.time_step, commands);
  if (kinematic) {
    control.transitions =
        ReadTransitions(view["kinematic_transitions"], names, control.world.time_step, control.num_steps());
  }
  if (pushed) control.pushes = ReadPushes(view["pushes"], WorldOf(loaded.character, control));
  if (ends) {
    if (kinematic) view["kinematic_ending"].Fail("it beside kinematic transitions", "one of the two");
    if (!moving && !control.world.environment.bodies.empty()) {
      view["kinematic_ending"].Fail("it in a world with bodies that move freely", "one without");
    }
    control.ending =
        ReadEnding(view["kinematic_ending"], loaded.character, control.world.time_step, control.num_steps());
  }
  return loaded;
}

/// What of the characters of a scene is not simulated (version 6).
void ReadKinematic(const std::vector<JsonView>& characters, Scene& scene) {
  const double h = scene.world.time_step;
  const int first_step = scene.first_step();
  bool begins = false;
  for (const JsonView& entry : characters) {
    begins = begins || entry.Has("kinematic_beginning");
    if (begins && first_step == 0) entry["kinematic_beginning"].Fail("it without first_step", "both or neither");
  }
  if (begins) scene.beginning.emplace();
  for (size_t c = 0; c < characters.size(); ++c) {
    const JsonView& entry = characters[c];
    if (begins) {
      double frame_time = 0;
      const JsonView member = entry["kinematic_beginning"];
      scene.beginning->poses.push_back(ReadBeginning(member, scene.characters[c], h, first_step, frame_time));
      if (c == 0) scene.beginning->frame_time = frame_time;
      if (frame_time != scene.beginning->frame_time) {
        member["frame_time"].Expect(io::Number(scene.beginning->frame_time) + ", as the first character has");
      }
    }
    if (!entry.Has("kinematic_ending")) continue;
    const int steps = scene.fragments[c].empty() ? 0 : scene.fragments[c].back().end_step();
    scene.endings.push_back(ReadEnding(entry["kinematic_ending"], scene.characters[c], h, steps));
    scene.endings.back().character = c;
  }
}

/// Also versions 3, 5 and 6, whose fragments may have commands, versions 5 and 6 with pushes, and version 6 with what
/// is not simulated.
Scene ReadVersion2(const JsonView& view, const std::string& name, int version) {
  const bool may_have_commands = version > 2, pushed = version >= 5 && view.Has("pushes");
  int first_step = 0;
  if (version == 6) {
    view.AllowOnly({"format", "version", "units", "world", "first_step", "start_state", "pushes", "characters"});
    if (view.Has("first_step")) first_step = view["first_step"].Integer(1, character::kMostSteps);
  } else if (pushed) {
    view.AllowOnly({"format", "version", "units", "world", "start_state", "pushes", "characters"});
  } else {
    view.AllowOnly({"format", "version", "units", "world", "start_state", "characters"});
  }
  Scene scene;
  const std::vector<JsonView> characters = view["characters"].Elements(character::kMostCharacters);
  if (characters.empty()) view["characters"].Expect("at least one character");
  size_t num_joints = 0;
  for (size_t c = 0; c < characters.size(); ++c) {
    const JsonView& entry = characters[c];
    if (version == 6) {
      entry.AllowOnly({"joints", "kinematic_beginning", "kinematic_ending", "fragments", "character"});
    } else {
      entry.AllowOnly({"joints", "fragments", "character"});
    }
    const std::string place = name + ": /characters/" + std::to_string(c) + "/character";
    scene.characters.push_back(character::ParseCharacter(entry["character"].json(), place));
    CheckJoints(entry["joints"], scene.characters.back());
    num_joints += scene.characters.back().joints.size();
  }
  scene.world = simulation::ReadWorldOptions(view["world"], num_joints);
  std::vector<const Character*> pointers;
  for (size_t c = 0; c < characters.size(); ++c) {
    scene.fragments.push_back(ReadFragments(characters[c]["fragments"], scene.characters[c], scene.world.time_step,
                                            may_have_commands, first_step));
    pointers.push_back(&scene.characters[c]);
  }
  scene.start = ReadState(view["start_state"], NamesOf(pointers, scene.world.environment));
  if (pushed) scene.pushes = ReadPushes(view["pushes"], scene);
  if (version == 6) ReadKinematic(characters, scene);
  if (first_step > 0 && !scene.beginning) view["first_step"].Fail("it without kinematic_beginning", "both or neither");
  return scene;
}

}  // namespace

void WriteControl(const Character& character, const OpenLoopControl& control, const TextSink& write) {
  CheckLimits(1, control.pushes.size(), {&control.fragments, 1});
  WriteSingle(character, control, write);
}

void WriteControl(const Scene& scene, const TextSink& write) {
  CheckLimits(scene.characters.size(), scene.pushes.size(), scene.fragments);
  if (scene.characters.size() == 1 && !scene.beginning) {
    return WriteSingle(scene.characters[0], ControlOf(scene, 0), write);
  }
  const bool kinematic = scene.beginning || !scene.endings.empty();
  const bool commands = std::any_of(scene.fragments.begin(), scene.fragments.end(), HaveCommands);
  std::vector<const Character*> pointers;
  for (const Character& character : scene.characters) pointers.push_back(&character);
  Writer file(write);
  file.Begin();
  file.Member("format", 0, "retrace-control");
  file.Member("version", 1, kinematic ? 6 : !scene.pushes.empty() ? 5 : commands ? 3 : 2);
  file.Member("units", 2, kinematic ? kUnitsOfKinematicScene : commands ? kUnitsWithCommands : kUnits);
  file.Member("world", 3, scene.world.ToJson());
  if (scene.beginning) file.Member("first_step", 4, scene.first_step());
  file.Key("start_state", 4);
  file.State(NamesOf(pointers, scene.world.environment), scene.start);
  if (!scene.pushes.empty()) {
    file.Key("pushes", 5);
    file.Lines(PushesToJson(scene, scene.pushes), [](const Json& push) { return push; });
  }
  file.Key("characters", 5);
  file.Text("[");
  for (size_t c = 0; c < scene.characters.size(); ++c) {
    file.Text(c > 0 ? ",\n" : "\n");
    file.Begin();
    file.Member("joints", 0, JointNames(scene.characters[c]));
    if (scene.beginning) {
      file.Key("kinematic_beginning", 1);
      file.Begin();
      file.Member("frame_time", 0, scene.beginning->frame_time);
      file.Key("poses", 1);
      file.Lines(scene.beginning->poses[c], PoseToJson);
      file.End();
    }
    if (const KinematicEnding* const ending = scene.EndingOf(c)) {
      file.Key("kinematic_ending", 1);
      file.Ending(*ending, scene.world.time_step);
    }
    file.Key("fragments", 1);
    file.Fragments(scene.fragments[c], scene.world.time_step);
    file.Member("character", 2, *scene.characters[c].json);
    file.End();
  }
  file.Text("\n]");
  file.End();
  file.Text("\n");
}

std::string FormatControl(const Character& character, const OpenLoopControl& control) {
  std::string text;
  WriteControl(character, control, [&](std::string_view piece) { text.append(piece); });
  return text;
}

std::string FormatControl(const Scene& scene) {
  std::string text;
  WriteControl(scene, [&](std::string_view piece) { text.append(piece); });
  return text;
}

LoadedControl ParseControl(const std::string& text, const std::string& name) {
  const Json document = io::ParseJson(text, name);
  const JsonView view(document, name);
  const auto is_version = [&](int version) { return view["version"].json() == version; };
  const bool may_have_several = view.Has("version") && (is_version(3) || is_version(5) || is_version(6));
  if (!may_have_several || IsSingleWithCommands(view)) return ReadSingle(view, name);
  Scene scene = ParseScene(text, name);
  if (scene.characters.size() != 1) {
    view["characters"].Fail(std::to_string(scene.characters.size()) + " characters", "one");
  }
  OpenLoopControl control = ControlOf(scene, 0);
  return {std::move(scene.characters[0]), std::move(control)};
}

Scene ParseScene(const std::string& text, const std::string& name) {
  const Json document = io::ParseJson(text, name);
  const JsonView view(document, name);
  CheckFormat(view);
  const int version = view["version"].Integer(1, 6);
  if (version > 1 && !IsSingleWithCommands(view)) return ReadVersion2(view, name, version);
  const LoadedControl loaded = ReadSingle(view, name);
  return MakeScene(loaded.character, loaded.control);
}

LoadedControl LoadControl(const std::filesystem::path& path) {
  return ParseControl(io::ReadFile(path), path.string());
}

Scene LoadScene(const std::filesystem::path& path) {
  return ParseScene(io::ReadFile(path), path.string());
}

}  // namespace retrace::control
