/// A body on four legs that nothing was made for: what its file promises, and how clips are mapped onto it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "retrace/character/kinematics.h"
#include "retrace/io/error.h"
#include "retrace/math/rotation.h"
#include "retrace/recordings/bvh.h"
#include "retrace/retargeting/reference.h"

namespace retrace::character {
namespace {

using testing::HasSubstr;

const std::string kData = std::string(RETRACE_SOURCE_DIR) + "/data";

const Character& Quadruped() {
  static const Character character = LoadCharacter(kData + "/characters/quadruped.json");
  return character;
}

motion::Clip Trot() {
  return motion::ReadBvh(kData + "/clips/trot.bvh");
}

std::string Refusal(const motion::Clip& clip, const ReferenceOptions& options = {}) {
  try {
    ReferenceReport report;
    MakeReference(Quadruped(), clip, "clip.bvh", options, report);
  } catch (const InputError& error) {
    return error.what();
  }
  return "not refused";
}

TEST(Quadruped, MassesAndInertiasAreThoseOfItsShapesInWater) {
  constexpr double kDensity = 1000;
  for (const Body& body : Quadruped().bodies) {
    SCOPED_TRACE(body.name);
    ASSERT_EQ(body.shapes.size(), 1u);
    const Shape& shape = body.shapes[0];
    double mass = 0;
    Vec3 inertia = Vec3::Zero();
    if (shape.kind == Shape::Kind::kBox) {
      mass = kDensity * shape.size.prod();
      const Vec3 squared = shape.size.cwiseAbs2();
      inertia = mass / 12 * Vec3(squared.y() + squared.z(), squared.x() + squared.z(), squared.x() + squared.y());
    } else {
      // The solid of revolution, in thin discs.
      const int n = 4000;
      const double half = 0.5 * shape.length + shape.radius;
      double across = 0;
      double along = 0;
      for (int i = 0; i < n; ++i) {
        const double y = half * (2 * (i + 0.5) / n - 1);
        const double over = std::max(0.0, std::abs(y) - 0.5 * shape.length);
        const double r2 = shape.radius * shape.radius - over * over;
        const double disc = kDensity * kPi * r2 * 2 * half / n;
        mass += disc;
        along += 0.5 * disc * r2;
        across += disc * (0.25 * r2 + y * y);
      }
      inertia = Vec3::Constant(across);
      inertia[shape.axis] = along;
    }
    EXPECT_NEAR(body.mass, mass, 1e-3 * mass);
    for (int k = 0; k < 3; ++k) EXPECT_NEAR(body.inertia[k], inertia[k], 2e-3 * inertia[k]);
  }
}

TEST(Quadruped, GainsAreTheHumansTimesWhatTheJointsCarry) {
  const Character human = LoadCharacter(kData + "/characters/human.json");
  const auto leg = [](const Character& c, const char* hip, const char* ankle) {
    return (c.joints[static_cast<size_t>(c.FindJoint(hip))].anchor -
            c.joints[static_cast<size_t>(c.FindJoint(ankle))].anchor)
        .norm();
  };
  const double ratio = Quadruped().total_mass() * leg(Quadruped(), "left_hip", "left_ankle") /
                       (human.total_mass() * leg(human, "left_hip", "left_ankle"));
  const auto of = [](const Character& c, const std::string& name) {
    return c.joints[static_cast<size_t>(c.FindJoint(name))];
  };
  for (const std::string side : {"left", "right"}) {
    for (const auto& [joint, like] : {std::pair{"_hip", "_hip"},
                                      {"_shoulder", "_hip"},
                                      {"_stifle", "_knee"},
                                      {"_elbow", "_knee"},
                                      {"_ankle", "_ankle"},
                                      {"_wrist", "_ankle"}}) {
      const Joint& a = of(Quadruped(), side + joint);
      const Joint& b = of(human, side + like);
      EXPECT_NEAR(a.kp, ratio * b.kp, 0.03 * a.kp) << joint;
      EXPECT_NEAR(a.kd, ratio * b.kd, 0.03 * a.kd) << joint;
      EXPECT_EQ(a.window, b.window) << joint;
    }
  }
}

TEST(Quadruped, PartsFollowFromTheFile) {
  std::map<Part, int> count;
  for (const Body& body : Quadruped().bodies) ++count[body.part];
  EXPECT_EQ(count[Part::kFoot], 4);
  EXPECT_EQ(count[Part::kLowerLeg], 4);
  EXPECT_EQ(count[Part::kHand], 0);
  EXPECT_EQ(count[Part::kBody], 8);
  io::Json document = io::ReadJson(kData + "/characters/quadruped.json");
  document["bodies"][0]["part"] = "wing";
  try {
    ParseCharacter(document, "q.json");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("q.json: /bodies/0/part: found \"wing\""));
  }
}

TEST(QuadrupedReference, HasTheRecordedJointsWhereTheyWere) {
  const motion::Clip clip = Trot();
  ReferenceOptions options;
  options.smoothing = 1e-4;
  options.level_floor = false;
  options.floor_height = 0;
  ReferenceReport report;
  const ReferenceMotion reference = MakeReference(Quadruped(), clip, "trot.bvh", options, report);
  EXPECT_EQ(report.map.family, "the character's own names");
  EXPECT_NEAR(report.scale, 1, 1e-6);
  EXPECT_EQ(report.unit, 1);
  double worst = 0;
  for (size_t f = 0; f < clip.frames.size(); ++f) {
    motion::GlobalPose recorded;
    motion::ForwardKinematics(clip.skeleton, clip.frames[f], recorded);
    State state;
    ForwardKinematics(Quadruped(), reference.poses()[2 * f], state);
    for (const auto& [joint, name] : {std::pair{"left_ankle", "LeftHindFoot"},
                                      {"right_wrist", "RightForeFoot"},
                                      {"head", "Head"},
                                      {"spine", "Trunk"},
                                      {"right_elbow", "RightForeLower"}}) {
      const Joint& j = Quadruped().joints[static_cast<size_t>(Quadruped().FindJoint(joint))];
      const Vec3 there = recorded.positions[static_cast<size_t>(clip.skeleton.Find(name))];
      worst = std::max(worst, (JointPosition(Quadruped(), j, state) - there).norm());
    }
  }
  EXPECT_LT(worst, 1e-3);
}

TEST(QuadrupedReference, IsTheSameFromAClipOfAnotherSizeAndUpAxis) {
  ReferenceReport report;
  const ReferenceMotion plain = MakeReference(Quadruped(), Trot(), "trot.bvh", {}, report);
  motion::Clip other = Trot();
  other.unit = 0;
  const Quat up = AxisRotation(0, kPi / 2);  // y to z
  const double size = 150;                   // one and a half times as large, in centimeters
  for (motion::Joint& joint : other.skeleton.joints) joint.offset = size * (up * joint.offset);
  for (motion::Frame& frame : other.frames) {
    for (Vec3& translation : frame.translations) translation = size * (up * translation);
    for (Quat& rotation : frame.rotations) rotation = up * rotation * up.conjugate();
  }
  ReferenceOptions options;
  options.up_axis = "z";
  const ReferenceMotion turned = MakeReference(Quadruped(), other, "trot.bvh", options, report);
  EXPECT_NEAR(report.scale, 1 / size, 1e-6);
  EXPECT_EQ(report.unit, 0.01);
  ASSERT_EQ(turned.poses().size(), plain.poses().size());
  for (size_t f = 0; f < plain.poses().size(); f += 20) {
    State a;
    State b;
    ForwardKinematics(Quadruped(), plain.poses()[f], a);
    ForwardKinematics(Quadruped(), turned.poses()[f], b);
    for (size_t i = 0; i < a.size(); ++i) EXPECT_LT((a[i].position - b[i].position).norm(), 1e-6);
  }
}

TEST(QuadrupedReference, NeedsItsLegsButNotItsHead) {
  motion::Clip clip = Trot();
  const auto rename = [&](const char* from, const char* to) {
    clip.skeleton.joints[static_cast<size_t>(clip.skeleton.Find(from))].name = to;
  };
  rename("Head", "Kopf");
  EXPECT_EQ(Refusal(clip), "not refused");
  rename("LeftHindShin", "Unterschenkel");
  EXPECT_THAT(Refusal(clip), HasSubstr("clip.bvh: found joints Pelvis, Trunk"));
  EXPECT_THAT(Refusal(clip), HasSubstr("none of which is named left_hind_shin, expected joints named as the segments"));
  ReferenceOptions options;
  options.joint_map_file = "map.json";
  options.joint_map = io::Json{{"left_hind_shin", "Unterschenkel"}};
  EXPECT_EQ(Refusal(clip, options), "not refused");
  options.joint_map = io::Json{{"left_shin", "Unterschenkel"}};
  EXPECT_THAT(Refusal(clip, options),
              HasSubstr("map.json: /left_shin: found the segment \"left_shin\", expected one of"));
  options.joint_map = io::Json{{"left_hind_shin", "Bein"}};
  EXPECT_THAT(Refusal(clip, options),
              HasSubstr("map.json: /left_hind_shin: found \"Bein\", expected one of the joints"));
}

TEST(QuadrupedReference, NeedsTheRestPoseOfItsFile) {
  motion::Clip clip = Trot();
  clip.skeleton.joints[static_cast<size_t>(clip.skeleton.Find("LeftHindFoot"))].offset = Vec3(0, 0, 0.22);
  EXPECT_THAT(Refusal(clip), HasSubstr("the bone from left_hind_shin to left_hind_foot lies 90 degrees off"));
}

TEST(QuadrupedReference, AHumanIsRefused) {
  EXPECT_THAT(Refusal(motion::ReadBvh(kData + "/clips/walk.bvh")), HasSubstr("which is not human, or a map"));
}

}  // namespace
}  // namespace retrace::character
