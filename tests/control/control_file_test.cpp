/// Control files: what is written reads back to the same bits, and what is wrong is refused with its position.
#include "retrace/control/control_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "control/sample_control.h"
#include "retrace/character/kinematics.h"
#include "retrace/io/error.h"
#include "retrace/io/file.h"
#include "retrace/math/rotation.h"

namespace retrace::control {
namespace {

using io::Json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

bool SameCommands(const std::vector<simulation::JointCommand>& a, const std::vector<simulation::JointCommand>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.target.coeffs() == y.target.coeffs() && x.torque == y.torque && x.gain == y.gain;
  });
}

bool SameControl(const OpenLoopControl& a, const OpenLoopControl& b) {
  if (a.world.ToJson().dump() != b.world.ToJson().dump() || !SameBits(a.start, b.start)) return false;
  if (a.fragments.size() != b.fragments.size()) return false;
  for (size_t f = 0; f < a.fragments.size(); ++f) {
    const Fragment& x = a.fragments[f];
    const Fragment& y = b.fragments[f];
    if (x.first_step != y.first_step || x.num_steps != y.num_steps || x.targets.size() != y.targets.size() ||
        x.commands.size() != y.commands.size()) {
      return false;
    }
    for (size_t k = 0; k < x.commands.size(); ++k) {
      if (!SameCommands(x.commands[k], y.commands[k])) return false;
    }
    for (size_t k = 0; k < x.targets.size(); ++k) {
      if (std::memcmp(x.targets[k].data(), y.targets[k].data(), x.targets[k].size() * sizeof(Quat)) != 0) return false;
    }
  }
  return true;
}

RC_GTEST_PROP(ControlFileProperty, ReadsBackToTheSameBits, ()) {
  RandomStream random(*rc::gen::arbitrary<uint64_t>().as("seed"), RandomStage::kTest, 0, 0);
  const OpenLoopControl control = RandomControl(random, *rc::gen::inRange(0, 6).as("fragments"));
  const std::string text = FormatControl(Human(), control);
  const LoadedControl loaded = ParseControl(text, "c.json");
  RC_ASSERT(SameControl(loaded.control, control));
  RC_ASSERT(loaded.character.json == Human().json);
  RC_ASSERT(FormatControl(loaded.character, loaded.control) == text);
}

RC_GTEST_PROP(ControlFileProperty, CommandsReadBackToTheSameBits, ()) {
  RandomStream random(*rc::gen::arbitrary<uint64_t>().as("seed"), RandomStage::kTest, 0, 0);
  OpenLoopControl control = RandomControl(random, *rc::gen::inRange(1, 4).as("fragments"));
  AddCommands(random, control.fragments.back());
  const std::string text = FormatControl(Human(), control);
  const LoadedControl loaded = ParseControl(text, "c.json");
  RC_ASSERT(SameControl(loaded.control, control));
  RC_ASSERT(FormatControl(loaded.character, loaded.control) == text);
  const Scene scene = ParseScene(text, "c.json");
  RC_ASSERT(SameControl(ControlOf(scene, 0), control));
}

TEST(ControlFile, CommandsAreOfVersion3AndRefusedInOthers) {
  RandomStream random(8, RandomStage::kTest, 0, 0);
  OpenLoopControl control = RandomControl(random, 1);
  EXPECT_EQ(io::ParseJson(FormatControl(Human(), control), "c.json")["version"], 1);
  AddCommands(random, control.fragments[0]);
  const Json document = io::ParseJson(FormatControl(Human(), control), "c.json");
  EXPECT_EQ(document["version"], 3);
  const auto refused = [&](const Json& changed, const std::string& place) {
    try {
      ParseScene(changed.dump(), "c.json");
      FAIL() << place << " is accepted";
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr(place));
    }
  };
  Json changed = document;
  changed["version"] = 1;
  refused(changed, "/fragments/0/torques");
  for (const char* key : {"targets", "torques", "gains"}) {
    changed = document;
    Json& list = changed["fragments"][0][key];
    list.push_back(Json(list[0]));
    refused(changed, std::string("/fragments/0/") + key);
    changed = document;
    changed["fragments"][0][key][0].erase(0);
    refused(changed, std::string("/fragments/0/") + key + "/0");
  }
  changed = document;
  changed["fragments"][0]["gains"][0][0] = -1;
  refused(changed, "/fragments/0/gains/0/0");
  // The form that earlier programs gave it.
  Json earlier = document;
  Json entry;
  for (const char* key : {"joints", "fragments", "character"}) {
    entry[key] = earlier[key];
    earlier.erase(key);
  }
  earlier["characters"] = Json::array({entry});
  EXPECT_TRUE(SameControl(ParseControl(earlier.dump(), "c.json").control, control));
  earlier["version"] = 2;
  refused(earlier, "/characters/0/fragments/0/torques");
}

