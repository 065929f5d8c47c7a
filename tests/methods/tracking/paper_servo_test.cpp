#include "methods/tracking/paper_servo.h"

#include <gtest/gtest.h>

#include <cmath>

#include "retrace/methods/tracking/tracked_motion.h"
#include "task/synthetic_motion.h"

namespace retrace::tracking {
namespace {

/// A squat in motion, followed without an error.
struct Squat {
  Squat() {
    motion.At(0.4, goal);
    now.SetMotion(goal.pose, goal.velocity);
  }
  Eigen::VectorXd TorquesOf(double stiffness, bool relative) const {
    Eigen::VectorXd torque = Eigen::VectorXd::Zero(now.size());
    const Eigen::VectorXd error = Eigen::VectorXd::Zero(now.size());
    PaperServo(task::Human(), stiffness, relative).AddTorques(now, error, goal.velocity, goal.velocity, torque);
    return torque;
  }
  int CoordinateOf(const char* joint) const { return now.coordinates().FirstOf(task::Human().FindJoint(joint)); }

  character::ReferenceMotion reference = task::Motion(task::Squatting, 1);
  dynamics::CharacterDynamics now{task::Human()};
  TrackedMotion motion{reference, now.coordinates()};
  Goal goal;
};

TEST(PaperServo, Equation8BrakesAHingeThatFollowsItsReference) {
  const Squat squat;
  const int knee = squat.CoordinateOf("left_knee"), hip = squat.CoordinateOf("left_hip");
  const double rate = squat.goal.velocity[knee];
  ASSERT_GT(std::abs(rate), 0.5);
  const Eigen::VectorXd torque = squat.TorquesOf(0.05, false);
  EXPECT_NEAR(torque[knee], -2 * std::sqrt(0.05 * 4000) * rate, 1e-9);
  EXPECT_LT(torque.segment<3>(hip).norm(), 1e-9);  // equation 10 does not
}

TEST(PaperServo, WithTheRateOfTheReferenceItDoesNot) {
  EXPECT_LT(Squat().TorquesOf(0.05, true).norm(), 1e-9);
}

}  // namespace
}  // namespace retrace::tracking
