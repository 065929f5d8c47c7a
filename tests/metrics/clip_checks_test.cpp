/// What a recording shows, for motions of which it is known by construction.
#include "retrace/metrics/clip_checks.h"

#include <gtest/gtest.h>

#include "retrace/character/builder.h"
#include "retrace/character/skeleton.h"
#include "retrace/metrics/intervals.h"
#include "task/synthetic_motion.h"

namespace retrace::metrics {
namespace {

using task::Course;
using task::JointIndex;
using task::Sampled;
using task::StandingPose;

ClipChecks Check(const Course& course, double duration) {
  constexpr double kFrame = 1.0 / 120;
  const std::vector<character::Pose> poses = Sampled(course, duration, kFrame);
  const motion::Clip clip = character::ClipOf(task::Human(), poses, kFrame);
  character::ReferenceReport report;
  report.frame_rate = 1 / kFrame;
  return CheckClip(character::ReferenceMotion(task::Human(), kFrame, poses, 1.0 / 60), clip, report);
}

bool Warns(const ClipChecks& checks, const std::string& kind) {
  return std::any_of(checks.warnings.begin(), checks.warnings.end(),
                     [&](const ClipWarning& warning) { return warning.kind == kind; });
}

/// Stands, and flies up at 2 m/s at 0.5 s under some gravity.
Course Jump(double gravity) {
  return [=](double time) {
    character::Pose pose = StandingPose();
    const double t = time - 0.5;
    if (t > 0) pose.root_position.y() += std::max(0.0, 2 * t - 0.5 * gravity * t * t);
    return pose;
  };
}

TEST(ClipChecks, AStandingPoseIsBeyondReproach) {
  const ClipChecks checks = Check([](double) { return StandingPose(); }, 1);
  EXPECT_TRUE(checks.warnings.empty());
  EXPECT_TRUE(checks.flights.empty());
  ASSERT_EQ(checks.contacts.size(), task::Human().end_effectors.size());
  for (const auto& [body, intervals] : checks.contacts) {
    ASSERT_EQ(intervals.size(), body.ends_with("foot") ? 1u : 0u) << body;
    for (const Interval& interval : intervals) EXPECT_NEAR(interval.end, 1, 1e-9);
  }
}

TEST(ClipChecks, FreeFlightTellsTheSpeedOfPlay) {
  const ClipChecks right = Check(Jump(9.81), 1.2);
  ASSERT_EQ(right.flights.size(), 1u);
  EXPECT_NEAR(right.flights[0].acceleration, 9.81, 0.05);
  EXPECT_NEAR(right.time_scale, 1, 0.01);
  EXPECT_FALSE(Warns(right, "flight_speed"));
  // Played twice as fast, a body seems to fall with 4 g and must be given twice the time.
  const ClipChecks fast = Check([](double time) { return Jump(9.81)(0.5 + 2 * (time - 0.5)); }, 1);
  EXPECT_NEAR(fast.flight_acceleration, 4 * 9.81, 0.5);
  EXPECT_NEAR(fast.time_scale, 2, 0.02);
  EXPECT_TRUE(Warns(fast, "flight_speed"));
}

/// Two flights of which one falls with a quarter of the other's acceleration show no playback speed.
TEST(ClipChecks, FlightsThatContradictOneAnotherSuggestNoSpeed) {
  const ClipChecks checks =
      Check([](double time) { return time < 1.2 ? Jump(9.81)(time) : Jump(2.4)(time - 1.2); }, 2.4);
  ASSERT_EQ(checks.flights.size(), 2u);
  EXPECT_TRUE(Warns(checks, "flights_differ"));
  EXPECT_FALSE(Warns(checks, "flight_speed"));
  EXPECT_EQ(checks.time_scale, 1);
}

/// Going up stairs, nothing touches the floor and the body does not fall: feet stand on steps, and the speed is right.
TEST(ClipChecks, WhatStandsOnStepsDoesNotFly) {
  const Course on_a_step = [](double time) {
    character::Pose pose = StandingPose();
    if (time > 0.5) pose.root_position.y() += 0.2;
    return pose;
  };
  const ClipChecks by_physics = Check(on_a_step, 2);
  EXPECT_TRUE(by_physics.ground.strong());
  EXPECT_TRUE(by_physics.flights.empty());
  constexpr double kFrame = 1.0 / 120;
  const std::vector<character::Pose> poses = Sampled(on_a_step, 2, kFrame);
  const motion::Clip clip = character::ClipOf(task::Human(), poses, kFrame);
  character::ReferenceReport report;
  report.frame_rate = 1 / kFrame;
  report.levels = {{0.2, 1.5}};
  const ClipChecks checks = CheckClip(character::ReferenceMotion(task::Human(), kFrame, poses, 1.0 / 60), clip, report);
  EXPECT_TRUE(checks.flights.empty());
  EXPECT_FALSE(Warns(checks, "flight_speed"));
  EXPECT_EQ(checks.time_scale, 1);
}

TEST(ClipChecks, DoubtsOfTheReportAreWarnings) {
  constexpr double kFrame = 1.0 / 120;
  const std::vector<character::Pose> poses = Sampled([](double) { return StandingPose(); }, 1, kFrame);
  const motion::Clip clip = character::ClipOf(task::Human(), poses, kFrame);
  character::ReferenceReport report;
  report.frame_rate = 1 / kFrame;
  report.doubts = {{"mirrored", "left and right are exchanged"}};
  const ClipChecks checks = CheckClip(character::ReferenceMotion(task::Human(), kFrame, poses, 1.0 / 60), clip, report);
  ASSERT_EQ(checks.warnings.size(), 1u);
  EXPECT_EQ(checks.warnings[0].kind, "mirrored");
  EXPECT_EQ(checks.warnings[0].text, "left and right are exchanged");
}

TEST(ClipChecks, AMassThatNobodyHasIsNoticed) {
  const auto warns = [](double mass) {
    character::CharacterBuilder builder(task::Human());
    builder.ScaleMass(mass / task::Human().total_mass());
    const character::Character character = builder.Build("human");
    constexpr double kFrame = 1.0 / 120;
    const std::vector<character::Pose> poses = Sampled([](double) { return StandingPose(); }, 1, kFrame);
    character::ReferenceReport report;
    report.frame_rate = 1 / kFrame;
    const motion::Clip clip = character::ClipOf(character, poses, kFrame);
    return Warns(CheckClip(character::ReferenceMotion(character, kFrame, poses, 1.0 / 60), clip, report), "mass");
  };
  for (const double mass : {6.25, 25.0, 200.0, 625.0}) EXPECT_TRUE(warns(mass)) << mass;
  for (const double mass : {35.0, 62.5, 120.0, 170.0}) EXPECT_FALSE(warns(mass)) << mass;
}

TEST(ClipChecks, WhatHangsInTheAirIsNoticed) {
  const ClipChecks checks = Check(
      [](double time) {
        character::Pose pose = StandingPose();
        pose.root_position.y() += 0.3 + 0.5 * time * time;
        return pose;
      },
      1);
  EXPECT_LT(checks.flight_acceleration, 0);
  EXPECT_TRUE(Warns(checks, "flight_speed"));
}

TEST(ClipChecks, JumpsKneesHandsSlidingAndSpeedAreNoticed) {
  EXPECT_TRUE(Warns(Check(
                        [](double time) {
                          character::Pose pose = StandingPose();
                          if (time > 0.5) pose.joint_rotations[JointIndex("left_elbow")] = AxisRotation(1, 1.5);
                          return pose;
                        },
                        1),
                    "jump"));
  EXPECT_TRUE(Warns(Check(
                        [](double) {
                          character::Pose pose = StandingPose();
                          pose.joint_rotations[JointIndex("right_knee")] = AxisRotation(0, -0.5);
                          return pose;
                        },
                        1),
                    "knee"));
  EXPECT_TRUE(Warns(Check(
                        [](double) {
                          character::Pose pose = StandingPose();
                          pose.joint_rotations[JointIndex("right_wrist")] = AxisRotation(0, 2.8);
                          return pose;
                        },
                        1),
                    "hand"));
  const auto moving = [](double speed) {
    return [=](double time) {
      character::Pose pose = StandingPose();
      pose.root_position.x() += speed * time;
      return pose;
    };
  };
  EXPECT_TRUE(Warns(Check(moving(0.38), 1), "sliding"));
  EXPECT_FALSE(Warns(Check(moving(0.1), 1), "sliding"));
  EXPECT_TRUE(Warns(Check(moving(20), 1), "speed"));
}

/// The thighs level, the shins upright, the trunk behind the feet.
character::Pose SittingPose() {
  character::Pose pose = StandingPose();
  pose.root_position.y() -= 0.42;
  for (const std::string side : {"left", "right"}) {
    pose.joint_rotations[JointIndex(side + "_hip")] = AxisRotation(0, -kPi / 2);
    pose.joint_rotations[JointIndex(side + "_knee")] = AxisRotation(0, kPi / 2);
  }
  return pose;
}

TEST(ClipChecks, WhatCarriesASittingBodyIsNoticed) {
  const ClipChecks checks = Check([](double time) { return time < 1 ? StandingPose() : SittingPose(); }, 3);
  ASSERT_EQ(checks.supports.size(), 1u);
  EXPECT_NEAR(checks.supports[0].interval.start, 1, 0.15);
  EXPECT_NEAR(checks.supports[0].interval.end, 3, 1e-9);
  const auto pelvis = static_cast<size_t>(task::Human().root);
  character::State state;
  character::ForwardKinematics(task::Human(), SittingPose(), state);
  EXPECT_NEAR(checks.supports[0].height, character::LowestPoint(task::Human().bodies[pelvis], state[pelvis]), 1e-9);
  // A seat is found, which needs no warning.
  ASSERT_EQ(checks.ground.surfaces.size(), 1u);
  EXPECT_EQ(checks.ground.surfaces[0].kind, SurfaceKind::kSeat);
  EXPECT_FALSE(Warns(checks, "support"));
  EXPECT_FALSE(Warns(checks, "floating"));
  // Both feet carry a body that squats, and one at a time a body that runs.
  EXPECT_FALSE(Warns(Check(task::Squatting, 3.2), "support"));
  EXPECT_FALSE(Warns(Check(task::Hopping, 2), "support"));
}

TEST(ClipChecks, FloatingIsNoticedAndFlightIsNone) {
  const auto floating = [](double time) {
    character::Pose pose = StandingPose();
    pose.root_position += Vec3(0, time > 1 ? 0.08 : 0, 0.8 * time);
    return pose;
  };
  EXPECT_TRUE(Warns(Check(floating, 2), "floating"));
  EXPECT_FALSE(Warns(Check(Jump(9.81), 1.2), "floating"));
}

TEST(Stretches, AreTheRunsOfAFlag) {
  const std::vector<Interval> stretches = Stretches({true, true, false, false, true}, 0.5);
  ASSERT_EQ(stretches.size(), 2u);
  EXPECT_EQ(stretches[0].start, 0);
  EXPECT_EQ(stretches[0].end, 0.5);
  EXPECT_EQ(stretches[1].start, 2);
  EXPECT_EQ(stretches[1].end, 2);
}

/// Knees that are bent at rest are straight at a negative angle of their hinge.
TEST(ClipChecks, StraightKneesOfABodyWithBentOnesAreNotBackwards) {
  const character::Character robot =
      character::LoadCharacter(std::string(RETRACE_SOURCE_DIR) + "/data/characters/asimo.json");
  const auto warns = [&](double angle) {
    character::Pose pose;
    pose.root_position = robot.bodies[static_cast<size_t>(robot.root)].rest_position;
    pose.joint_rotations.assign(robot.joints.size(), Quat::Identity());
    pose.joint_rotations[static_cast<size_t>(robot.FindJoint("left_knee"))] = AxisRotation(0, angle);
    const character::ReferenceMotion reference(robot, 1.0 / 120, std::vector<character::Pose>(61, pose), 1.0 / 60);
    motion::Clip clip;
    clip.frame_time = 1.0 / 120;
    clip.frames.resize(61);
    return Warns(CheckClip(reference, clip, {}), "knee");
  };
  EXPECT_FALSE(warns(-Radians(29)));  // straight: the rest pose is bent by 15 + 14.5 degrees
  EXPECT_TRUE(warns(-Radians(60)));
}

}  // namespace
}  // namespace retrace::metrics