TEST(ControlFile, CommandsThatHoldForAllStepsAreOneEntry) {
  RandomStream random(9, RandomStage::kTest, 0, 0);
  OpenLoopControl control = RandomControl(random, 2);
  Fragment& held = control.fragments[1];
  held.num_steps = 50;
  AddCommands(random, held);
  held.commands.resize(1);
  const std::string text = FormatControl(Human(), control);
  EXPECT_EQ(io::ParseJson(text, "c.json")["fragments"][1]["gains"].size(), 1u);
  EXPECT_TRUE(SameControl(ParseControl(text, "c.json").control, control));
  Json changed = io::ParseJson(text, "c.json");
  changed["fragments"][1]["torques"].push_back(Json(changed["fragments"][1]["torques"][0]));
  try {
    ParseControl(changed.dump(), "c.json");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("/fragments/1/torques"));
    EXPECT_THAT(error.what(), HasSubstr("an array of 1 for all steps"));
  }
}

TEST(ControlFile, KinematicTransitionsAreOfVersion4) {
  OpenLoopControl control = Standing(3);
  control.transitions = {{24, 0.3, control.start}, {48, 0, control.start}};
  control.transitions[0].state[2].position.x() += 1;
  control.transitions[1].heading = AxisRotation(1, 0.3);
  control.transitions[1].offset = Vec3(1, 0, 2);
  const std::string text = FormatControl(Human(), control);
  const Json document = io::ParseJson(text, "c.json");
  EXPECT_EQ(document["version"], 4);
  const LoadedControl loaded = ParseControl(text, "c.json");
  EXPECT_EQ(FormatControl(loaded.character, loaded.control), text);
  EXPECT_EQ(FormatControl(ParseScene(text, "c.json")), text);
  ASSERT_EQ(loaded.control.transitions.size(), 2u);
  EXPECT_EQ(loaded.control.transitions[0].duration, 0.3);
  EXPECT_EQ(loaded.control.transitions[1].offset, Vec3(1, 0, 2));
  EXPECT_TRUE(SameBits(loaded.control.transitions[0].state, control.transitions[0].state));
  const auto refused = [&](const std::string& patch, const std::string& message) {
    try {
      ParseScene(document.patch(Json::parse(patch)).dump(), "c.json");
      FAIL() << patch << " is accepted";
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr(message));
    }
  };
  refused(R"([{"op": "replace", "path": "/version", "value": 1}])", R"(found the key "kinematic_transitions")");
  refused(R"([{"op": "replace", "path": "/version", "value": 7}])",
          "/version: found 7, expected a whole number from 1 to 6");
  refused(R"([{"op": "remove", "path": "/kinematic_transitions"}])", R"(found no "kinematic_transitions")");
  const std::string first = R"([{"op": "replace", "path": "/kinematic_transitions/0/)",
                    second = R"([{"op": "replace", "path": "/kinematic_transitions/1/)";
  refused(first + R"(step", "value": 72}])",
          "/kinematic_transitions/0/step: found 72, expected a whole number from 0 to 71");
  refused(second + R"(step", "value": 24}])",
          "/kinematic_transitions/1/step: found 24, expected a whole number from 25");
  refused(second + R"(start", "value": 0.3}])", "/kinematic_transitions/1/start: found 0.3, expected 0.2");
  refused(first + R"(duration", "value": -1}])", "/kinematic_transitions/0/duration: found -1");
  refused(first + R"(state/0/body", "value": "tail"}])", "/kinematic_transitions/0/state/0/body");
}

