#include "retrace/planning/segments/settle.h"

#include <gtest/gtest.h>

#include "planning/segments/standing_segment.h"
#include "retrace/io/error.h"
#include "retrace/planning/segments/segment_tracking.h"

namespace retrace::runs {
namespace {

/// A segment of 0.6 s, and poses up to 1.2 s.
struct Settling {
  Settling() : standing(0.6), way(TrackSegment(standing.problem())), followed(standing.poses) {
    poses = StandingSegment::Sampled(task::Standing, 1.2);
  }

  bool Run() {
    const SegmentProblem problem = standing.problem();
    return Settle({problem, poses, at_rest}, way, followed, feedback_from);
  }

  StandingSegment standing;
  FoundSegment way;
  std::vector<character::Pose> followed, poses, at_rest;
  int feedback_from = -1;
};

TEST(Settling, FeedbackContinuesFromTheEndOfTheSegment) {
  Settling settling;
  const std::vector<control::Fragment> before = settling.way.fragments;
  const double spent = settling.way.cpu_seconds;
  ASSERT_TRUE(settling.Run());
  EXPECT_EQ(settling.feedback_from, 72);
  EXPECT_NEAR(settling.way.reached, 1.2, 1e-9);
  EXPECT_GT(settling.way.cpu_seconds, spent);
  ExpectWithoutGaps(settling.way.fragments, 0, 144);
  for (size_t f = 0; f < before.size(); ++f) {
    EXPECT_EQ(settling.way.fragments[f].first_step, before[f].first_step);
    EXPECT_EQ(settling.way.fragments[f].num_steps, before[f].num_steps);
  }
  ASSERT_EQ(settling.followed.size(), NumCompositionFrames(1.2));
  EXPECT_LT((settling.followed.back().root_position - settling.poses.back().root_position).norm(), 0.1);
  EXPECT_EQ(control::Fingerprint(SimulateSegment(settling.standing.problem(), settling.way.fragments).states.back()),
            settling.way.end);
}

/// The poses rise at 3 m/s, which no character can follow.
TEST(Settling, WhereThePosesCannotBeFollowedThePoseIsHeld) {
  Settling settling;
  settling.poses = StandingSegment::Sampled(
      [](double time) {
        character::Pose pose = task::StandingPose();
        pose.root_position.y() += 3 * std::max(0.0, time - 0.6);
        return pose;
      },
      1.2);
  ASSERT_TRUE(settling.Run());
  EXPECT_EQ(settling.feedback_from, 72);
  EXPECT_NEAR(settling.way.reached, 1.2, 1e-9);
  ASSERT_EQ(settling.followed.size(), NumCompositionFrames(1.2));
  EXPECT_LT(settling.followed.back().root_position.y(), task::StandingPose().root_position.y() + 0.05);
}

TEST(Settling, WithoutAContinuationTheLongestSegmentIsKept) {
  Settling settling;
  // The start state is thrown backward: nothing can catch that.
  for (character::BodyState& body : settling.standing.start) body.linear_velocity = Vec3(0, 0, -4);
  SegmentProblem falling = settling.standing.problem();
  falling.lowest_root = 0;
  settling.way = TrackSegment(falling);
  const double reached = settling.way.reached;
  EXPECT_FALSE(settling.Run());
  EXPECT_EQ(settling.feedback_from, -1);
  EXPECT_GE(settling.way.reached, reached);
  EXPECT_LT(settling.way.reached, 1.2);
  EXPECT_EQ(control::Fingerprint(SimulateSegment(settling.standing.problem(), settling.way.fragments).states.back()),
            settling.way.end);
}

TEST(Settling, StopsWhereItIsAsked) {
  Settling settling;
  SegmentProblem problem = settling.standing.problem();
  problem.stop = [] { return true; };
  EXPECT_THROW(Settle({problem, settling.poses, {}}, settling.way, settling.followed, settling.feedback_from),
               StoppedError);
}

}  // namespace
}  // namespace retrace::runs
