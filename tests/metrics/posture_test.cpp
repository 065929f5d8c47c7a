/// Standing and lying.
#include "retrace/metrics/posture.h"

#include <gtest/gtest.h>

#include "character/sample_human.h"
#include "retrace/character/kinematics.h"

namespace retrace::metrics {
namespace {

using character::Human;
using character::Pose;
using character::RestPose;
using character::State;

/// The human with its root so many times as high as at rest.
Pose WithRootAt(double share) {
  Pose pose = RestPose(Human());
  pose.root_position.y() *= share;
  return pose;
}

State StateOf(const Pose& pose) {
  State state;
  character::ForwardKinematics(Human(), pose, state);
  return state;
}

TEST(Posture, StandsAtRest) {
  const Pose pose = WithRootAt(1);
  EXPECT_NEAR(RootShare(Human(), pose), 1, 1e-12);
  EXPECT_NEAR(RootShare(Human(), StateOf(pose)), 1, 1e-12);
  EXPECT_TRUE(Stands(Human(), pose));
  EXPECT_FALSE(Lies(Human(), pose));
}

TEST(Posture, ChangesAtItsTwoHeights) {
  struct Case {
    double share;
    bool lies, stands;
  };
  for (const Case& c :
       {Case{0.1, true, false}, Case{kLyingRoot - 0.01, true, false}, Case{kLyingRoot + 0.01, false, false},
        Case{kStandingRoot - 0.01, false, false}, Case{kStandingRoot + 0.01, false, true}, Case{1.2, false, true}}) {
    const Pose pose = WithRootAt(c.share);
    EXPECT_EQ(Lies(Human(), pose), c.lies) << c.share;
    EXPECT_EQ(Stands(Human(), pose), c.stands) << c.share;
    EXPECT_EQ(Lies(Human(), StateOf(pose)), c.lies) << c.share;
    EXPECT_EQ(Stands(Human(), StateOf(pose)), c.stands) << c.share;
    EXPECT_EQ(Lies(Human(), pose.root_position.y()), c.lies) << c.share;
    EXPECT_EQ(Stands(Human(), pose.root_position.y()), c.stands) << c.share;
  }
}

}  // namespace
}  // namespace retrace::metrics