/// The last poses lie beyond the simulation.
KinematicEnding SomeEnding(RandomStream& random, int first_step, int step) {
  KinematicEnding ending{first_step, step, 1.0 / 120, {}};
  for (int p = 0; p < 2 + (step - first_step); ++p) {
    ending.poses.push_back(character::RandomPose(Human(), random));
  }
  return ending;
}

TEST(ControlFile, PushesAndAKinematicEndingAreOfVersion5) {
  RandomStream random(9, RandomStage::kTest, 0, 0);
  OpenLoopControl control = Standing(3);
  control.pushes = {{2, Vec3(1, -2.5, 1e-7), 0.1, 0.2}, {0, Vec3(0, 0, 400), 0.2, 0.1}};
  const std::string pushed = FormatControl(Human(), control);
  const Json of_pushes = io::ParseJson(pushed, "c.json");
  EXPECT_EQ(of_pushes["version"], 5);
  EXPECT_FALSE(of_pushes.contains("kinematic_ending"));
  EXPECT_EQ(FormatControl(ParseScene(pushed, "c.json")), pushed);
  control.ending = SomeEnding(random, 60, 72);
  const std::string text = FormatControl(Human(), control);
  const LoadedControl loaded = ParseControl(text, "c.json");
  EXPECT_EQ(FormatControl(loaded.character, loaded.control), text);
  EXPECT_EQ(FormatControl(ParseScene(text, "c.json")), text);
  ASSERT_EQ(loaded.control.pushes.size(), 2u);
  EXPECT_EQ(loaded.control.pushes[0].force, control.pushes[0].force);
  EXPECT_EQ(loaded.control.pushes[1].body, 0);
  ASSERT_TRUE(loaded.control.ending);
  EXPECT_EQ(loaded.control.ending->poses.back().root_position, control.ending->poses.back().root_position);
  EXPECT_FALSE(loaded.control.physical());
  const Json document = io::ParseJson(text, "c.json");
  const auto refused = [&](const std::string& patch, const std::string& message) {
    try {
      ParseScene(document.patch(Json::parse(patch)).dump(), "c.json");
      FAIL() << patch << " is accepted";
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr(message));
    }
  };
  const auto replaced = [](const std::string& path, const std::string& value) {
    return R"([{"op": "replace", "path": "/)" + path + R"(", "value": )" + value + "}]";
  };
  refused(replaced("version", "4"), R"(found the key "pushes")");
  refused(replaced("pushes/0/body", "\"tail\""), "/pushes/0/body: found \"tail\", expected one of ");
  refused(replaced("pushes/1/duration", "-1"), "/pushes/1/duration: found -1");
  refused(replaced("kinematic_ending/step", "71"),
          "/kinematic_ending/step: found 71, expected a whole number from 72 to 72");
  refused(replaced("kinematic_ending/first_step", "73"), "/kinematic_ending/first_step: found 73");
  refused(replaced("kinematic_ending/start", "1"), "/kinematic_ending/start: found 1, expected 0.3");
  refused(replaced("kinematic_ending/frame_time", "0"), "/kinematic_ending/frame_time: found 0");
  refused(replaced("kinematic_ending/frame_time", "0.001"), "expected as many as last beyond step 72");
  refused(R"([{"op": "remove", "path": "/kinematic_ending/poses/0/joints/0"}])", "/kinematic_ending/poses/0/joints");
  refused(R"([{"op": "add", "path": "/kinematic_transitions", "value": []}])",
          "/kinematic_ending: found it beside kinematic transitions");
}

/// The pointers of all numbers and texts of a document.
std::vector<io::Json::json_pointer> Leaves(const io::Json& document) {
  std::vector<io::Json::json_pointer> leaves;
  const io::Json flat = document.flatten();
  for (const auto& [pointer, value] : flat.items()) {
    if (value.is_number() || value.is_string()) leaves.emplace_back(pointer);
  }
  return leaves;
}

