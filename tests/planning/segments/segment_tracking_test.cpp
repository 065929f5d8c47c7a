#include "retrace/planning/segments/segment_tracking.h"

#include <gtest/gtest.h>

#include "planning/segments/standing_segment.h"
#include "retrace/character/kinematics.h"
#include "retrace/control/controller.h"
#include "retrace/control/cutting.h"

namespace retrace::runs {
namespace {

TEST(SegmentTracking, TheReplayEndsInTheTrackedState) {
  const StandingSegment standing(0.5);
  const FoundSegment way = TrackSegment(standing.problem());
  EXPECT_TRUE(way.reached_end);
  EXPECT_NEAR(way.reached, 0.5, 1e-9);
  ExpectWithoutGaps(way.fragments, 0, 60);
  EXPECT_EQ(way.end, control::Fingerprint(way.end_state));
  EXPECT_EQ(control::Fingerprint(SimulateSegment(standing.problem(), way.fragments).states.back()), way.end);
}

TEST(SegmentTracking, CountsStepsFromThoseOfTheWholeMotion) {
  const StandingSegment standing(0.5);
  const FoundSegment way = TrackSegment(standing.problem()), later = TrackSegment(standing.problem(36));
  ExpectWithoutGaps(later.fragments, 36, 96);
  EXPECT_EQ(later.end, way.end);
  EXPECT_EQ(control::Fingerprint(SimulateSegment(standing.problem(36), later.fragments).states.back()), way.end);
}

/// A velocity of 0.2 m/s is gone after a second.
TEST(SegmentTracking, FeedbackCatchesASlowPush) {
  StandingSegment standing(1);
  for (character::BodyState& body : standing.start) body.linear_velocity = Vec3(0, 0, 0.2);
  const FoundSegment way = TrackSegment(standing.problem());
  EXPECT_TRUE(way.reached_end);
  EXPECT_LT(character::CenterOfMassVelocity(task::Human(), way.end_state).norm(), 0.1);
}

TEST(SegmentTracking, AThrownCharacterCannotBeTracked) {
  StandingSegment standing(0.6);
  for (character::BodyState& body : standing.start) body.linear_velocity = Vec3(0, 0, -4);
  EXPECT_FALSE(TrackSegment(standing.problem()).reached_end);
}

/// The squat is tracked well, but the character does not stand.
TEST(SegmentTracking, ALowRootIsNoSuccess) {
  StandingSegment standing(0.9);
  standing.poses = StandingSegment::Sampled([](double time) { return task::SquatPose(0.02 + 0.9 * time); }, 0.9);
  character::ForwardKinematics(task::Human(), standing.poses.front(), standing.start);
  EXPECT_FALSE(TrackSegment(standing.problem()).reached_end);
  SegmentProblem any = standing.problem();
  any.lowest_root = 0;
  const FoundSegment low = TrackSegment(any);
  EXPECT_NEAR(low.reached, 0.9, 1e-9);
  EXPECT_LT(low.end_state[static_cast<size_t>(task::Human().root)].position.y(),
            0.8 * task::Human().bodies[static_cast<size_t>(task::Human().root)].rest_position.y());
  EXPECT_TRUE(low.reached_end) << "where the root may be anywhere";
  standing.poses.resize(40);
  EXPECT_TRUE(TrackSegment(standing.problem()).reached_end);
}

TEST(SegmentTracking, OtherCharactersMoveAsInTheReplay) {
  StandingSegment standing(0.4);
  const FoundSegment alone = TrackSegment(standing.problem(24));
  const size_t count = standing.start.size();
  for (size_t b = 0; b < count; ++b) {
    standing.start.push_back(standing.start[b]);
    standing.start.back().position += Vec3(3, 0, 0);
  }
  SegmentProblem problem = standing.problem(24);
  const control::TargetPose rest(task::Human().joints.size(), Quat::Identity());
  problem.companions = {{&task::Human(), control::SplitAt({24, 72}, {{0, 72, {rest}}})}};
  const FoundSegment way = TrackSegment(problem);
  EXPECT_TRUE(way.reached_end);
  const character::State own(way.end_state.begin(), way.end_state.begin() + static_cast<std::ptrdiff_t>(count));
  EXPECT_EQ(control::Fingerprint(own), alone.end);
  EXPECT_EQ(control::Fingerprint(SimulateSegment(problem, way.fragments).states.back()), way.end);
}

/// The end of another character is shown, not simulated: a simulation of all of it has the bits of the segment.
TEST(SegmentTracking, AnEndThatIsShownGoesOnAsInTheReplay) {
  StandingSegment standing(0.4);
  const size_t count = standing.start.size();
  for (size_t b = 0; b < count; ++b) {
    standing.start.push_back(standing.start[b]);
    standing.start.back().position += Vec3(0.3, 0, 0);  // so near that arms touch
  }
  SegmentProblem problem = standing.problem(24);
  const character::Character& human = task::Human();
  const control::TargetPose rest(human.joints.size(), Quat::Identity());
  character::Pose stands;
  character::PoseOf(human, {standing.start.begin() + static_cast<std::ptrdiff_t>(count), standing.start.end()}, stands);
  const std::vector<control::KinematicEnding> endings = {
      {12, 12, 1.0 / 60, std::vector<character::Pose>(80, stands), 1}};
  const std::vector<control::Fragment> before = {{0, 24, {rest}}}, other = {{0, 12, {rest}}};
  const auto simulate = [&](const std::vector<control::Fragment>& receiver, int steps) {
    control::OpenLoop own(receiver), others(other);
    control::Controller* const controllers[] = {&own, &others};
    const character::Character* const characters[] = {&human, &human};
    return control::Simulate(characters, problem.world, standing.start, controllers, 0, steps, {}, endings).states;
  };
  const character::State at_exit = simulate(before, 24).back();
  SegmentProblem from_exit{human, problem.world, at_exit, 24, problem.poses, problem.configuration};
  from_exit.companions = {{&human, control::SplitAt({72}, other)}};
  from_exit.endings = endings;
  from_exit.lowest_root = -1;
  const FoundSegment found = TrackSegment(from_exit);
  ASSERT_FALSE(found.fragments.empty());
  std::vector<control::Fragment> whole = before;
  whole.insert(whole.end(), found.fragments.begin(), found.fragments.end());
  EXPECT_EQ(control::Fingerprint(simulate(whole, whole.back().end_step()).back()), found.end);
}

}  // namespace
}  // namespace retrace::runs
