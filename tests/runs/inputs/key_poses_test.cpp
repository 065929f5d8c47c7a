#include "retrace/runs/inputs/key_poses.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "character/sample_human.h"
#include "retrace/io/error.h"
#include "retrace/io/file.h"

namespace retrace::runs {
namespace {

using character::Human;
using testing::HasSubstr;

KeyPoses Parse(const std::string& keys, const std::string& more = "") {
  const std::string bytes =
      R"({"format": "retrace-keys", "version": 1, "description": "some", )" + more + R"("keys": [)" + keys + "]}";
  return ParseKeyPoses({{{kKeysRole, std::string(RETRACE_SOURCE_DIR) + "/data/clips/keys.json"}, "", false}, bytes},
                       Human());
}

std::string Refusal(const std::string& keys, const std::string& more = "") {
  try {
    Parse(keys, more);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(KeyPoses, JointsAreTurnedInDegreesAndTheOthersAtRest) {
  const KeyPoses keys = Parse(R"({"name": "bent", "root": {"position": [1, 0.5, -2], "turns": [["y", 90], ["x", 10]]},
      "joints": {"left_knee": 82, "waist": [["x", 30], ["y", -45]]}}, {"name": "rest", "root": {"position": [0, 0, 0]}})");
  EXPECT_EQ(keys.description, "some");
  ASSERT_EQ(keys.poses.size(), 2u);
  const character::Pose& bent = keys.poses[0].pose;
  EXPECT_EQ(keys.poses[0].name, "bent");
  EXPECT_EQ(bent.root_position, Vec3(1, 0.5, -2));
  // One turn after the other, about the axes of the parent.
  EXPECT_LT(AngleBetween(bent.root_orientation, AxisRotation(0, Radians(10)) * AxisRotation(1, Radians(90))), 1e-9);
  const auto knee = static_cast<size_t>(Human().FindJoint("left_knee"));
  EXPECT_LT(AngleBetween(bent.joint_rotations[knee], AxisRotation(0, Radians(82))), 1e-9);
  const auto waist = static_cast<size_t>(Human().FindJoint("waist"));
  EXPECT_LT(AngleBetween(bent.joint_rotations[waist], AxisRotation(1, Radians(-45)) * AxisRotation(0, Radians(30))),
            1e-9);
  for (size_t j = 0; j < Human().joints.size(); ++j) {
    EXPECT_EQ(keys.poses[1].pose.joint_rotations[j].w(), 1) << Human().joints[j].name;
  }
  EXPECT_TRUE(keys.clips.empty());
}

TEST(KeyPoses, APoseOfARecordingStandsOverTheOriginAndFacesForward) {
  const KeyPoses keys = Parse(R"({"name": "one", "clip": "walk.bvh@1.5"}, {"name": "two", "clip": "stand.bvh@0"})");
  ASSERT_EQ(keys.poses.size(), 2u);
  for (const idling::KeyPose& key : keys.poses) {
    EXPECT_EQ(key.pose.root_position.x(), 0);
    EXPECT_EQ(key.pose.root_position.z(), 0);
    EXPECT_NEAR(key.pose.root_position.y(), 0.9, 0.1);
    EXPECT_LT(AngleBetween(Heading(key.pose.root_orientation), Quat::Identity()), 1e-9);
  }
  ASSERT_EQ(keys.clips.size(), 2u);
  EXPECT_EQ(keys.clips[0].name.role, "key clip 1");
  EXPECT_EQ(keys.clips[1].name.role, KeyClipRole(2));
  EXPECT_EQ(keys.clips[0].sha256, io::Sha256(io::ReadFile(std::string(RETRACE_SOURCE_DIR) + "/data/clips/walk.bvh")));
}

TEST(KeyPoses, RefusesWhatIsNoPoseWithItsPointer) {
  const std::string root = R"("root": {"position": [0, 1, 0]})";
  EXPECT_THAT(Refusal(""), HasSubstr("/keys: found an array of 0, expected at least one key pose"));
  EXPECT_THAT(Refusal(R"({"name": "a", )" + root + R"(}, {"name": "a", )" + root + "}"),
              HasSubstr("/keys/1/name: found \"a\", expected a name that no other key has"));
  EXPECT_THAT(Refusal(R"({"name": "a", )" + root + R"(, "joints": {"tail": 3}})"),
              HasSubstr("/keys/0/joints/tail: found a joint that human does not have"));
  EXPECT_THAT(Refusal(R"({"name": "a", )" + root + R"(, "joints": {"left_knee": 400}})"),
              HasSubstr("/keys/0/joints/left_knee: found 400"));
  EXPECT_THAT(Refusal(R"({"name": "a", )" + root + R"(, "joints": {"waist": [["w", 3]]}})"),
              HasSubstr("/keys/0/joints/waist/0/0: found \"w\", expected \"x\", \"y\" or \"z\""));
  EXPECT_THAT(Refusal(R"({"name": "a", )" + root + R"(, "joints": {"waist": [["x", 3, 4]]}})"),
              HasSubstr("expected an axis and degrees"));
  EXPECT_THAT(Refusal(R"({"name": "a"})"), HasSubstr("root"));
  EXPECT_THAT(Refusal(R"({"name": "a", "clip": "walk.bvh@1", )" + root + "}"), HasSubstr("root"));
  EXPECT_THAT(Refusal(R"({"name": "a", "clip": "walk.bvh"})"), HasSubstr("/keys/0/clip: found \"walk.bvh\", expected "
                                                                         "CLIP@SECOND"));
  EXPECT_THAT(Refusal(R"({"name": "a", "clip": "walk.bvh@9"})"),
              HasSubstr("found second 9, expected one from 0 to 3.2"));
  EXPECT_THAT(Refusal(R"({"name": "a", "clip": "walk.png@1"})"), HasSubstr("/keys/0/clip: "));
  EXPECT_THAT(Refusal(R"({"name": "a", )" + root + "}", R"("posture": "flying", )"),
              HasSubstr("/posture: found \"flying\", expected sitting or standing"));
  EXPECT_THAT(Refusal(R"({"name": "a", )" + root + "}", R"("size": 1, )"), HasSubstr("size"));
}

}  // namespace
}  // namespace retrace::runs