/// Puts something else instead of some numbers and texts.
io::Json Mutated(const io::Json& document) {
  io::Json mutated = document;
  const std::vector<io::Json::json_pointer> leaves = Leaves(document);
  const int changes = *rc::gen::inRange(1, 4);
  for (int i = 0; i < changes; ++i) {
    io::Json& leaf = mutated[*rc::gen::elementOf(leaves)];
    if (leaf.is_string()) {
      leaf = *rc::gen::element<std::string>("", "a\nb", "\x7f", "trunk", "x,y", "\"q\"", "a b", std::string(101, 'n'),
                                            std::string(100, 'n'), "\xc3\xa9", "ground");
    } else {
      leaf = *rc::gen::element(0.0, -0.0, 1e308, -1e308, 5e-324, 1e-308, 1e-12, 1e-5, 0.1, 1.0, 3.2, 1e3, 1e4, -1e4,
                               1e6, 1e9, -1e9, 1e12);
    }
  }
  return mutated;
}

const char* const kRichWorld = R"({
  "ground": {"height": -0.5, "material": {"friction": 0.1, "spring": {"erp": 0.8, "cfm": 0.007, "time_step": 0.0005}}},
  "boxes": [{"name": "a", "size": [1, 2, 3], "position": [0, 1, 2], "rotation": {"axis": "x", "degrees": 10},
             "material": {"spring": {"stiffness": 1e5, "damping": 1e3}},
             "course": {"velocity": [0, 0, 1], "amplitude": [0.1, 0, 0], "frequency": 2, "phase_degrees": 90}}],
  "height_field": {"name": "hills", "position": [0, 1, 2], "spacing": 0.5, "heights": [[0, 0.1, 0], [0.1, 0, 0.2]]},
  "bodies": [{"name": "ball", "sphere": 0.1, "density": 1000, "position": [1, 2, 3]},
             {"name": "log", "capsule": {"radius": 0.1, "length": 1, "axis": "x"}, "mass": 3, "position": [0, 0, 0],
              "linear_velocity": [1, 0, 0], "angular_velocity": [0, 1, 0], "material": {"friction": 0.3}}]})";

// Rows 12 and 13 of the list of defects: inputs that were accepted made controls that could not be read.
RC_GTEST_PROP(ControlFileProperty, Row12WhatIsAcceptedIsWrittenSoThatItCanBeRead, ()) {
  static const io::Json kWorld = io::ParseJson(kRichWorld, "world.json");
  const bool change_world = *rc::gen::arbitrary<bool>();
  const io::Json world = change_world ? Mutated(kWorld) : kWorld;
  const io::Json body = change_world ? *Human().json : Mutated(Human().json);
  OpenLoopControl control;
  character::Character accepted;
  try {
    control.world.environment = simulation::ReadEnvironment(io::JsonView(world, "world.json"));
    accepted = character::ParseCharacter(body, "character.json");
  } catch (const InputError&) {
    RC_TAG("refused");
    return;
  }
  control.start.resize(accepted.bodies.size());
  for (character::BodyState& state : control.start) {
    state = {Vec3(1, 2, 3), Quat::Identity(), Vec3::Zero(), Vec3::Zero()};
  }
  control.world.environment.AppendStart(control.start);
  control.fragments.push_back({0, 24, {TargetPose(accepted.joints.size(), Quat::Identity())}});
  RC_ASSERT(control.world.Validate() == std::nullopt);
  const std::string text = FormatControl(accepted, control);
  const LoadedControl read = ParseControl(text, "c.json");
  RC_ASSERT(FormatControl(read.character, read.control) == text);
  RC_ASSERT(FormatControl(ParseScene(text, "c.json")) == text);
}

