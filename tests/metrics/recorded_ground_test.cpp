/// What a motion stands and sits on, found in motions that were made on known surfaces.
#include "retrace/metrics/recorded_ground.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "metrics/recorded_seats.h"
#include "metrics/recorded_support.h"
#include "metrics/recorded_tables.h"
#include "task/synthetic_motion.h"

namespace retrace::metrics {
namespace {

RecordedGround GroundOf(const task::Course& course, double duration) {
  const character::ReferenceMotion motion = task::Motion(course, duration);
  return FindRecordedGround(motion, motion.StatesOfPoses());
}

/// Standing at a height.
task::Course StandingAt(double height) {
  return [=](double) {
    character::Pose pose = task::OnTheFloor(task::StandingPose());
    pose.root_position.y() += height;
    return pose;
  };
}

/// Thighs level, shins upright, feet on the floor.
character::Pose SeatedPose() {
  character::Pose pose = task::StandingPose();
  for (const std::string side : {"left", "right"}) {
    pose.joint_rotations[task::JointIndex(side + "_hip")] = AxisRotation(0, -kPi / 2);
    pose.joint_rotations[task::JointIndex(side + "_knee")] = AxisRotation(0, kPi / 2);
  }
  return task::OnTheFloor(pose);
}

/// From one position to the next in a second each, on ground that rises by a slope along z, with the soles on it.
task::Course ClimbingSlope(double angle, double stride) {
  return [=](double time) {
    const double place = 0.5 + stride * std::floor(time);
    character::Pose pose = task::OnTheFloor(task::StandingPose());
    for (const std::string side : {"left", "right"}) {
      pose.joint_rotations[task::JointIndex(side + "_ankle")] = AxisRotation(0, -angle);
    }
    // The ankle is as far over the slope as over the floor, along the slope's normal.
    character::State state;
    character::ForwardKinematics(task::Human(), pose, state);
    const auto foot = task::BodyIndex("left_foot");
    const Vec3 sole = state[foot].position + state[foot].orientation * Vec3(0, -0.037, 0);
    pose.root_position += Vec3(0, place * std::tan(angle) - sole.y(), place - sole.z());
    return pose;
  };
}

TEST(RecordedGround, APlainFloorHasNone) {
  EXPECT_TRUE(GroundOf(task::Standing, 2).surfaces.empty());
  EXPECT_TRUE(GroundOf(task::Squatting, 3.2).surfaces.empty());
  EXPECT_TRUE(GroundOf(task::Hopping, 2).surfaces.empty());
  EXPECT_TRUE(GroundOf(task::Crawling, 2).surfaces.empty());
  EXPECT_FALSE(GroundOf(task::Rolling, 1).strong());
  EXPECT_EQ(GroundOf(task::Standing, 2).unsupported, 0);
}

/// One foot is held in the air for a second: it bears nothing.
TEST(RecordedGround, AFootInTheAirIsNoStep) {
  const auto on_one_leg = [](double) {
    character::Pose pose = task::StandingPose();
    pose.joint_rotations[task::JointIndex("left_hip")] = AxisRotation(0, -1.2);
    pose.joint_rotations[task::JointIndex("left_knee")] = AxisRotation(0, 1.2);
    // The right foot under the center of mass.
    pose.root_orientation = AxisRotation(2, 0.12);
    pose.joint_rotations[task::JointIndex("right_ankle")] = AxisRotation(2, -0.12);
    return task::OnTheFloor(pose);
  };
  EXPECT_FALSE(GroundOf(on_one_leg, 2).strong());
}

RC_GTEST_PROP(RecordedGround, AStepIsWhereFeetStand, ()) {
  const double height = 0.01 * *rc::gen::inRange(10, 120);
  const RecordedGround ground = GroundOf(StandingAt(height), 1);
  RC_ASSERT(ground.surfaces.size() == 1u);
  const RecordedSurface& step = ground.surfaces[0];
  RC_ASSERT(step.kind == SurfaceKind::kStep);
  RC_ASSERT(step.strong());
  RC_ASSERT(std::abs(step.center.y() - height) < 0.02);
  RC_ASSERT(std::abs(step.borne - 1) < 0.1);
  RC_ASSERT(step.size_z > 0.2 && step.size_z < 0.4);
}

TEST(RecordedGround, AMomentIsTooShort) {
  const auto briefly = [](double time) {
    return time > 0.5 && time < 0.65 ? StandingAt(0.3)(time) : StandingAt(0)(time);
  };
  EXPECT_FALSE(GroundOf(briefly, 1).strong());
}

/// Seats between 0.3 and 0.6 m: the feet are on a floor that is lower or higher than where the shins end.
TEST(RecordedGround, ASeatIsUnderThePelvis) {
  const RecordedGround ground = GroundOf([](double) { return SeatedPose(); }, 2);
  ASSERT_EQ(ground.surfaces.size(), 1u);
  const RecordedSurface& seat = ground.surfaces[0];
  EXPECT_EQ(seat.kind, SurfaceKind::kSeat);
  EXPECT_TRUE(seat.strong());
  const double thighs = task::Lowest(SeatedPose(), {"thigh"});
  const double pelvis = task::Lowest(SeatedPose(), {"pelvis"});
  EXPECT_NEAR(seat.center.y(), std::min(thighs, pelvis), 0.02);
  EXPECT_GT(seat.borne, 0.4);
  EXPECT_TRUE(ground.Phrase().starts_with("seat at 0.")) << ground.Phrase();
}

/// A body whose thighs are not known, as that of a robot, sits where its hips are behind its feet.
TEST(RecordedGround, ASeatIsUnderARobotWhoseHipsAreBehindItsFeet) {
  character::Character robot = task::Human();
  for (character::Body& body : robot.bodies) body.segment = body.name + "_link";
  const character::ReferenceMotion motion(robot, 1.0 / 120, std::vector<character::Pose>(241, SeatedPose()), 1.0 / 60);
  const RecordedGround ground = FindRecordedGround(motion, motion.StatesOfPoses());
  ASSERT_EQ(ground.surfaces.size(), 1u);
  EXPECT_EQ(ground.surfaces[0].kind, SurfaceKind::kSeat);
}

TEST(RecordedGround, ATableIsUnderHandsTowardsWhichABodyLeans) {
  const RecordedGround ground = GroundOf([](double) { return task::LeaningPose(0.4); }, 2);
  ASSERT_EQ(ground.surfaces.size(), 1u);
  const RecordedSurface& table = ground.surfaces[0];
  EXPECT_EQ(table.kind, SurfaceKind::kTable);
  EXPECT_TRUE(table.strong());
  EXPECT_EQ(table.contacts, 2);
  EXPECT_NEAR(table.center.y(), task::Lowest(task::LeaningPose(0.4), {"hand"}), 0.02);
  EXPECT_GT(table.size_x, 0.3) << "both hands are on it";
  EXPECT_GT(table.borne, 0.1);
  EXPECT_LT(table.borne, 0.7);
  EXPECT_TRUE(ground.Phrase().starts_with("table at ")) << ground.Phrase();
  EXPECT_EQ(ground.unsupported, 0);
}

/// Hands that are held ahead bear nothing where the feet do, and hands that move bear nothing.
TEST(RecordedGround, HandsThatNothingLeansOnShowNoTable) {
  EXPECT_TRUE(GroundOf([](double) { return task::LeaningPose(0); }, 2).surfaces.empty());
  const auto waving = [](double time) {
    character::Pose pose = task::LeaningPose(0.4);
    for (const std::string side : {"left", "right"}) {
      Quat& shoulder = pose.joint_rotations[task::JointIndex(side + "_shoulder")];
      shoulder = AxisRotation(0, 0.3 * std::sin(6 * time)) * shoulder;
    }
    return pose;
  };
  EXPECT_FALSE(GroundOf(waving, 2).strong()) << GroundOf(waving, 2).Phrase();
}

/// A body that leans on its hands does not sit, and one that sits does not lean on hands that hang beside it.
TEST(RecordedGround, WhatBearsIsTheSeatOrTheHands) {
  const auto parts = [](const character::Pose& pose) {
    const character::ReferenceMotion motion = task::Motion([&](double) { return pose; }, 1);
    const std::vector<character::State> states = motion.StatesOfPoses();
    const auto required = Averaged(RequirementsOf(motion, states.size()), motion.frame_time());
    const std::vector<bool> leans = LeansOnHands(motion, states, required, {});
    return std::pair(FindSeats(motion, states, required, {}, leans).size(),
                     FindTables(motion, states, required, {}).size());
  };
  EXPECT_EQ(parts(task::LeaningPose(0.4)), std::pair(size_t{0}, size_t{1}));
  EXPECT_EQ(parts(SeatedPose()), std::pair(size_t{1}, size_t{0}));
  EXPECT_EQ(parts(task::StandingPose()), std::pair(size_t{0}, size_t{0}));
}

/// Where the thighs go down, a level seat would be an edge under them, off which a body slides.
TEST(RecordedGround, ASeatSlopesAsThighsDo) {
  const double angle = Radians(15);
  const auto seated = [&](double) {
    character::Pose pose = SeatedPose();
    for (const std::string side : {"left", "right"}) {
      pose.joint_rotations[task::JointIndex(side + "_hip")] = AxisRotation(0, -kPi / 2 + angle);
      pose.joint_rotations[task::JointIndex(side + "_knee")] = AxisRotation(0, kPi / 2 - angle);
    }
    return task::OnTheFloor(pose);
  };
  const RecordedGround ground = GroundOf(seated, 2);
  ASSERT_EQ(ground.surfaces.size(), 1u);
  EXPECT_EQ(ground.surfaces[0].kind, SurfaceKind::kSeat);
  EXPECT_NEAR(ground.surfaces[0].tilt(), angle, Radians(2));
  // It is lower in front of the body.
  EXPECT_GT((ground.surfaces[0].orientation * Vec3(Vec3::UnitY())).z(), 0);
  EXPECT_LT(GroundOf([](double) { return SeatedPose(); }, 2).surfaces[0].tilt(), Radians(3));
}

/// The weight is on the seat: feet that hang in the air stand on nothing.
TEST(RecordedGround, FeetOfABodyThatSitsHighStandOnNoStep) {
  const auto seated = [](double) {
    character::Pose pose = SeatedPose();
    pose.root_position.y() += 0.15;
    return pose;
  };
  const RecordedGround ground = GroundOf(seated, 2);
  ASSERT_FALSE(ground.surfaces.empty());
  for (const RecordedSurface& surface : ground.surfaces) {
    EXPECT_TRUE(surface.kind == SurfaceKind::kSeat || !surface.strong()) << Name(surface.kind);
  }
  EXPECT_TRUE(ground.strong());
}

TEST(RecordedGround, SolesOnOnePlaneAreOnASlope) {
  for (const double degrees : {8.0, 15.0, 25.0}) {
    const double angle = Radians(degrees);
    const RecordedGround ground = GroundOf(ClimbingSlope(angle, 0.4), 4.9);
    ASSERT_EQ(ground.surfaces.size(), 1u) << degrees;
    const RecordedSurface& slope = ground.surfaces[0];
    EXPECT_EQ(slope.kind, SurfaceKind::kSlope);
    EXPECT_NEAR(Degrees(slope.tilt()), degrees, 1);
    EXPECT_NEAR(slope.center.y(), slope.center.z() * std::tan(angle), 0.02) << degrees;
    // z of the rectangle points uphill, which is along z of the world.
    EXPECT_GT((slope.orientation * Vec3(Vec3::UnitZ())).z(), 0.8);
  }
}

/// It moves along, far over the floor, and does not fall: nothing that could be found carries it.
TEST(RecordedGround, WhoIsCarriedHasNothingUnder) {
  const auto carried = [](double time) {
    character::Pose pose = task::StandingPose();
    pose.root_position += Vec3(0, 1, time);
    return pose;
  };
  const RecordedGround ground = GroundOf(carried, 2);
  EXPECT_FALSE(ground.strong());
  EXPECT_GT(ground.unsupported, 0.9);
}

}  // namespace
}  // namespace retrace::metrics
