/// Characters made and changed in code: what they are, and that their documents say the same.
#include "retrace/character/builder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "character/sample_human.h"
#include "retrace/io/error.h"
#include "retrace/math/rotation.h"

namespace retrace::character {
namespace {

void ExpectSame(const Shape& a, const Shape& b) {
  EXPECT_EQ(a.kind, b.kind);
  EXPECT_EQ(a.size, b.size);
  EXPECT_EQ(a.radius, b.radius);
  EXPECT_EQ(a.length, b.length);
  EXPECT_EQ(a.axis, b.axis);
  EXPECT_LT((a.offset - b.offset).norm(), 1e-12);
  EXPECT_EQ(a.mesh.triangles, b.mesh.triangles);
  ASSERT_EQ(a.mesh.vertices.size(), b.mesh.vertices.size());
  for (size_t v = 0; v < a.mesh.vertices.size(); ++v) {
    EXPECT_LT((a.mesh.vertices[v] - b.mesh.vertices[v]).norm(), 1e-12);
  }
}

/// All but the documents.
void ExpectSame(const Character& a, const Character& b) {
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.height, b.height);
  EXPECT_EQ(a.root_scale, b.root_scale);
  EXPECT_EQ(a.root, b.root);
  EXPECT_EQ(a.end_effectors, b.end_effectors);
  EXPECT_EQ(a.self_pairs, b.self_pairs);
  EXPECT_EQ(a.contact_presets, b.contact_presets);
  EXPECT_EQ(a.joint_of_body, b.joint_of_body);
  ASSERT_EQ(a.bodies.size(), b.bodies.size());
  for (size_t i = 0; i < a.bodies.size(); ++i) {
    SCOPED_TRACE(a.bodies[i].name);
    EXPECT_EQ(a.bodies[i].name, b.bodies[i].name);
    EXPECT_EQ(a.bodies[i].segment, b.bodies[i].segment);
    EXPECT_EQ(a.bodies[i].part, b.bodies[i].part);
    EXPECT_EQ(a.bodies[i].mass, b.bodies[i].mass);
    EXPECT_LT((a.bodies[i].InertiaTensor() - b.bodies[i].InertiaTensor()).norm(), 1e-12);
    EXPECT_EQ(a.bodies[i].rest_position, b.bodies[i].rest_position);
    ASSERT_EQ(a.bodies[i].shapes.size(), b.bodies[i].shapes.size());
    for (size_t s = 0; s < a.bodies[i].shapes.size(); ++s) ExpectSame(a.bodies[i].shapes[s], b.bodies[i].shapes[s]);
  }
  ASSERT_EQ(a.joints.size(), b.joints.size());
  for (size_t j = 0; j < a.joints.size(); ++j) {
    const Joint& p = a.joints[j];
    const Joint& q = b.joints[j];
    SCOPED_TRACE(p.name);
    EXPECT_EQ(p.name, q.name);
    EXPECT_EQ(p.parent, q.parent);
    EXPECT_EQ(p.child, q.child);
    EXPECT_EQ(p.type, q.type);
    EXPECT_EQ(p.axis, q.axis);
    EXPECT_EQ(p.anchor, q.anchor);
    EXPECT_EQ(p.kp, q.kp);
    EXPECT_EQ(p.kd, q.kd);
    EXPECT_EQ(p.strength_scale, q.strength_scale);
    EXPECT_EQ(p.window, q.window);
    EXPECT_EQ(p.contact_scale_min, q.contact_scale_min);
    EXPECT_EQ(p.contact_scale_max, q.contact_scale_max);
  }
}

/// The character made anew from its fields, through every function that adds.
Character Rebuilt(const Character& character) {
  CharacterBuilder builder(character.name, character.height);
  builder.SetRootScale(character.root_scale);
  for (const Body& body : character.bodies) builder.AddBody(body);
  for (const Joint& joint : character.joints) builder.AddJoint(joint);
  for (const int body : character.end_effectors)
    builder.AddEndEffector(character.bodies[static_cast<size_t>(body)].name);
  const auto& pairs = character.self_pairs;
  for (size_t a = 0; a < character.bodies.size(); ++a) {
    for (size_t b = a + 1; b < character.bodies.size(); ++b) {
      const std::pair<int, int> pair(static_cast<int>(a), static_cast<int>(b));
      if (std::find(pairs.begin(), pairs.end(), pair) != pairs.end()) continue;
      builder.ExcludePair(character.bodies[a].name, character.bodies[b].name);
    }
  }
  for (const auto& [preset, scales] : character.contact_presets) {
    for (size_t j = 0; j < scales.size(); ++j) builder.SetContactScale(preset, character.joints[j].name, scales[j]);
  }
  return builder.Build("rebuilt");
}

TEST(CharacterBuilder, MakesTheShippedCharactersAnew) {
  for (const char* name : {"human", "asimo", "quadruped"}) {
    SCOPED_TRACE(name);
    const Character character = LoadCharacter(std::string(RETRACE_SOURCE_DIR) + "/data/characters/" + name + ".json");
    const Character rebuilt = Rebuilt(character);
    ExpectSame(rebuilt, character);
    ExpectSame(ParseCharacter(io::ParseJson(rebuilt.json->dump(), "again"), "again"), rebuilt);
  }
}

TEST(CharacterBuilder, KeepsADocumentThatItDoesNotChange) {
  EXPECT_EQ(CharacterBuilder(Human()).Build("human").json->dump(), Human().json->dump());
}

/// One body of every kind of shape, with a mesh that is not about its own middle and a tensor that is not diagonal.
TEST(CharacterBuilder, HoldsEveryShapeAndTurnedInertia) {
  Body body;
  body.name = "thing";
  body.segment = "left_hand";
  body.part = Part::kHand;
  body.mass = 2;
  body.inertia = Vec3(0.1, 0.2, 0.25);
  body.principal_axes = AxisRotation(1, 0.4).toRotationMatrix() * AxisRotation(0, 0.3).toRotationMatrix();
  body.turned = true;
  body.rest_position = Vec3(0, 1, 0.5);
  body.shapes.resize(3);
  body.shapes[0].size = Vec3(0.1, 0.2, 0.3);
  body.shapes[1].kind = Shape::Kind::kCapsule;
  body.shapes[1].radius = 0.05;
  body.shapes[1].length = 0.2;
  body.shapes[1].axis = 2;
  body.shapes[1].offset = Vec3(0.1, 0, -0.1);
  body.shapes[2].kind = Shape::Kind::kMesh;
  body.shapes[2].mesh.vertices = {{0, 0, 0}, {2, 0, 0}, {0, 4, 0}, {0, 0, 6}};
  body.shapes[2].mesh.triangles = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};
  body.shapes[2].offset = Vec3(0.5, 0, 0);
  CharacterBuilder builder("one", 1);
  EXPECT_EQ(builder.AddBody(body), 0);
  const Character character = builder.Build("one");
  const Body& built = character.bodies[0];
  EXPECT_EQ(built.segment, "left_hand");
  EXPECT_EQ(built.part, Part::kHand);
  EXPECT_TRUE(built.turned);
  EXPECT_LT((built.inertia - body.inertia).norm(), 1e-12);
  EXPECT_LT((built.InertiaTensor() - body.InertiaTensor()).norm(), 1e-12);
  ExpectSame(built.shapes[0], body.shapes[0]);
  ExpectSame(built.shapes[1], body.shapes[1]);
  EXPECT_LT((built.shapes[2].offset - Vec3(1.5, 2, 3)).norm(), 1e-12);  // the middle of the box about the mesh
  EXPECT_LT((built.shapes[2].mesh.vertices[1] - Vec3(1, -2, -3)).norm(), 1e-12);
  ExpectSame(Rebuilt(character), character);
}