// Row 7: a control of a few lines asked for any number of steps.
TEST(ControlFile, Row07StepsAreBoundedInAll) {
  io::Json document = io::ParseJson(FormatControl(Human(), Standing(2)), "c.json");
  document["fragments"][0]["steps"] = 999999;
  document["fragments"][0]["duration"] = 999999 * Standing(2).world.time_step;
  document["fragments"][1]["start"] = document["fragments"][0]["duration"];
  try {
    ParseControl(document.dump(), "c.json");
    ADD_FAILURE() << "not refused";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "c.json: /fragments/1/steps: found 24, expected a whole number from 1 to 1");
  }
}

TEST(ControlFile, ReplaysToTheSameBitsAfterReading) {
  const OpenLoopControl control = Standing(2);
  const LoadedControl loaded = ParseControl(FormatControl(Human(), control), "c.json");
  EXPECT_EQ(Fingerprint(Replay(loaded.character, loaded.control).states.back()),
            Fingerprint(Replay(Human(), control).states.back()));
}

TEST(ControlFile, AllWorldOptionsSurvive) {
  OpenLoopControl control = Standing(1);
  control.world.time_step = 1.0 / 2000;
  control.world.servo = simulation::Servo::kExplicit;
  control.world.solver = simulation::Solver::kStock;
  control.world.gravity = 1.62;
  control.world.friction = 0.1;
  control.world.contact_stiffness = 1e5;
  control.world.contact_damping = 1e3;
  control.world.contact_correcting_velocity = 0.25;
  control.world.joint_correction = 100;
  control.world.self_collision = false;
  control.world.speculative_contacts = false;
  control.world.ground_points_per_shape = 3;
  control.world.self_points_per_pair = 1;
  const std::string before = control.world.ToJson().dump();
  EXPECT_NE(before, simulation::WorldOptions().ToJson().dump());
  EXPECT_EQ(ParseControl(FormatControl(Human(), control), "c.json").control.world.ToJson().dump(), before);
}

TEST(ControlFile, HasOneLinePerFragmentAndPerBody) {
  const std::string text = FormatControl(Human(), Standing(7));
  size_t fragments = 0;
  size_t bodies = 0;
  for (size_t at = 0; (at = text.find("\n  {\"", at)) != std::string::npos; ++at) {
    fragments += text.compare(at, 12, "\n  {\"start\":") == 0;
    bodies += text.compare(at, 11, "\n  {\"body\":") == 0;
  }
  EXPECT_EQ(fragments, 7u);
  EXPECT_EQ(bodies, Human().bodies.size());
}

TEST(ControlFile, NamesTheFile) {
  const auto path =
      std::filesystem::temp_directory_path() / ("retrace_control_" + std::to_string(::getpid()) + ".json");
  io::WriteFile(path, FormatControl(Human(), Standing(1)));
  EXPECT_EQ(LoadControl(path).control.num_steps(), 24);
  io::WriteFile(path, "{\"format\": \"retrace-control\"}");
  try {
    LoadControl(path);
    ADD_FAILURE() << "not refused";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), StartsWith(path.string() + ": /: found no \"version\""));
  }
  std::filesystem::remove(path);
}

/// Standing on a moving box, beside a ball that falls.
OpenLoopControl InAWorld() {
  OpenLoopControl control = Standing(3);
  simulation::Environment& environment = control.world.environment;
  environment.ground.height = -1;
  environment.boxes.push_back({"lift", Vec3(2, 1, 2), Vec3(0, -0.5, 0)});
  environment.boxes.back().course.emplace().velocity = Vec3(0.1, 0.3, 0);
  simulation::FreeBody& ball = environment.bodies.emplace_back();
  ball.name = "ball";
  ball.shape.kind = character::Shape::Kind::kCapsule;
  ball.shape.radius = 0.1;
  ball.mass = 1;
  ball.position = Vec3(0.6, 0.3, 0);
  environment.AppendStart(control.start);
  return control;
}

