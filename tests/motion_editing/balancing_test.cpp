/// Motions that are moved so that their feet can carry them.
#include "retrace/motion_editing/balancing.h"

#include <gtest/gtest.h>

#include "retrace/character/legs.h"
#include "task/synthetic_motion.h"

namespace retrace::task {
namespace {

constexpr double kGravity = 9.81;
constexpr double kTime = 1.0 / 120;  // between poses [s]

Balancing Balanced(const Course& course, double duration) {
  return BalanceMotion(Motion(course, duration), {}, kGravity);
}

character::State StateOf(const character::Pose& pose) {
  character::State state;
  character::ForwardKinematics(Human(), pose, state);
  return state;
}

Vec3 CenterOf(const character::Pose& pose) {
  return character::CenterOfMass(Human(), StateOf(pose));
}

/// Standing with the trunk bent forward so far that the center of mass is before the toes.
character::Pose Bowing(double) {
  character::Pose pose = SquatPose(0.5);
  pose.joint_rotations[JointIndex("waist")] = AxisRotation(0, 1.2);
  pose.root_orientation = Quat::Identity();
  pose.root_position.z() += 0.12;
  const character::State state = StateOf(pose);
  character::State squat = StateOf(SquatPose(0.5));
  for (const character::Leg& leg : character::LegsOf(Human())) {
    const auto& ankle = Human().joints[static_cast<size_t>(leg.ankle)];
    character::BendLeg(Human(), leg, state, {character::JointPosition(Human(), ankle, squat), Quat::Identity()}, pose);
  }
  return pose;
}

TEST(BalanceMotion, BringsTheCenterOfMassOverFeetThatStay) {
  const Balancing balanced = Balanced(Bowing, 1);
  EXPECT_GT(balanced.outside_before, 0.03);
  EXPECT_LT(balanced.outside_after, 0.2 * balanced.outside_before);
  EXPECT_NEAR(balanced.largest_shift, balanced.outside_before, 0.5 * balanced.outside_before);
  const character::State before = StateOf(Bowing(0)), after = StateOf(balanced.poses[60]);
  for (const std::string foot : {"left_foot", "right_foot"}) {
    EXPECT_LT((after[BodyIndex(foot)].position - before[BodyIndex(foot)].position).norm(), 2e-3) << foot;
    EXPECT_LT(AngleBetween(after[BodyIndex(foot)].orientation, before[BodyIndex(foot)].orientation), 1e-3) << foot;
  }
  EXPECT_EQ(balanced.poses[60].root_position.y(), Bowing(0).root_position.y());
  EXPECT_LT(CenterOf(balanced.poses[60]).z(), CenterOf(Bowing(0)).z() - 0.02);
}

TEST(BalanceMotion, LeavesAloneWhatIsBalanced) {
  const Balancing balanced = Balanced([](double time) { return SquatPose(0.4 + 0.1 * std::sin(3 * time)); }, 2);
  EXPECT_EQ(balanced.outside_before, 0);
  EXPECT_EQ(balanced.outside_after, 0);
  EXPECT_LT(balanced.largest_shift, 1e-12);
}

TEST(BalanceMotion, SwaysInTimeForAPushThatTheFeetCannotGive) {
  // The root is stopped within a twentieth of a second: a table would tip.
  const auto course = [](double time) {
    character::Pose pose = SquatPose(0.5);
    const double late = std::max(0.0, time - 1);
    pose.root_position.x() += 0.5 * std::min(time, 1.0) - 0.5 + (late < 0.05 ? 0.5 * late - 5 * late * late : 0.0125);
    const character::State state = StateOf(pose);
    const character::State squat = StateOf(SquatPose(0.5));
    for (const character::Leg& leg : character::LegsOf(Human())) {
      const auto& ankle = Human().joints[static_cast<size_t>(leg.ankle)];
      character::BendLeg(Human(), leg, state, {character::JointPosition(Human(), ankle, squat), Quat::Identity()},
                         pose);
    }
    return pose;
  };
  const Balancing balanced = Balanced(course, 2);
  EXPECT_GT(balanced.outside_before, 0.02);
  EXPECT_LT(balanced.outside_after, 0.75 * balanced.outside_before);
  EXPECT_GT(balanced.largest_shift, 0.005);
  EXPECT_LT(balanced.largest_shift, 0.15);
}

TEST(BalanceMotion, KeepsThePathOfAJump) {
  // Bowing too far, then in the air for 0.4 s: only there nothing may change the path of the center of mass.
  const auto course = [](double time) {
    character::Pose pose = Bowing(time);
    const double air = std::clamp(time - 0.8, 0.0, 0.4);
    pose.root_position.y() += 0.5 * kGravity * air * (0.4 - air);
    return pose;
  };
  const character::ReferenceMotion recorded = Motion(course, 2);
  const Balancing balanced = BalanceMotion(recorded, {}, kGravity);
  EXPECT_GT(balanced.largest_shift, 0.02);
  for (size_t i = 104; i < 136; ++i) {
    const auto shift = [&](size_t k) { return balanced.poses[k].root_position - recorded.poses()[k].root_position; };
    const Vec3 curvature = (shift(i + 1) - 2 * shift(i) + shift(i - 1)) / (kTime * kTime);
    EXPECT_LT(curvature.norm(), 0.3) << i << " [m/s^2]";
  }
}

TEST(BalanceMotion, FollowsTheGroundThatIsThere) {
  simulation::Environment raised;
  raised.ground.height = 0.5;
  const auto course = [](double time) {
    character::Pose pose = Bowing(time);
    pose.root_position.y() += 0.5;
    return pose;
  };
  const Balancing balanced = BalanceMotion(Motion(course, 1), raised, kGravity);
  EXPECT_NEAR(balanced.largest_shift, Balanced(Bowing, 1).largest_shift, 1e-9);
  // Over a ground that it does not touch it is in flight.
  EXPECT_LT(BalanceMotion(Motion(course, 1), {}, kGravity).largest_shift, 1e-9);
}

TEST(BalanceMotion, SaysWhyAMotionStaysAsItIs) {
  const Balancing balanced = Balanced(Bowing, 2 * kTime);
  EXPECT_EQ(balanced.largest_shift, 0);
  ASSERT_EQ(balanced.notes.size(), 1u);
  EXPECT_NE(balanced.notes[0].find("too short"), std::string::npos);
  EXPECT_EQ(balanced.poses.size(), 3u);
}

}  // namespace
}  // namespace retrace::task
