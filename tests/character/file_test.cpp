/// Wrong character files: each is refused with the position, what was found and what was expected.
#include "retrace/io/file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "character/sample_human.h"
#include "retrace/io/error.h"

namespace retrace::character {
namespace {

using io::Json;

Json HumanJson() {
  return io::ReadJson(std::string(RETRACE_SOURCE_DIR) + "/data/characters/human.json");
}

std::string Refusal(const Json& document) {
  try {
    ParseCharacter(document, "c.json");
  } catch (const InputError& error) {
    EXPECT_EQ(error.code(), ExitCode::kInput);
    return error.what();
  } catch (const std::exception& error) {
    return std::string("not an InputError: ") + error.what();
  }
  return "not refused";
}

/// One change of human.json, as a JSON patch, and the message that it must cause.
struct Mutation {
  const char* name;
  const char* patch;
  const char* message;
};
void PrintTo(const Mutation& mutation, std::ostream* out) {
  *out << mutation.name;
}

class BadCharacter : public ::testing::TestWithParam<Mutation> {};

TEST_P(BadCharacter, IsRefused) {
  // A patch works on sorted objects as on ordered ones.
  const Json changed = HumanJson().patch(Json::parse(GetParam().patch));
  EXPECT_EQ(Refusal(changed), GetParam().message);
}

const Mutation kMutations[] = {
    {"NoFormat", R"([{"op": "remove", "path": "/format"}])",
     R"(c.json: /: found no "format", expected an object with "format")"},
    {"OtherFormat", R"([{"op": "replace", "path": "/format", "value": "urdf"}])",
     R"(c.json: /format: found "urdf", expected "retrace-character")"},
    {"LaterVersion", R"([{"op": "replace", "path": "/version", "value": 2}])",
     "c.json: /version: found 2, expected a whole number from 1 to 1"},
    {"VersionAsText", R"([{"op": "replace", "path": "/version", "value": "1"}])",
     R"(c.json: /version: found "1", expected a whole number from 1 to 1)"},
    {"NoName", R"([{"op": "remove", "path": "/name"}])",
     R"(c.json: /: found no "name", expected an object with "name")"},
    {"UnknownKey", R"([{"op": "add", "path": "/heigth", "value": 1.7}])",
     R"(c.json: /heigth: found the key "heigth", expected one of format, version, name, source, height, root_scale, planar, root_frame, bodies, joints, )"
     R"(end_effectors, no_self_collision, contact_presets)"},
    {"NoHeight", R"([{"op": "remove", "path": "/height"}])",
     R"(c.json: /: found no "height", expected an object with "height")"},
    {"HeightOfZero", R"([{"op": "replace", "path": "/height", "value": 0}])",
     "c.json: /height: found 0, expected a number from 0.01 to 1000"},
    {"BodiesAsObject", R"([{"op": "replace", "path": "/bodies", "value": {}}])",
     "c.json: /bodies: found an object, expected an array"},
    {"NoBodies", R"([{"op": "replace", "path": "/bodies", "value": []}])",
     "c.json: /bodies: found an array of 0, expected at least one body"},
    {"BodyAsText", R"([{"op": "replace", "path": "/bodies/0", "value": "head"}])",
     R"(c.json: /bodies/0: found "head", expected an object)"},
    {"MissingMass", R"([{"op": "remove", "path": "/bodies/3/mass"}])",
     R"(c.json: /bodies/3: found no "mass", expected an object with "mass")"},
    {"NegativeMass", R"([{"op": "replace", "path": "/bodies/1/mass", "value": -14.31}])",
     "c.json: /bodies/1/mass: found -14.31, expected a number from 1e-09 to 1e+06"},
    {"MassOfZero", R"([{"op": "replace", "path": "/bodies/1/mass", "value": 0}])",
     "c.json: /bodies/1/mass: found 0, expected a number from 1e-09 to 1e+06"},
    {"MassAsText", R"([{"op": "replace", "path": "/bodies/1/mass", "value": "14.31 kg"}])",
     R"(c.json: /bodies/1/mass: found "14.31 kg", expected a number from 1e-09 to 1e+06)"},
    {"MassOfNull", R"([{"op": "replace", "path": "/bodies/1/mass", "value": null}])",
     "c.json: /bodies/1/mass: found null, expected a number from 1e-09 to 1e+06"},
    {"MassNotANumber", R"([{"op": "replace", "path": "/bodies/1/mass", "value": "NaN"}])",
     R"(c.json: /bodies/1/mass: found "NaN", expected a number from 1e-09 to 1e+06)"},
    {"MisspelledBodyKey", R"([{"op": "add", "path": "/bodies/2/wieght", "value": 1}])",
     R"(c.json: /bodies/2/wieght: found the key "wieght", expected one of name, segment, part, mass, inertia, position, shapes)"},
    {"ImpossibleInertia", R"([{"op": "replace", "path": "/bodies/0/inertia/1", "value": 0.07}])",
     "c.json: /bodies/0/inertia: found an array of 3, expected moments of a real body: none above the sum of the other "
     "two"},
    {"NegativeInertia", R"([{"op": "replace", "path": "/bodies/0/inertia/1", "value": -0.02}])",
     "c.json: /bodies/0/inertia/1: found -0.02, expected a number from 1e-15 to 1e+09"},
    {"Row23InertiaJustImpossible",
     R"([{"op": "replace", "path": "/bodies/0/inertia", "value": [0.1, 0.2, 0.3000001]}])",
     "c.json: /bodies/0/inertia: found an array of 3, expected moments of a real body: none above the sum of the other "
     "two"},
    {"Row23TensorJustImpossible",
     R"([{"op": "replace", "path": "/bodies/0/inertia", "value": [0.2, 0.2, 0.1, 0.1000001, 0, 0]}])",
     "c.json: /bodies/0/inertia: found an array of 6, expected the tensor of a real body: principal moments above 0, "
     "none above the sum of the others"},
    {"Row23InertiaThatOverflows", R"([{"op": "replace", "path": "/bodies/0/inertia", "value": [1e308, 1e308, 1e308]}])",
     "c.json: /bodies/0/inertia/0: found 1e+308, expected a number from 1e-15 to 1e+09"},
    {"Row12NameWithALineFeed", R"([{"op": "replace", "path": "/bodies/0/name", "value": "he\nad"}])",
     R"(c.json: /bodies/0/name: found "he\nad", expected a name of 1 to 100 bytes without control characters, braces and stray blanks)"},
    {"Row12JointWithoutName", R"([{"op": "replace", "path": "/joints/0/name", "value": ""}])",
     R"(c.json: /joints/0/name: found "", expected a name of 1 to 100 bytes without control characters, braces and stray blanks)"},
    {"Row12PresetWithALineFeed", R"([{"op": "add", "path": "/contact_presets/a\nb", "value": {}}])",
     R"(c.json: /contact_presets/a\nb: found the key "a\nb", expected a name of 1 to 100 bytes without control characters, braces and stray blanks)"},
    {"Row13BodyFarAway", R"([{"op": "replace", "path": "/bodies/0/position/1", "value": 1e9}])",
     "c.json: /bodies/0/position/1: found 1000000000.0, expected a number from -10000 to 10000"},
    {"Row13AnchorFarAway", R"([{"op": "replace", "path": "/joints/0/anchor/0", "value": -1e9}])",
     "c.json: /joints/0/anchor/0: found -1000000000.0, expected a number from -10000 to 10000"},
    {"InertiaAsNumber", R"([{"op": "replace", "path": "/bodies/0/inertia", "value": 0.03}])",
     "c.json: /bodies/0/inertia: found 0.03, expected an array of 3 numbers"},
    {"PositionOfTwo", R"([{"op": "remove", "path": "/bodies/0/position/2"}])",
     "c.json: /bodies/0/position: found an array of 2, expected an array of 3 numbers"},
    {"PositionOfText", R"([{"op": "replace", "path": "/bodies/0/position/1", "value": "high"}])",
     R"(c.json: /bodies/0/position/1: found "high", expected a number from -10000 to 10000)"},
    {"SameBodyTwice", R"([{"op": "replace", "path": "/bodies/1/name", "value": "head"}])",
     R"(c.json: /bodies/1/name: found "head", expected a name that no other body has)"},
    {"ShapeOfNothing", R"([{"op": "replace", "path": "/bodies/1/shapes/0", "value": {}}])",
     R"(c.json: /bodies/1/shapes/0: found an object, expected one of "box", "capsule" and "mesh")"},
    {"ShapeOfBoth",
     R"([{"op": "add", "path": "/bodies/3/shapes/0/capsule", "value": {"radius": 1, "length": 1, "axis": "x"}}])",
     R"(c.json: /bodies/3/shapes/0: found an object, expected one of "box", "capsule" and "mesh")"},
    {"Sphere", R"([{"op": "replace", "path": "/bodies/1/shapes/0", "value": {"sphere": 0.1}}])",
     R"(c.json: /bodies/1/shapes/0/sphere: found the key "sphere", expected one of box, capsule, mesh, offset)"},
    {"OpenMesh",
     R"([{"op": "replace", "path": "/bodies/1/shapes/0", "value": {"mesh": {
         "vertices": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]],
         "triangles": [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 4]]}}}])",
     "c.json: /bodies/1/shapes/0/mesh/triangles/1: found an open edge, from vertex 1 to 3, expected a closed surface: "
     "another triangle that runs along it the other way"},
    {"MeshInsideOut",
     R"([{"op": "replace", "path": "/bodies/1/shapes/0", "value": {"mesh": {
         "vertices": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]],
         "triangles": [[0, 1, 2], [0, 3, 1], [0, 2, 3], [1, 3, 2]]}}}])",
     "c.json: /bodies/1/shapes/0/mesh: found a surface that is turned inside out, expected triangles that run "
     "counter-clockwise as seen from outside"},
    {"MeshWithoutThatVertex",
     R"([{"op": "replace", "path": "/bodies/1/shapes/0", "value": {"mesh": {
         "vertices": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]],
         "triangles": [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 4]]}}}])",
     "c.json: /bodies/1/shapes/0/mesh/triangles/3: found vertex 4, expected indices of vertices, 0 to 3"},
    {"MeshOfQuadrangles",
     R"([{"op": "replace", "path": "/bodies/1/shapes/0", "value": {"mesh": {
         "vertices": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], "triangles": [[0, 2, 1, 3]]}}}])",
     "c.json: /bodies/1/shapes/0/mesh/triangles/0: found an array of 4, expected three indices of vertices"},
    {"MeshVertexOfText",
     R"([{"op": "replace", "path": "/bodies/1/shapes/0", "value": {"mesh": {
         "vertices": [[0, 0, "up"]], "triangles": []}}}])",
     R"(c.json: /bodies/1/shapes/0/mesh/vertices/0/2: found "up", expected a number from -10000 to 10000)"},
    {"TensorOfNoBody", R"([{"op": "replace", "path": "/bodies/0/inertia", "value": [1, 1, 1, 0, 0, 2]}])",
     "c.json: /bodies/0/inertia: found an array of 6, expected the tensor of a real body: principal moments above 0, "
     "none above the sum of the others"},
    {"RootScale", R"([{"op": "add", "path": "/root_scale", "value": "arms"}])",
     R"(c.json: /root_scale: found "arms", expected "legs" or "height")"},
    {"FlatBox", R"([{"op": "replace", "path": "/bodies/3/shapes/0/box/2", "value": 0}])",
     "c.json: /bodies/3/shapes/0/box/2: found 0, expected a number from 1e-05 to 10000"},
    {"CapsuleOfNegativeLength", R"([{"op": "replace", "path": "/bodies/0/shapes/0/capsule/length", "value": -0.1}])",
     "c.json: /bodies/0/shapes/0/capsule/length: found -0.1, expected a number from 0 to 10000"},
    {"CapsuleAxis", R"([{"op": "replace", "path": "/bodies/0/shapes/0/capsule/axis", "value": "up"}])",
     R"(c.json: /bodies/0/shapes/0/capsule/axis: found "up", expected "x", "y" or "z")"},
    {"CapsuleKey", R"([{"op": "add", "path": "/bodies/0/shapes/0/capsule/size", "value": 1}])",
     R"(c.json: /bodies/0/shapes/0/capsule/size: found the key "size", expected one of radius, length, axis)"},
    {"NoShapes", R"([{"op": "remove", "path": "/bodies/0/shapes"}])",
     R"(c.json: /bodies/0: found no "shapes", expected an object with "shapes")"},
    {"UnknownChild", R"([{"op": "replace", "path": "/joints/0/child", "value": "torso"}])",
     R"(c.json: /joints/0/child: found "torso", expected the name of a body)"},
    {"UnknownParent", R"([{"op": "replace", "path": "/joints/1/parent", "value": "Trunk"}])",
     R"(c.json: /joints/1/parent: found "Trunk", expected the name of a body)"},
    {"OwnChild", R"([{"op": "replace", "path": "/joints/1/child", "value": "trunk"}])",
     R"(c.json: /joints/1/child: found "trunk", expected another body than the parent)"},
    {"JointType", R"([{"op": "replace", "path": "/joints/0/type", "value": "universal"}])",
     R"(c.json: /joints/0/type: found "universal", expected "ball" or "hinge")"},
    {"HingeWithoutAxis", R"([{"op": "remove", "path": "/joints/11/axis"}])",
     R"(c.json: /joints/11: found no "axis", expected an object with "axis")"},
    {"HingeAxis", R"([{"op": "replace", "path": "/joints/11/axis", "value": [1, 0]}])",
     "c.json: /joints/11/axis: found an array of 2, expected an array of 3 numbers"},
    {"HingeAxisOfNoLength", R"([{"op": "replace", "path": "/joints/11/axis", "value": [0, 0, 0]}])",
     "c.json: /joints/11/axis: found an array of 3, expected \"x\", \"y\", \"z\" or a direction"},
    {"RangeTurnedAround", R"([{"op": "add", "path": "/joints/11/range", "value": [1, -1]}])",
     "c.json: /joints/11/range: found an array of 2, expected [lowest, highest]"},
    {"RangeOfBall", R"([{"op": "add", "path": "/joints/0/range", "value": [-1, 1]}])",
     "c.json: /joints/0/range: found an array of 2, expected none on a ball joint"},
    {"NegativeEffort", R"([{"op": "add", "path": "/joints/11/effort", "value": -1}])",
     "c.json: /joints/11/effort: found -1, expected a number from 0 to 1e+09"},
    {"EffortOfTwoAxes", R"([{"op": "add", "path": "/joints/0/effort", "value": [1, 2]}])",
     "c.json: /joints/0/effort: found an array of 2, expected an array of 3 numbers"},
    {"EffortsOfAHinge", R"([{"op": "add", "path": "/joints/11/effort", "value": [1, 2, 3]}])",
     "c.json: /joints/11/effort: found an array of 3, expected a number from 0 to 1e+09"},
    {"MissingAnchor", R"([{"op": "remove", "path": "/joints/2/anchor"}])",
     R"(c.json: /joints/2: found no "anchor", expected an object with "anchor")"},
    {"StiffnessOfZero", R"([{"op": "replace", "path": "/joints/2/kp", "value": 0}])",
     "c.json: /joints/2/kp: found 0, expected a number from 1e-09 to 1e+07"},
    {"NegativeDamping", R"([{"op": "replace", "path": "/joints/2/kd", "value": -1}])",
     "c.json: /joints/2/kd: found -1, expected a number from 1e-09 to 1e+07"},
    {"WindowNotAnArray", R"([{"op": "replace", "path": "/joints/0/window", "value": 0.2}])",
     "c.json: /joints/0/window: found 0.2, expected an array of 3 numbers"},
    {"HingeWindowAnArray", R"([{"op": "replace", "path": "/joints/11/window", "value": [0.2, 0, 0]}])",
     "c.json: /joints/11/window: found an array of 3, expected a number from 0 to 3.2"},
    {"NegativeWindow", R"([{"op": "replace", "path": "/joints/0/window/1", "value": -0.2}])",
     "c.json: /joints/0/window/1: found -0.2, expected a number from 0 to 3.2"},
    {"WindowInDegrees", R"([{"op": "replace", "path": "/joints/0/window/1", "value": 20}])",
     "c.json: /joints/0/window/1: found 20, expected a number from 0 to 3.2"},
    {"ScaleOfZero", R"([{"op": "replace", "path": "/joints/0/strength_scale/0", "value": 0}])",
     "c.json: /joints/0/strength_scale/0: found 0, expected a number from 1e-06 to 1000"},
    {"MisspelledJointKey", R"([{"op": "add", "path": "/joints/0/windows", "value": 0}])",
     R"(c.json: /joints/0/windows: found the key "windows", expected one of name, parent, child, type, axis, anchor, kp, kd, )"
     R"(strength_scale, window, window_axes, contact_scale, cost_weight, range, effort, speed, armature)"},
    {"WindowAxesTwice", R"([{"op": "replace", "path": "/joints/10/window_axes", "value": "xyy"}])",
     R"(c.json: /joints/10/window_axes: found "xyy", expected an order of the letters x, y, z)"},
    {"SameJointTwice", R"([{"op": "replace", "path": "/joints/1/name", "value": "waist"}])",
     R"(c.json: /joints/1/name: found "waist", expected a name that no other joint has)"},
    {"TwoJointsForABody", R"([{"op": "replace", "path": "/joints/1/child", "value": "left_hand"}])",
     R"(c.json: /joints/5/child: found a second joint that moves "left_hand", expected one joint per body)"},
    {"TwoRoots", R"([{"op": "remove", "path": "/joints/1"}])",
     "c.json: /joints: found 2 bodies that no joint moves, expected one tree with one root body"},
    {"NoRoot",
     R"([{"op": "add", "path": "/joints/-", "value": {"name": "ring", "parent": "left_foot", "child": "pelvis",
          "type": "ball", "anchor": [0, 0, 0], "kp": 1, "kd": 1, "strength_scale": [1, 1, 1], "window": [0, 0, 0]}}])",
     "c.json: /joints: found 0 bodies that no joint moves, expected one tree with one root body"},
    {"Loop", R"([{"op": "replace", "path": "/joints/0/parent", "value": "head"}])",
     "c.json: /joints: found a loop of joints, expected one tree with one root body"},
    {"ContactScaleOfThree", R"([{"op": "replace", "path": "/joints/12/contact_scale", "value": [1, 2, 3]}])",
     "c.json: /joints/12/contact_scale: found an array of 3, expected a number or [least, most]"},
    {"ContactScaleBackwards", R"([{"op": "replace", "path": "/joints/12/contact_scale", "value": [5, 1]}])",
     "c.json: /joints/12/contact_scale/1: found 1, expected a number from 5 to 1000"},
    {"ContactScaleBelowOne", R"([{"op": "replace", "path": "/joints/3/contact_scale", "value": 0.5}])",
     "c.json: /joints/3/contact_scale: found 0.5, expected a number from 1 to 1000"},
    {"UnknownEndEffector", R"([{"op": "add", "path": "/end_effectors/-", "value": "tail"}])",
     R"(c.json: /end_effectors/4: found "tail", expected the name of a body)"},
    {"PairOfOne", R"([{"op": "add", "path": "/no_self_collision/-", "value": ["head"]}])",
     "c.json: /no_self_collision/16: found an array of 1, expected two names of bodies"},
    {"PairWithAStranger", R"([{"op": "add", "path": "/no_self_collision/-", "value": ["head", "hat"]}])",
     R"(c.json: /no_self_collision/16/1: found "hat", expected the name of a body)"},
    {"PresetOfAStranger", R"([{"op": "add", "path": "/contact_presets/flight/hock", "value": 2}])",
     R"(c.json: /contact_presets/flight/hock: found "hock", expected the name of a joint)"},
    {"PresetTooStrong", R"([{"op": "replace", "path": "/contact_presets/flight/left_ankle", "value": 6}])",
     "c.json: /contact_presets/flight/left_ankle: found 6, expected a number from 1 to 5"},
};
INSTANTIATE_TEST_SUITE_P(Human, BadCharacter, ::testing::ValuesIn(kMutations),
                         [](const auto& mutation) { return std::string(mutation.param.name); });