/// A ball of even density has the moment 2/5 m r^2 about any axis through its center.
TEST(CharacterBuilder, ALoadIsABallAtTheCenterOfMass) {
  Mat3 tensor;
  tensor << 0.034, 0.001, -0.002, 0.001, 0.022, 0.003, -0.002, 0.003, 0.03;
  CharacterBuilder builder(Human());
  builder.SetInertia("head", tensor);
  builder.AddLoad("head", 3, 0.2);
  builder.AddLoad("trunk", 10, 0.15);
  const Character loaded = builder.Build("loaded");
  const Mat3 ball = 0.4 * 3 * 0.2 * 0.2 * Mat3::Identity();
  EXPECT_LT((BodyOf(loaded, "head").InertiaTensor() - tensor - ball).norm(), 1e-14);
  EXPECT_NEAR(BodyOf(loaded, "head").mass, BodyOf(Human(), "head").mass + 3, 1e-12);
  EXPECT_NEAR(BodyOf(loaded, "trunk").inertia.y(), BodyOf(Human(), "trunk").inertia.y() + 0.4 * 10 * 0.15 * 0.15,
              1e-14);
  EXPECT_NEAR(loaded.total_mass(), Human().total_mass() + 13, 1e-9);
  EXPECT_EQ(BodyOf(loaded, "pelvis").mass, BodyOf(Human(), "pelvis").mass);
}

TEST(CharacterBuilder, ADiagonalTensorIsThreeMoments) {
  CharacterBuilder builder(Human());
  builder.SetInertia("head", Vec3(0.1, 0.2, 0.25).asDiagonal().toDenseMatrix());
  builder.SetMass("head", 7);
  const Character character = builder.Build("c");
  EXPECT_FALSE(BodyOf(character, "head").turned);
  EXPECT_EQ(BodyOf(character, "head").inertia, Vec3(0.1, 0.2, 0.25));
  EXPECT_EQ(BodyOf(character, "head").mass, 7);
}

