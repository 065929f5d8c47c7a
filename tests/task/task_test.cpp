/// The start state of a task.
#include "retrace/task/task.h"

#include <gtest/gtest.h>

#include "retrace/character/kinematics.h"
#include "retrace/control/control.h"
#include "task/synthetic_motion.h"

namespace retrace::task {
namespace {

TEST(StartState, IsTheReferencesUnlessThatIsUnderTheGround) {
  double raised = -1;
  const auto standing = Motion(Standing, 0.5);
  character::State reference;
  standing.StateAt(0, reference);
  EXPECT_EQ(control::Fingerprint(StartState(standing, raised)), control::Fingerprint(reference));
  EXPECT_NEAR(raised, 0, 1e-15);

  const Course sunk = [](double) {
    character::Pose pose = StandingPose();
    pose.root_position.y() -= 0.05;
    return pose;
  };
  const auto sinking = Motion(sunk, 0.5);
  const character::State state = StartState(sinking, raised);
  EXPECT_NEAR(raised, 0.05, 1e-12);
  double lowest = 1;
  for (size_t b = 0; b < state.size(); ++b)
    lowest = std::min(lowest, character::LowestPoint(Human().bodies[b], state[b]));
  EXPECT_NEAR(lowest, 0, 1e-12);
}

TEST(StartState, LeavesHandsInTheGround) {
  const Course handstand = [](double) {
    character::Pose pose = Crawling(0);
    pose.root_position.y() -= 0.04;
    return pose;
  };
  double raised = -1;
  StartState(Motion(handstand, 0.5), raised);
  EXPECT_EQ(raised, 0);
}

}  // namespace
}  // namespace retrace::task
