#include "retrace/task/motion_kind.h"

#include <gtest/gtest.h>

#include "task/synthetic_motion.h"

namespace retrace::task {
namespace {

MotionKindReport Classified(const Course& course, double duration) {
  return ClassifyMotion(Motion(course, duration));
}

TEST(MotionKind, StandingAndSquattingAreLocomotion) {
  for (const Course& course : {Course(Standing), Course(Squatting)}) {
    const MotionKindReport report = Classified(course, 1.6);
    EXPECT_EQ(report.kind, MotionKind::kLocomotion);
    EXPECT_EQ(report.trunk_on_ground, 0);
    EXPECT_EQ(report.hands_on_ground, 0);
    EXPECT_EQ(report.in_flight, 0);
  }
}

TEST(MotionKind, HoppingIsFlight) {
  const MotionKindReport report = Classified(Hopping, 1.4);
  EXPECT_EQ(report.kind, MotionKind::kFlight);
  // Two arcs of 0.3 s, of which the part above 5 cm counts.
  const double above = 2 * std::sqrt(0.15 * 0.15 - 2 * 0.05 / 9.81);
  EXPECT_NEAR(report.in_flight, 2 * above / 1.4, 0.02);
}

TEST(MotionKind, AGapOfAFewFramesIsNoFlight) {
  const Course jitter = [](double time) {
    character::Pose pose = StandingPose();
    if (time > 0.5 && time < 0.55) pose.root_position.y() += 0.1;
    return pose;
  };
  EXPECT_EQ(Classified(jitter, 1).kind, MotionKind::kLocomotion);
}

TEST(MotionKind, LyingToStandingIsAGetUp) {
  const MotionKindReport report = Classified(GettingUp, 2);
  EXPECT_EQ(report.kind, MotionKind::kGetUp);
  EXPECT_GT(report.rise, 0.8);
  EXPECT_GT(report.trunk_on_ground, 0.05);
}

TEST(MotionKind, CrawlingIsOnHands) {
  ASSERT_GT(Lowest(Crawling(0), {"pelvis", "trunk", "head", "thigh", "upper_arm", "clavicle"}), 0.1);
  const MotionKindReport report = Classified(Crawling, 1);
  EXPECT_EQ(report.kind, MotionKind::kHands);
  EXPECT_EQ(report.hands_on_ground, 1);
}

TEST(MotionKind, RollingIsARollAlsoWhenItEndsOnTheFeet) {
  EXPECT_EQ(Classified(Rolling, 1).kind, MotionKind::kRoll);
  const MotionKindReport report = Classified(Somersaulting, 1.5);
  EXPECT_EQ(report.kind, MotionKind::kRoll);
  EXPECT_GT(report.rise, 0.5);
}

TEST(MotionKind, ChoosesWeightsAndContactsOfThePaper) {
  const auto weights = [](MotionKind kind) {
    const CostWeights w = PresetWeights(kind);
    return std::vector<double>{w.pose, w.root, w.end_effector, w.balance};
  };
  EXPECT_EQ(weights(MotionKind::kLocomotion), (std::vector<double>{5, 3, 30, 10}));
  EXPECT_EQ(weights(MotionKind::kFlight), (std::vector<double>{8, 5, 30, 20}));
  EXPECT_EQ(weights(MotionKind::kGetUp), (std::vector<double>{8, 5, 20, 20}));
  EXPECT_EQ(weights(MotionKind::kRoll), (std::vector<double>{8, 5, 0, 20}));
  for (const MotionKind kind :
       {MotionKind::kLocomotion, MotionKind::kFlight, MotionKind::kHands, MotionKind::kGetUp, MotionKind::kRoll}) {
    EXPECT_FALSE(Name(kind).empty());
    EXPECT_TRUE(Human().contact_presets.contains(PresetContacts(kind))) << Name(kind);
  }
}

}  // namespace
}  // namespace retrace::task