/// Whatever key of the file is taken away, the reader either does without it or says what is missing.
TEST(CharacterFile, EveryKeyIsOptionalOrMissed) {
  const Json human = HumanJson();
  const Json flat = human.flatten();
  int optional = 0;
  std::vector<std::string> places = {"/bodies", "/joints", "/end_effectors", "/no_self_collision", "/contact_presets"};
  for (const auto& [place, value] : flat.items()) places.push_back(place);
  for (const std::string& place : places) {
    const std::string message = Refusal(human.patch(Json::array({Json{{"op", "remove"}, {"path", place}}})));
    if (message == "not refused") {
      ++optional;
    } else {
      EXPECT_TRUE(message.starts_with("c.json: /") && message.find(": found ") != std::string::npos &&
                  message.find(", expected ") != std::string::npos)
          << place << " -> " << message;
    }
  }
  EXPECT_GT(optional, 10);
  EXPECT_LT(optional, 80);  // contact scales, end effectors, entries of presets
}

/// Whatever value is replaced by one of another kind, the reader says so and never lets anything else escape.
TEST(CharacterFile, EveryValueHasItsType) {
  const Json human = HumanJson();
  const Json flat = human.flatten();
  const Json values[] = {nullptr, true, "?", -7, Json::array(), Json::object()};
  for (const auto& [place, value] : flat.items()) {
    if (place == "/source") continue;
    for (const Json& wrong : values) {
      if (value.is_number() && wrong.is_number() &&
          (place.find("position") != std::string::npos || place.find("anchor") != std::string::npos ||
           place.find("offset") != std::string::npos)) {
        continue;
      }
      if (wrong == "?" && (place == "/name" || place.starts_with("/joints/"))) continue;  // a name like another
      if (place.starts_with("/contact_presets/none") && wrong.is_object()) continue;
      const std::string message =
          Refusal(human.patch(Json::array({Json{{"op", "replace"}, {"path", place}, {"value", wrong}}})));
      EXPECT_TRUE(message.starts_with("c.json: /")) << place << " = " << wrong << " -> " << message;
    }
  }
}