TEST(ControlFile, HoldsTheWorldAndItsBodies) {
  const OpenLoopControl control = InAWorld();
  const std::string text = FormatControl(Human(), control);
  const LoadedControl loaded = ParseControl(text, "c.json");
  EXPECT_EQ(FormatControl(loaded.character, loaded.control), text);
  EXPECT_TRUE(SameBits(loaded.control.start, control.start));
  const Trajectory trajectory = Replay(Human(), control);
  const Trajectory again = Replay(loaded.character, loaded.control);
  EXPECT_EQ(trajectory.states.back().size(), Human().bodies.size() + 1);
  EXPECT_TRUE(SameBits(again.states.back(), trajectory.states.back()));
  EXPECT_THAT(trajectory.objects, ElementsAre("lift", "ball"));
  // The course goes on from fragment to fragment.
  EXPECT_NEAR(trajectory.states.back()[0].position.y() - trajectory.states.front()[0].position.y(), 0.3 * 0.3, 0.02);
  EXPECT_LT(trajectory.states.back().back().position.y(), 0.25);
}

TEST(ControlFile, AStateWithoutABodyOfTheWorldIsRefused) {
  Json document = Json::parse(FormatControl(Human(), InAWorld()));
  document["start_state"].erase(document["start_state"].size() - 1);
  try {
    ParseControl(document.dump(), "c.json");
    ADD_FAILURE() << "not refused";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), StartsWith("c.json: /start_state: found an array of 17, expected an array of 18"));
  }
}

/// A change of a good file, as a JSON patch, and how the refusal begins.
struct Mutation {
  const char* name;
  const char* patch;
  const char* message;
};
void PrintTo(const Mutation& mutation, std::ostream* out) {
  *out << mutation.name;
}

class BadControl : public ::testing::TestWithParam<Mutation> {};

TEST_P(BadControl, IsRefused) {
  static const std::string good = FormatControl(Human(), Standing(2));
  const Json changed = Json::parse(good).patch(Json::parse(GetParam().patch));
  try {
    ParseControl(changed.dump(), "c.json");
    ADD_FAILURE() << "not refused";
  } catch (const InputError& error) {
    EXPECT_EQ(error.code(), ExitCode::kInput);
    EXPECT_THAT(error.what(), StartsWith(GetParam().message));
  }
}

