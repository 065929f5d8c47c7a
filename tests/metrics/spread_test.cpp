/// Spreads of motions whose distances are known by construction.
#include "retrace/metrics/spread.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>

#include "character/sample_human.h"
#include "retrace/metrics/gates.h"

namespace retrace::metrics {
namespace {

using character::Human;
using character::JointOf;
using character::Pose;
using character::ReferenceMotion;
using character::RestPose;
using character::RotationOf;
using character::StateOf;

constexpr double kFrameTime = 0.01;
constexpr int kSteps = 40;

ReferenceMotion Standing() {
  return {Human(), kFrameTime, std::vector<Pose>(kSteps + 1, RestPose(Human())), kFrameTime};
}

control::Trajectory Moving(const std::function<void(int step, Pose&)>& change) {
  control::Trajectory trajectory;
  trajectory.time_step = kFrameTime;
  for (int i = 0; i <= kSteps; ++i) {
    Pose pose = RestPose(Human());
    change(i, pose);
    trajectory.states.push_back(StateOf(Human(), pose));
  }
  return trajectory;
}

/// Two fragments of 15 and 25 steps, one target pose each, with the left elbow's given.
control::OpenLoopControl Driving(double first = 0, double second = 0) {
  control::OpenLoopControl control;
  control.world.time_step = kFrameTime;
  for (const double angle : {first, second}) {
    control::Fragment fragment;
    fragment.first_step = control.num_steps();
    fragment.num_steps = control.fragments.empty() ? 15 : 25;
    fragment.targets.assign(1, control::TargetPose(Human().joints.size(), Quat::Identity()));
    fragment.targets[0][static_cast<size_t>(Human().FindJoint("left_elbow"))] = AxisRotation(1, angle);
    control.fragments.push_back(fragment);
  }
  return control;
}

std::vector<control::OpenLoopControl> Same(size_t count) {
  return std::vector<control::OpenLoopControl>(count, Driving());
}

TEST(Spread, OfEqualMotionsIsNone) {
  const std::vector<control::Trajectory> motions(3,
                                                 Moving([](int i, Pose& pose) { pose.root_position.x() += 0.01 * i; }));
  const Spread spread = MeasureSpread(Human(), motions, Same(3), Standing());
  ASSERT_EQ(spread.joints.size(), kSteps + 1u);
  ASSERT_EQ(spread.root.size(), kSteps + 1u);
  ASSERT_EQ(spread.targets.size(), static_cast<size_t>(kSteps));
  for (int i = 0; i < kSteps; ++i) {
    EXPECT_LT(spread.joints[static_cast<size_t>(i)], 1e-12);
    EXPECT_LT(spread.root[static_cast<size_t>(i)], 1e-12);
    EXPECT_LT(spread.targets[static_cast<size_t>(i)], 1e-7);
  }
  EXPECT_LT(spread.pair_largest, 1e-12);
}

TEST(Spread, OfTheRootIsTheDistanceFromTheMeanAndNoneOfTheJoints) {
  // Three roots that drift apart along z: -1, 0 and 1 times the distance, and turn besides.
  std::vector<control::Trajectory> motions;
  for (const double side : {-1.0, 0.0, 1.0}) {
    motions.push_back(Moving([side](int i, Pose& pose) {
      pose.root_position.z() += side * 0.01 * i;
      pose.root_orientation = AxisRotation(1, side * 0.05 * i);
    }));
  }
  const Spread spread = MeasureSpread(Human(), motions, Same(3), Standing());
  for (int i = 0; i <= kSteps; ++i) {
    EXPECT_NEAR(spread.root[static_cast<size_t>(i)], 0.01 * i * std::sqrt(2.0 / 3), 1e-12);
    EXPECT_LT(spread.joints[static_cast<size_t>(i)], 1e-12) << "position and heading are not removed";
  }
  EXPECT_LT(spread.pair_largest, 1e-9);
}

TEST(Spread, OfJointsInClosedForm) {
  // Only the wrist moves: forearms turned by +a and -a end 2 r sin a apart, each half of that from the mean.
  const double forearm = (JointOf(Human(), "left_wrist").anchor - JointOf(Human(), "left_elbow").anchor).norm();
  std::vector<control::Trajectory> motions;
  for (const double side : {-1.0, 1.0}) {
    motions.push_back(Moving([side](int i, Pose& pose) {
      pose.root_position.x() += side;
      RotationOf(Human(), pose, "left_elbow") = AxisRotation(1, side * 0.01 * i);
    }));
  }
  const Spread spread = MeasureSpread(Human(), motions, Same(2), Standing());
  double mean = 0;
  const double joints = static_cast<double>(Human().joints.size());
  for (int i = 0; i <= kSteps; ++i) {
    const double half = forearm * std::sin(0.01 * i);
    EXPECT_NEAR(spread.joints[static_cast<size_t>(i)], half / std::sqrt(joints), 1e-9);
    mean += 2 * half / joints / (kSteps + 1);
  }
  EXPECT_NEAR(spread.pair_smallest, mean, 1e-9);
  EXPECT_NEAR(spread.pair_median, mean, 1e-9);
  EXPECT_NEAR(spread.pair_largest, mean, 1e-9);
}

TEST(Spread, OfPairsAndWhichAreClosest) {
  std::vector<control::Trajectory> motions;
  for (const double angle : {0.0, 0.5, 0.6, 1.2}) {
    motions.push_back(
        Moving([angle](int, Pose& pose) { RotationOf(Human(), pose, "waist") = AxisRotation(0, angle); }));
  }
  const Spread spread = MeasureSpread(Human(), motions, Same(4), Standing());
  const auto distance = [&](size_t a, size_t b) {
    return JointPositionError(Human(), motions[a].states[0], motions[b].states[0]);
  };
  EXPECT_EQ(spread.closest[0], 1u);
  EXPECT_EQ(spread.closest[1], 2u);
  EXPECT_NEAR(spread.pair_smallest, distance(1, 2), 1e-12);
  EXPECT_NEAR(spread.pair_largest, distance(0, 3), 1e-12);
  // Angles 0.5, 0.6, 1.2, 0.1, 0.7, 0.6 apart: the median is 0.6 apart.
  EXPECT_NEAR(spread.pair_median, distance(0, 2), 1e-12);
  // A chord is twice the radius times the sine of half the angle.
  EXPECT_NEAR(spread.pair_smallest / spread.pair_largest, std::sin(0.05) / std::sin(0.6), 1e-9);
}

TEST(Spread, OfTargetsIsTheAngleFromTheMean) {
  const std::vector<control::Trajectory> motions(3, Moving([](int, Pose&) {}));
  // One joint of all, by -a, 0 and a about one axis: the mean is 0.
  const std::vector<control::OpenLoopControl> controls = {Driving(-0.3, 0), Driving(0, 0), Driving(0.3, 0)};
  const Spread spread = MeasureSpread(Human(), motions, controls, Standing());
  const double expected = 0.3 * std::sqrt(2.0 / 3) / std::sqrt(static_cast<double>(Human().joints.size()));
  for (size_t i = 0; i < static_cast<size_t>(kSteps); ++i) {
    EXPECT_NEAR(spread.targets[i], i < 15 ? expected : 0, 1e-7) << i;
  }
  const io::Json json = spread.ToJson();
  EXPECT_NEAR(json.at("targets").at("largest").get<double>(), expected, 1e-7);
  EXPECT_NEAR(json.at("targets").at("mean").get<double>(), expected * 15 / 40, 1e-7);
}

TEST(Spread, OfOneMotionHasNoPairs) {
  const std::vector<control::Trajectory> motions(1, Moving([](int, Pose&) {}));
  const Spread spread = MeasureSpread(Human(), motions, Same(1), Standing());
  EXPECT_TRUE(std::isnan(spread.pair_smallest));
  EXPECT_TRUE(std::isnan(spread.pair_median));
  EXPECT_TRUE(std::isnan(spread.pair_largest));
  EXPECT_FALSE(spread.ToJson().at("pairs").contains("closest"));
  EXPECT_EQ(spread.root[0], 0);
}

TEST(Spread, RefusesWhatCannotBeCompared) {
  std::vector<control::Trajectory> motions(2, Moving([](int, Pose&) {}));
  EXPECT_THROW(MeasureSpread(Human(), {}, {}, Standing()), std::invalid_argument);
  EXPECT_THROW(MeasureSpread(Human(), motions, Same(3), Standing()), std::invalid_argument);
  motions[1].states.pop_back();
  EXPECT_THROW(MeasureSpread(Human(), motions, Same(2), Standing()), std::invalid_argument);
}

}  // namespace
}  // namespace retrace::metrics