/// A document may name its joints in any order; the character sorts them.
TEST(CharacterBuilder, ChangesTheJointThatIsNamed) {
  io::Json document = *Human().json;
  std::reverse(document["joints"].begin(), document["joints"].end());
  CharacterBuilder builder(ParseCharacter(document, "reversed"));
  builder.SetServo("left_knee", 123, 4.5);
  builder.SetWindow("left_knee", Vec3(0.3, 9, 9));  // a hinge about x
  builder.SetWindow("left_hip", Vec3(0.1, 0.2, 0.3));
  const Character changed = builder.Build("changed");
  for (const Joint& joint : changed.joints) {
    const Joint& before = JointOf(Human(), joint.name);
    const bool knee = joint.name == "left_knee";
    EXPECT_EQ(joint.kp, knee ? 123 : before.kp) << joint.name;
    EXPECT_EQ(joint.kd, knee ? 4.5 : before.kd) << joint.name;
  }
  ASSERT_EQ(JointOf(changed, "left_knee").axis, 0);
  EXPECT_EQ(JointOf(changed, "left_knee").window, Vec3(0.3, 0, 0));
  EXPECT_EQ(JointOf(changed, "left_hip").window, Vec3(0.1, 0.2, 0.3));  // in the order x, y, z, as it was not before
  EXPECT_EQ(JointOf(changed, "right_hip").window, JointOf(Human(), "right_hip").window);
}

TEST(CharacterBuilder, ReplacesShapes) {
  Shape ball;
  ball.kind = Shape::Kind::kCapsule;
  ball.radius = 0.1;
  CharacterBuilder builder(Human());
  builder.SetShapes("trunk", {ball});
  const Character character = builder.Build("c");
  ASSERT_EQ(BodyOf(character, "trunk").shapes.size(), 1u);
  ExpectSame(BodyOf(character, "trunk").shapes[0], ball);
}

TEST(CharacterBuilder, AScaledMassIsSharedAsBefore) {
  CharacterBuilder builder(Human());
  builder.ScaleMass(1.5);
  const Character heavy = builder.Build("heavy");
  EXPECT_NEAR(heavy.total_mass(), 1.5 * Human().total_mass(), 1e-9);
  for (size_t b = 0; b < heavy.bodies.size(); ++b) {
    EXPECT_NEAR(heavy.bodies[b].mass, 1.5 * Human().bodies[b].mass, 1e-12);
    EXPECT_LT((heavy.bodies[b].InertiaTensor() - 1.5 * Human().bodies[b].InertiaTensor()).norm(), 1e-12);
  }
  for (size_t j = 0; j < heavy.joints.size(); ++j) {
    EXPECT_NEAR(heavy.joints[j].kp, 1.5 * Human().joints[j].kp, 1e-9);
    EXPECT_NEAR(heavy.joints[j].kd, 1.5 * Human().joints[j].kd, 1e-9);
    EXPECT_EQ(heavy.joints[j].window, Human().joints[j].window);
  }
}

TEST(CharacterBuilder, RefusesWhatIsNoCharacter) {
  const auto refusal = [](const CharacterBuilder& builder) {
    try {
      builder.Build("made");
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("not refused");
  };
  const std::string none = refusal(CharacterBuilder("none", 1));
  EXPECT_NE(none.find("made: /bodies: "), std::string::npos) << none;
  EXPECT_NE(none.find("expected at least one body"), std::string::npos) << none;
  CharacterBuilder massless(Human());
  massless.SetMass("trunk", 0);
  EXPECT_NE(refusal(massless).find("made: /bodies/1/mass: found 0"), std::string::npos) << refusal(massless);
  CharacterBuilder loose(Human());
  Body body = BodyOf(Human(), "head");
  body.name = "second head";
  loose.AddBody(body);
  EXPECT_NE(refusal(loose).find("2 bodies that no joint moves"), std::string::npos) << refusal(loose);
  CharacterBuilder flat(Human());
  flat.SetInertia("head", Vec3(1, 1, 3).asDiagonal().toDenseMatrix());
  EXPECT_NE(refusal(flat).find("none above the sum of the other two"), std::string::npos) << refusal(flat);
}

TEST(CharacterBuilder, NamesBodiesAndJointsThatExist) {
  CharacterBuilder builder(Human());
  EXPECT_THROW(builder.SetMass("tail", 1), std::invalid_argument);
  EXPECT_THROW(builder.SetServo("tail", 1, 1), std::invalid_argument);
  EXPECT_THROW(builder.ExcludePair("head", "tail"), std::invalid_argument);
  EXPECT_THROW(builder.SetContactScale("flight", "tail", 1), std::invalid_argument);
  Joint joint = Human().joints[0];
  joint.parent = static_cast<int>(Human().bodies.size());
  EXPECT_THROW(builder.AddJoint(joint), std::invalid_argument);
}

}  // namespace
}  // namespace retrace::character