TEST(CharacterFile, NamesTheFile) {
  const auto path =
      std::filesystem::temp_directory_path() / ("retrace_character_" + std::to_string(::getpid()) + ".json");
  io::WriteFile(path, "{\n\"format\": }");
  try {
    LoadCharacter(path);
    ADD_FAILURE() << "not refused";
  } catch (const InputError& error) {
    EXPECT_EQ(std::string(error.what()), path.string() + ":2:11: found '}', expected valid JSON");
  }
  std::filesystem::remove(path);
}

TEST(CharacterFile, SegmentIsTheNameUnlessGiven) {
  Json human = HumanJson();
  human["bodies"][0]["segment"] = "skull";
  const Character character = ParseCharacter(human, "c.json");
  EXPECT_EQ(character.bodies[0].segment, "skull");
  EXPECT_EQ(character.bodies[1].segment, "trunk");
}

TEST(CharacterFile, JointsMayComeInAnyOrder) {
  Json human = HumanJson();
  std::reverse(human["joints"].begin(), human["joints"].end());
  const Character character = ParseCharacter(human, "c.json");
  std::vector<bool> placed(character.bodies.size(), false);
  placed[static_cast<size_t>(character.root)] = true;
  for (const Joint& joint : character.joints) {
    EXPECT_TRUE(placed[static_cast<size_t>(joint.parent)]) << joint.name;
    placed[static_cast<size_t>(joint.child)] = true;
  }
  EXPECT_EQ(character.contact_presets.at("flight")[static_cast<size_t>(character.FindJoint("left_ankle"))], 5);
}

