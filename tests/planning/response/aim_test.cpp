#include "retrace/planning/response/aim.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "character/sample_human.h"
#include "retrace/character/kinematics.h"
#include "retrace/io/error.h"
#include "retrace/io/field_error.h"
#include "retrace/math/rotation.h"
#include "task/synthetic_motion.h"

namespace retrace::runs {
namespace {

using character::Human;
using character::Pose;
using character::ReferenceMotion;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr double kFrame = 1.0 / 120;

/// Stands for two seconds with its arms spread; from `time` on for 0.2 s an arm swings forward, and then back more
/// slowly.
ReferenceMotion Punching(const std::string& side, double time) {
  std::vector<Pose> poses;
  const auto shoulder = static_cast<size_t>(Human().FindJoint(side + "_shoulder"));
  for (int f = 0; f <= 240; ++f) {
    Pose pose = character::RestPose(Human());
    const double t = f * kFrame - time;
    const double share = t < 0 ? 0 : t < 0.2 ? t / 0.2 : std::max(0.0, 1 - (t - 0.2) / 0.6);
    pose.joint_rotations[shoulder] = AxisRotation(1, (side == "left" ? -1 : 1) * share * kPi / 4) *
                                     AxisRotation(2, side == "left" ? -0.35 : 0.35) * pose.joint_rotations[shoulder];
    poses.push_back(pose);
  }
  return ReferenceMotion(Human(), kFrame, poses, kFrame);
}

ReferenceMotion Standing() {
  return ReferenceMotion(Human(), kFrame, std::vector<Pose>(241, character::RestPose(Human())), kFrame);
}

TEST(Aim, FindsTheFastestLimbWhileItReachesOut) {
  for (const char* const side : {"left", "right"}) {
    const ReferenceMotion punching = Punching(side, 0.8);
    const Blow blow = FindBlow(punching, -1, 0.1, 1.8);
    ASSERT_GE(blow.with, 0);
    EXPECT_EQ(Human().bodies[static_cast<size_t>(blow.with)].name, std::string(side) + "_hand");
    EXPECT_GE(blow.time, 0.8);
    EXPECT_LE(blow.time, 1.0);
    EXPECT_GT(blow.velocity.z(), 0);
    // Another body by name.
    const int forearm = Human().FindBody(std::string(side) + "_lower_arm");
    EXPECT_EQ(FindBlow(punching, forearm, 0.1, 1.8).with, forearm);
  }
}

/// From whatever side the receiver is hit, the bodies meet that are to meet, and the receiver faces as asked.
TEST(Aim, TheBlowLandsWhereItIsAimed) {
  const ReferenceMotion punching = Punching("right", 0.8), standing = Standing();
  const int hand = Human().FindBody("right_hand"), trunk = Human().FindBody("trunk");
  for (const double facing : {0.0, kPi / 2, kPi, -kPi / 2}) {
    AimOptions options{.with = "right_hand", .at = "trunk"};
    options.facing = facing;
    const Aim aim = AimsAt(punching, standing, options, 10, "punch").front();
    EXPECT_EQ(aim.blow.with, hand);
    EXPECT_EQ(aim.at, trunk);
    ASSERT_TRUE(aim.first_touch.touch) << facing;
    if (std::abs(std::abs(facing) - kPi / 2) > 0.1) {  // from the side an arm is met first
      EXPECT_TRUE(aim.as_aimed()) << facing;
    }
    const Vec3 along(aim.blow.velocity.x(), 0, aim.blow.velocity.z());
    const Vec3 faces = aim.turn * Vec3::UnitZ();
    // Seen from the receiver the strike comes from its left at a quarter turn.
    EXPECT_NEAR(faces.dot(-along.normalized()), std::cos(facing), 1e-6);
    EXPECT_NEAR((aim.turn * Vec3::UnitX()).dot(-along.normalized()), std::sin(facing), 1e-6);
  }
}

TEST(Aim, WhatCannotBeMetIsRefused) {
  const ReferenceMotion punching = Punching("right", 0.8), standing = Standing();
  EXPECT_THAT([&] { AimsAt(punching, standing, {.with = "right_hand", .at = "left_foot"}, 10, "punch.bvh"); },
              ThrowsMessage<InputError>(HasSubstr("a strike of the right_hand that passes the left_foot at ")));
  EXPECT_THAT([&] { AimsAt(punching, standing, {.with = "right_hnd"}, 10, "punch.bvh"); },
              ThrowsMessage<FieldError>(HasSubstr("did you mean \"right_hand\"?")));
}

}  // namespace
}  // namespace retrace::runs
