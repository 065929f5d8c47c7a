/// What keeps slow motions on their feet, on motions that are written down.
#include "methods/tracking/slow_balance.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "methods/tracking/foot_placement.h"
#include "retrace/character/reference_motion.h"
#include "retrace/math/rotation.h"
#include "task/synthetic_motion.h"

namespace retrace::tracking {
namespace {

/// A stance that is carried ahead at a speed [m/s].
task::Course Carried(double speed) {
  return [=](double time) {
    character::Pose pose = task::StandingPose();
    pose.root_position.z() += speed * time;
    return pose;
  };
}

double SlownessOf(double speed, std::span<const metrics::Interval> flights = {}, const Options& options = {}) {
  return SlowBalance(task::Human(), task::Motion(Carried(speed), 2), flights, options, kStandardGravity).SlownessAt(1);
}

TEST(SlowBalance, IsForWhatIsSlowAndNearNoFlight) {
  EXPECT_EQ(SlownessOf(0), 1);
  EXPECT_NEAR(SlownessOf(0.45), 0.5, 1e-3);
  EXPECT_EQ(SlownessOf(0.7), 0);
  const metrics::Interval soon = {1.3, 1.5}, later = {1.5, 1.7}, before = {0.2, 0.5};
  EXPECT_EQ(SlownessOf(0, std::span(&soon, 1)), 0);
  EXPECT_EQ(SlownessOf(0, std::span(&later, 1)), 1);
  EXPECT_EQ(SlownessOf(0, std::span(&before, 1)), 1);
  Options none;
  none.stance_feedback = 0;
  EXPECT_EQ(SlownessOf(0, {}, none), 0);
}

TEST(SlowBalance, AsksForTheAccelerationThatBringsTheCenterOfMassBack) {
  const Options options;
  const character::ReferenceMotion reference = task::Motion(task::Standing, 1);
  dynamics::CharacterDynamics now(task::Human());
  TrackedMotion motion(reference, now.coordinates());
  SlowBalance balance(task::Human(), reference, {}, options, kStandardGravity);
  Goal goal;
  motion.At(0.5, goal);
  Eigen::VectorXd velocity = goal.velocity;
  velocity[0] += 0.1;
  now.SetMotion(goal.pose, velocity);
  Dynamics program;
  program.Resize(now.size(), 0);
  balance.AddTask(now, goal, 0.5, Vec3(0, 0, 0.02), Vec3::Zero(), program);
  ASSERT_EQ(program.tasks().size(), 1u);
  const Task& task = program.tasks().front();
  EXPECT_NEAR(task.desired[0], -2 * std::sqrt(options.stance_feedback) * 0.1, 1e-9);
  EXPECT_NEAR(task.desired[1], -options.stance_feedback * 0.02, 1e-9);
  // It is the center of mass that accelerates: as a whole, with the root.
  Eigen::VectorXd acceleration = Eigen::VectorXd::Zero(now.size());
  acceleration[0] = 1;
  acceleration[2] = 3;
  EXPECT_NEAR((task.jacobian * acceleration - Eigen::Vector2d(1, 3)).norm(), 0, 1e-9);
}

/// Stands, and lifts the left foot at 1 s.
character::Pose Lifting(double time) {
  character::Pose pose = task::StandingPose();
  const double lifted = time > 1 ? 1 : 0;
  pose.joint_rotations[task::JointIndex("left_hip")] = AxisRotation(0, -0.5 * lifted);
  pose.joint_rotations[task::JointIndex("left_knee")] = AxisRotation(0, 1.0 * lifted);
  return pose;
}

TEST(FootPlacement, GoesOverToTheFootThatStaysBeforeTheOtherIsLifted) {
  const character::ReferenceMotion reference = task::Motion(Lifting, 2);
  const dynamics::Coordinates coordinates(task::Human());
  TrackedMotion motion(reference, coordinates);
  const simulation::Environment environment;
  const Options options;
  FootPlacement placement(task::Human(), reference, environment, options);
  // The left foot stands 0.1 m further ahead than in the reference.
  const auto error = [&](double time) {
    Goal goal;
    motion.At(time, goal);
    character::State state = goal.state;
    state[task::BodyIndex("left_foot")].position.z() += 0.1;
    placement.Update(state, goal, time, Vec3::Zero(), 1.0 / 240);
    return placement.distance_error().z();
  };
  const double moved = -0.1 * task::Human().bodies[task::BodyIndex("left_foot")].mass / task::Human().total_mass();
  EXPECT_NEAR(error(0.5), -0.05 - moved, 1e-3);
  EXPECT_NEAR(error(0.85), -0.1 * 0.5 / 1.5 - moved, 3e-3);
  EXPECT_NEAR(error(0.98), -moved, 0.012);
  EXPECT_NEAR(error(1.5), -moved, 1e-3);
}

TEST(FootPlacement, KeepsAStandingFootFlatOnASlowMotionsLeaningLeg) {
  const character::ReferenceMotion reference = task::Motion(task::Standing, 1);
  const dynamics::Coordinates coordinates(task::Human());
  TrackedMotion motion(reference, coordinates);
  const simulation::Environment environment;
  const Options options;
  FootPlacement placement(task::Human(), reference, environment, options);
  Goal goal;
  motion.At(0.5, goal);
  character::State state = goal.state;
  const size_t shin = task::BodyIndex("left_shin"), ankle = task::JointIndex("left_ankle");
  state[shin].orientation = AxisRotation(2, 0.1) * state[shin].orientation;
  placement.Update(state, goal, 0.5, Vec3::Zero(), 1.0 / 240);
  const auto tilt = [&](double slowness) {
    character::Pose pose = goal.pose;
    placement.Apply(state, goal, slowness, pose);
    const Quat foot = state[shin].orientation * pose.joint_rotations[ankle];
    return std::acos(std::min(1.0, (foot * Vec3::UnitY()).y()));
  };
  EXPECT_NEAR(tilt(0), 0.1, 1e-3);
  EXPECT_NEAR(tilt(0.5), 0.05, 1e-3);
  EXPECT_NEAR(tilt(1), 0, 1e-3);
}

}  // namespace
}  // namespace retrace::tracking
