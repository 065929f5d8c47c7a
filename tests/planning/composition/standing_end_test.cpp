#include "retrace/planning/composition/standing_end.h"

#include <gtest/gtest.h>

#include "jobs/sample_runs.h"
#include "retrace/character/kinematics.h"
#include "retrace/math/rotation.h"

namespace retrace::runs {
namespace {

/// A tracked walk whose last state a test replaces.
struct Ending {
  Ending() : control(Read(folder)) {
    character::Pose pose;
    pose.root_position = control.character().bodies[static_cast<size_t>(control.character().root)].rest_position;
    pose.joint_rotations.assign(control.character().joints.size(), Quat::Identity());
    character::ForwardKinematics(control.character(), pose, at_rest);
  }
  static LibraryControl Read(const SampleFolder& folder) {
    WriteTrackedRun(folder / "walk", TrackedOptions("walk", 1.2));
    return ReadLibraryControl(folder / "walk");
  }
  bool CanStandIn(const character::State& state) {
    control.states.back() = state;
    return CanStandAtEnd(control, CompositionConfiguration());
  }

  SampleFolder folder;
  LibraryControl control;
  character::State at_rest;
};

TEST(StandingEnd, WhoStandsOrWalksCan) {
  Ending ending;
  EXPECT_TRUE(CanStandAtEnd(ending.control, CompositionConfiguration()));  // it walks
  EXPECT_TRUE(ending.CanStandIn(ending.at_rest));
}

TEST(StandingEnd, WhoIsHighEnoughAndLeansTooFarCannot) {
  Ending ending;
  character::State leaning = ending.at_rest;
  const Quat turn = AxisRotation(0, 0.35);
  for (character::BodyState& body : leaning) {
    body.position = turn * body.position;
    body.orientation = turn * body.orientation;
  }
  ending.control.states.back() = leaning;
  EXPECT_TRUE(ending.control.EndsStanding());
  EXPECT_FALSE(ending.CanStandIn(leaning));
}

TEST(StandingEnd, WhoIsLowCannot) {
  Ending ending;
  character::State low = ending.at_rest;
  for (character::BodyState& body : low) body.position.y() -= 0.3;
  EXPECT_FALSE(ending.CanStandIn(low));
}

}  // namespace
}  // namespace retrace::runs