TEST(CharacterFile, KeepsItsDocument) {
  EXPECT_EQ(*ParseCharacter(HumanJson(), "c.json").json, HumanJson());
}

/// A tensor and its principal moments are the same body.
/// The planar human with one change, as a JSON patch.
std::string RefusalOfPlanar(const char* patch) {
  const Json planar = io::ReadJson(std::string(RETRACE_SOURCE_DIR) + "/data/characters/planar_human.json");
  return Refusal(planar.patch(Json::parse(patch)));
}

TEST(PlanarCharacter, HasHingesAndInertiasAcrossItsPlane) {
  EXPECT_EQ(Refusal(HumanJson().patch(Json::parse(R"([{"op": "add", "path": "/planar", "value": true}])"))),
            R"(c.json: /joints/0/type: found "ball", expected "hinge", as of the joints of a planar character)");
  EXPECT_EQ(RefusalOfPlanar(R"([{"op": "replace", "path": "/joints/3/axis", "value": "y"}])"),
            R"(c.json: /joints/3/axis: found "y", expected "x", as of the joints of a planar character)");
  EXPECT_EQ(RefusalOfPlanar(R"([{"op": "replace", "path": "/bodies/1/inertia", "value": [2, 2, 2, 0.1, 0, 0]}])"),
            "c.json: /bodies/1/inertia: found an array of 6, expected xy and xz of 0, as of the bodies of a planar "
            "character");
  EXPECT_EQ(RefusalOfPlanar(R"([{"op": "replace", "path": "/planar", "value": 1}])"),
            "c.json: /planar: found 1, expected true or false");
  EXPECT_EQ(RefusalOfPlanar(R"([{"op": "replace", "path": "/bodies/1/inertia", "value": [2, 2, 2, 0, 0, 0.1]}])"),
            "not refused");
}