const Mutation kMutations[] = {
    {"AnotherFormat", R"([{"op": "replace", "path": "/format", "value": "retrace-character"}])",
     R"(c.json: /format: found "retrace-character", expected "retrace-control")"},
    {"LaterVersion", R"([{"op": "replace", "path": "/version", "value": 2}])",
     "c.json: /version: found 2, expected a whole number from 1 to 1"},
    {"UnknownKey", R"([{"op": "add", "path": "/comment", "value": ""}])",
     R"(c.json: /comment: found the key "comment", expected one of format, )"},
    {"NoWorld", R"([{"op": "remove", "path": "/world"}])",
     R"(c.json: /: found no "world", expected an object with "world")"},
    {"TimeStepOfZero", R"([{"op": "replace", "path": "/world/time_step", "value": 0}])",
     "c.json: /world/time_step: found 0, expected a number from 1e-05 to 0.1"},
    {"Servo", R"([{"op": "replace", "path": "/world/servo", "value": "magic"}])",
     R"(c.json: /world/servo: found "magic", expected "implicit" or "explicit")"},
    {"ContactScale", R"([{"op": "replace", "path": "/world/contact_scale", "value": [1, 1]}])",
     "c.json: /world/contact_scale: found an array of 2, expected an empty array or 16 numbers, one per joint"},
    {"Character", R"([{"op": "replace", "path": "/character/bodies/0/mass", "value": -1}])",
     "c.json: /character: /bodies/0/mass: found -1, expected a number from 1e-09 to 1e+06"},
    {"JointsInAnotherOrder",
     R"([{"op": "replace", "path": "/joints/0", "value": "neck"}, {"op": "replace", "path": "/joints/1", "value": "waist"}])",
     "c.json: /joints: found another list of joints, expected the joints of the character in its order"},
    {"AJointTooFew", R"([{"op": "remove", "path": "/joints/15"}])",
     "c.json: /joints: found another list of joints, expected the joints of the character in its order"},
    {"AJointTooMany", R"([{"op": "add", "path": "/joints/-", "value": "tail"}])",
     "c.json: /joints: found another list of joints, expected the joints of the character in its order"},
    {"ABodyTooFew", R"([{"op": "remove", "path": "/start_state/16"}])",
     "c.json: /start_state: found an array of 16, expected an array of 17, one entry per body"},
    {"AnotherBody", R"([{"op": "replace", "path": "/start_state/2/body", "value": "tail"}])",
     R"(c.json: /start_state/2/body: found "tail", expected "pelvis")"},
    {"MisspelledStateKey", R"([{"op": "add", "path": "/start_state/2/velocity", "value": [0, 0, 0]}])",
     R"(c.json: /start_state/2/velocity: found the key "velocity", expected one of body, position, )"},
    {"PositionOfNull", R"([{"op": "replace", "path": "/start_state/2/position/1", "value": null}])",
     "c.json: /start_state/2/position/1: found null, expected a number from -10000 to 10000"},
    {"OrientationOfThree", R"([{"op": "remove", "path": "/start_state/2/orientation/3"}])",
     "c.json: /start_state/2/orientation: found an array of 3, expected a unit quaternion [w, x, y, z]"},
    {"OrientationNotUnit", R"([{"op": "replace", "path": "/start_state/2/orientation/0", "value": 2}])",
     "c.json: /start_state/2/orientation: found a quaternion of norm 2, expected a unit quaternion [w, x, y, z]"},
    {"NoStepsInAFragment", R"([{"op": "replace", "path": "/fragments/1/steps", "value": 0}])",
     "c.json: /fragments/1/steps: found 0, expected a whole number from 1 to 999976"},
    {"HalfAStep", R"([{"op": "replace", "path": "/fragments/1/steps", "value": 1.5}])",
     "c.json: /fragments/1/steps: found 1.5, expected a whole number from 1 to 999976"},
    {"FragmentsWithAGap", R"([{"op": "replace", "path": "/fragments/1/start", "value": 0.2}])",
     "c.json: /fragments/1/start: found 0.2, expected 0.1 (steps times time_step)"},
    {"AnotherDuration", R"([{"op": "replace", "path": "/fragments/0/duration", "value": 0.2}])",
     "c.json: /fragments/0/duration: found 0.2, expected 0.1 (steps times time_step)"},
    {"AnotherTimeStep", R"([{"op": "replace", "path": "/world/time_step", "value": 0.002}])",
     "c.json: /fragments/0/duration: found 0.1, expected 0.048 (steps times time_step)"},
    {"NoTargets", R"([{"op": "replace", "path": "/fragments/0/targets", "value": []}])",
     "c.json: /fragments/0/targets: found an array of 0, expected at least one target pose"},
    {"ATargetTooFew", R"([{"op": "remove", "path": "/fragments/1/targets/0/3"}])",
     "c.json: /fragments/1/targets/0: found an array of 15, expected an array of 16 quaternions, one per joint"},
    {"TargetNotUnit", R"([{"op": "replace", "path": "/fragments/1/targets/0/3", "value": [0, 0, 0, 0]}])",
     "c.json: /fragments/1/targets/0/3: found a quaternion of norm 0, expected a unit quaternion [w, x, y, z]"},
    {"TargetAsText", R"([{"op": "replace", "path": "/fragments/1/targets/0/3/2", "value": "x"}])",
     R"(c.json: /fragments/1/targets/0/3/2: found "x", expected a number from -2 to 2)"},
};
INSTANTIATE_TEST_SUITE_P(File, BadControl, ::testing::ValuesIn(kMutations),
                         [](const auto& mutation) { return std::string(mutation.param.name); });

TEST(ControlFile, CutShortAtAnyLineIsRefused) {
  const std::string text = FormatControl(Human(), Standing(2));
  for (size_t end = 0; end < text.size() - 2; end = text.find('\n', end + 1)) {
    EXPECT_THROW(ParseControl(text.substr(0, end), "c.json"), InputError) << end;
  }
}

}  // namespace
}  // namespace retrace::control
