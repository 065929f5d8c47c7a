#include "retrace/task/schedule.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

#include "task/synthetic_motion.h"

namespace retrace::task {
namespace {

/// Steps on the spot: each foot is lifted in turn, and the arms swing.
character::Pose Stepping(double time) {
  character::Pose pose = StandingPose();
  const double phase = std::fmod(time, 1.0);
  const std::string side = phase < 0.5 ? "left" : "right";
  const double lift = 0.5 - 0.5 * std::cos(4 * kPi * phase);
  pose.joint_rotations[JointIndex(side + "_hip")] = AxisRotation(0, -0.8 * lift);
  pose.joint_rotations[JointIndex(side + "_knee")] = AxisRotation(0, 1.4 * lift);
  for (const auto& [arm, sign] : {std::pair{"left", 1.0}, std::pair{"right", -1.0}}) {
    Quat& shoulder = pose.joint_rotations[JointIndex(std::string(arm) + "_shoulder")];
    shoulder = AxisRotation(0, sign * 0.6 * std::sin(2 * kPi * time)) * shoulder;
  }
  return pose;
}

void IsAScheduleOf(const character::ReferenceMotion& reference, double time_step, const Schedule& schedule) {
  ASSERT_GE(schedule.num_iterations(), 1);
  EXPECT_EQ(schedule.steps.front(), 0);
  for (size_t i = 1; i < schedule.steps.size(); ++i) ASSERT_LT(schedule.steps[i - 1], schedule.steps[i]);
  const double end = schedule.steps.back() * time_step;
  EXPECT_LE(end, reference.duration() + 1e-6 * time_step);
  EXPECT_GT(end, reference.duration() - time_step);
  for (const Boundary& boundary : schedule.boundaries) {
    EXPECT_FALSE(boundary.reason.empty());
    double nearest = 1;
    for (const int step : schedule.steps) nearest = std::min(nearest, std::abs(step * time_step - boundary.time));
    EXPECT_LE(nearest, 0.5 * time_step * (1 + 1e-9)) << boundary.reason;
  }
}

TEST(Schedule, OffIsUniform) {
  ScheduleOptions options;
  options.segmentation = Segmentation::kOff;
  const auto reference = Motion(Stepping, 2);
  for (const double time_step : {1.0 / 240, 1.0 / 120, 0.0005}) {
    const Schedule schedule = MakeSchedule(reference, time_step, options, true);
    IsAScheduleOf(reference, time_step, schedule);
    EXPECT_TRUE(schedule.boundaries.empty());
    EXPECT_EQ(schedule.num_iterations(), 20);
    for (int i = 0; i <= 20; ++i)
      EXPECT_NEAR(schedule.steps[static_cast<size_t>(i)] * time_step, 0.1 * i, 0.51 * time_step);
  }
}

TEST(Schedule, AutomaticAsksTheCaller) {
  const auto reference = Motion(Stepping, 2);
  EXPECT_TRUE(MakeSchedule(reference, 1.0 / 240, {}, false).boundaries.empty());
  EXPECT_FALSE(MakeSchedule(reference, 1.0 / 240, {}, true).boundaries.empty());
  ScheduleOptions on;
  on.segmentation = Segmentation::kOn;
  EXPECT_FALSE(MakeSchedule(reference, 1.0 / 240, on, false).boundaries.empty());
}

TEST(Schedule, FindsTheStepsOfBothFeet) {
  const auto reference = Motion(Stepping, 2);
  const auto boundaries = FindBoundaries(reference);
  for (const std::string reason : {"contact of left_foot", "contact of right_foot"}) {
    EXPECT_TRUE(std::any_of(boundaries.begin(), boundaries.end(), [&](const Boundary& b) {
      return b.reason == reason;
    })) << reason;
  }
  for (size_t i = 1; i < boundaries.size(); ++i) EXPECT_GE(boundaries[i].time - boundaries[i - 1].time, 0.06 - 1e-9);
  EXPECT_TRUE(FindBoundaries(Motion(Standing, 1)).empty());
}

TEST(Schedule, OfAnyMotionCoversItWithStepsOfAUsualLength) {
  ASSERT_TRUE(rc::check([] {
    const double duration = 0.01 * *rc::gen::inRange(30, 250);
    const double speed = 0.1 * *rc::gen::inRange(3, 25);
    const double time_step = *rc::gen::element(1.0 / 240, 1.0 / 120, 0.002, 0.0005);
    const auto reference = Motion([&](double t) { return Stepping(speed * t); }, duration);
    ScheduleOptions options;
    options.segmentation = Segmentation::kOn;
    const Schedule schedule = MakeSchedule(reference, time_step, options, true);
    IsAScheduleOf(reference, time_step, schedule);
    for (size_t i = 1; i < schedule.steps.size(); ++i) {
      const double length = (schedule.steps[i] - schedule.steps[i - 1]) * time_step;
      RC_ASSERT(length > 0.05);
      RC_ASSERT(length < 0.16);
    }
  }));
}

}  // namespace
}  // namespace retrace::task