TEST(InertiaTensor, IsTakenApartIntoMomentsAndAxes) {
  Json document = HumanJson();
  document["bodies"][0]["inertia"] = {0.034, 0.022, 0.03, 0.001, -0.002, 0.003};
  const Character character = ParseCharacter(document, "c.json");
  const Body& head = character.bodies[0];
  Mat3 expected;
  expected << 0.034, 0.001, -0.002, 0.001, 0.022, 0.003, -0.002, 0.003, 0.03;
  EXPECT_LT((head.InertiaTensor() - expected).norm(), 1e-15);
  EXPECT_TRUE(head.turned);
  EXPECT_NEAR(head.principal_axes.determinant(), 1, 1e-14);
  EXPECT_FALSE(character.bodies[1].turned);
}

TEST(MeshShape, IsTheSameWhereverItsVerticesAreCounted) {
  Json document = HumanJson();
  document["bodies"][1]["shapes"] = Json::parse(R"([
      {"mesh": {"vertices": [[0, 0, 0], [2, 0, 0], [0, 4, 0], [0, 0, 6]],
                "triangles": [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]}, "offset": [0.5, 0, 0]}])");
  const Shape shape = ParseCharacter(document, "c.json").bodies[1].shapes[0];
  EXPECT_EQ(shape.kind, Shape::Kind::kMesh);
  EXPECT_EQ(shape.offset, Vec3(1.5, 2, 3));  // the middle of the box about it
  EXPECT_EQ(shape.mesh.vertices[1], Vec3(1, -2, -3));
  EXPECT_EQ(shape.HalfExtents(), Vec3(1, 2, 3));
  EXPECT_NEAR(shape.BoundingRadius(), std::sqrt(14.0), 1e-14);
}

}  // namespace
}  // namespace retrace::character
