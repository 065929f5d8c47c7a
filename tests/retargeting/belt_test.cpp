/// Treadmills, found in walks that were made on belts of known speeds.
#include "retargeting/belt.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "retrace/character/kinematics.h"
#include "retrace/character/legs.h"
#include "retrace/math/rotation.h"

namespace retrace::character {
namespace {

const Character& BeltWalker() {
  static const Character human = LoadCharacter(std::string(RETRACE_SOURCE_DIR) + "/data/characters/human.json");
  return human;
}

/// A walk in a direction: each foot is on the belt for 60 % of a cycle of a second and swings forward in the rest.
/// The body goes at `ground_speed` over ground that moves with -`belt_speed`.
std::vector<Pose> WalkOnBelt(double belt_speed, double ground_speed, double heading, double rate, double duration) {
  constexpr double kCycle = 1.0, kStance = 0.6;
  const double relative = belt_speed + ground_speed;  // of the body over the belt
  const std::vector<Leg> legs = LegsOf(BeltWalker());
  const Quat facing = AxisRotation(1, heading);
  std::vector<Pose> poses;
  State state;
  for (int f = 0; f <= static_cast<int>(std::lround(duration * rate)); ++f) {
    const double time = f / rate;
    Pose pose;
    pose.joint_rotations.assign(BeltWalker().joints.size(), Quat::Identity());
    pose.root_orientation = facing;
    pose.root_position = facing * Vec3(0, 0.9, ground_speed * time);
    ForwardKinematics(BeltWalker(), pose, state);
    for (size_t l = 0; l < legs.size(); ++l) {
      const double phase = std::fmod(time / kCycle + 0.5 * static_cast<double>(l), 1.0);
      const double reach = relative * kStance * kCycle;  // of the stance
      const double swing = std::max(0.0, (phase - kStance) / (1 - kStance));
      const double along = phase < kStance ? reach * (0.5 - phase / kStance) : reach * (swing - 0.5);
      const double lifted = 0.15 * std::sin(kPi * swing);
      Leg leg = legs[l];
      const Vec3 place(leg.side * 0.09, 0.085 + lifted, along);
      BendLeg(BeltWalker(), leg, state, {pose.root_position - Vec3(0, 0.9, 0) + facing * place, Quat::Identity()},
              pose);
    }
    poses.push_back(pose);
  }
  return poses;
}

RC_GTEST_PROP(Belt, ItsSpeedIsFound, ()) {
  const double speed = 0.01 * *rc::gen::inRange(40, 140);
  const double heading = 0.01 * *rc::gen::inRange(-300, 300);
  const std::optional<Belt> belt = FindBelt(BeltWalker(), WalkOnBelt(speed, 0, heading, 100, 3), 100);
  RC_ASSERT(belt.has_value());
  const Vec3 expected = AxisRotation(1, heading) * Vec3(0, 0, -speed);
  RC_ASSERT((belt->velocity - expected).norm() < 0.02 * speed);
  RC_ASSERT(std::abs(belt->slope) < 0.02);
}

RC_GTEST_PROP(Belt, WhoWalksOnAFloorIsOnNone, ()) {
  const double speed = 0.01 * *rc::gen::inRange(40, 140);
  RC_ASSERT(!FindBelt(BeltWalker(), WalkOnBelt(0, speed, 0.3, 100, 3), 100));
}

/// On a belt that is half as fast as the body, which leaves it: no treadmill, but a moving walk.
TEST(Belt, TheBodyStaysOnATreadmill) {
  EXPECT_FALSE(FindBelt(BeltWalker(), WalkOnBelt(0.5, 0.5, 0, 100, 3), 100).has_value());
}

TEST(Belt, WithoutItTheFeetStandStill) {
  std::vector<Pose> poses = WalkOnBelt(1.2, 0, 0.5, 100, 3);
  const std::optional<Belt> belt = FindBelt(BeltWalker(), poses, 100);
  ASSERT_TRUE(belt.has_value());
  TakeOutBelt(belt->velocity, 100, poses);
  EXPECT_FALSE(FindBelt(BeltWalker(), poses, 100).has_value());
  EXPECT_NEAR((poses.back().root_position - poses.front().root_position).norm(), 3.6, 0.08);
  EXPECT_NEAR((poses.front().root_position - WalkOnBelt(1.2, 0, 0.5, 100, 3).front().root_position).norm(), 0, 1e-12);
}

TEST(Belt, WhoStandsIsOnNone) {
  EXPECT_FALSE(FindBelt(BeltWalker(), WalkOnBelt(0, 0, 0, 100, 2), 100).has_value());
}

}  // namespace
}  // namespace retrace::character
