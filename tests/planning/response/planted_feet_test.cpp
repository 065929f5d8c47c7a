#include "planning/response/planted_feet.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "character/sample_human.h"
#include "retrace/character/kinematics.h"
#include "retrace/math/rotation.h"
#include "retrace/math/smooth_step.h"
#include "retrace/metrics/foot_slide.h"
#include "retrace/planning/segments/joined_control.h"

namespace retrace::runs {
namespace {

using character::Human;
using character::Pose;
using character::State;

/// A body that stands goes over to another posture, in which it stands, too, within 0.3 s.
struct GoingOver {
  explicit GoingOver(const Pose& to) {
    const Pose from = character::RestPose(Human());
    const auto motion = [&](double, Pose& pose) { pose = to; };
    legs = EnteringLegs(Human(), character::StateOf(Human(), from), motion, 2);
    std::vector<Pose> poses;
    for (int f = 0; f <= 60; ++f) {
      character::Interpolate(from, to, SmoothStep(std::min(1.0, f * kCompositionFrame / 0.3)), poses.emplace_back());
    }
    const std::vector<Pose> motions(poses.size(), to);
    PlantFeet(Human(), legs, motions, kCompositionFrame, poses);
    for (const Pose& pose : poses) character::ForwardKinematics(Human(), pose, states.emplace_back());
  }

  std::vector<EnteringLeg> legs;
  std::vector<State> states;
};

TEST(PlantedFeet, FeetThatStandInBothStayWhereTheyAre) {
  Pose to = character::RestPose(Human());
  to.root_position += Vec3(0, -0.02, 0.06);
  const GoingOver over(to);
  ASSERT_EQ(over.legs.size(), 2u);
  for (const EnteringLeg& leg : over.legs) {
    EXPECT_TRUE(leg.held());
    EXPECT_NEAR(leg.apart.z(), -0.06, 1e-9);
    for (const State& state : over.states) {
      const Vec3 moved = state[leg.foot].position - over.states[0][leg.foot].position;
      EXPECT_LT(std::hypot(moved.x(), moved.z()), 0.015);
    }
  }
  EXPECT_LT(metrics::FootSlide(Human(), over.states, kCompositionFrame), 0.05);
}

TEST(PlantedFeet, AFootThatHasToComeElsewhereTakesAStep) {
  Pose to = character::RestPose(Human());
  to.root_position.y() -= 0.04;
  character::RotationOf(Human(), to, "left_hip") = AxisRotation(2, 0.35);
  character::RotationOf(Human(), to, "left_ankle") = AxisRotation(2, -0.35);
  const GoingOver over(to);
  const auto left = static_cast<size_t>(Human().FindBody("left_foot"));
  double highest = 0;
  for (const State& state : over.states) {
    highest = std::max(highest, character::LowestPoint(Human().bodies[left], state[left]));
  }
  EXPECT_GT(highest, 0.03);
  EXPECT_GT((over.states.back()[left].position - over.states[0][left].position).norm(), 0.2);
  // It begins and ends as it would without.
  State there;
  character::ForwardKinematics(Human(), to, there);
  EXPECT_LT((over.states.back()[left].position - there[left].position).norm(), 1e-9);
}

}  // namespace
}  // namespace retrace::runs
