#include "retrace/planning/segments/segment_search.h"

#include <gtest/gtest.h>

#include "planning/segments/standing_segment.h"
#include "retrace/control/cutting.h"
#include "retrace/io/error.h"

namespace retrace::runs {
namespace {

TEST(SegmentSearch, TheReplayEndsInTheStateOfTheSearch) {
  const StandingSegment standing(0.5);
  const SegmentProblem problem = standing.problem();
  const FoundSegment way = SearchSegment(problem);
  EXPECT_TRUE(way.reached_end);
  EXPECT_NEAR(way.reached, 0.5, 1e-9);
  EXPECT_GT(way.cpu_seconds, 0);
  ExpectWithoutGaps(way.fragments, 0, 60);
  EXPECT_EQ(way.end, control::Fingerprint(way.end_state));
  const control::Trajectory motion = SimulateSegment(problem, way.fragments);
  ASSERT_EQ(motion.states.size(), 61u);
  EXPECT_EQ(control::Fingerprint(motion.states.front()), control::Fingerprint(standing.start));
  EXPECT_EQ(control::Fingerprint(motion.states.back()), way.end);
}

TEST(SegmentSearch, CountsStepsFromThoseOfTheWholeMotion) {
  const StandingSegment standing(0.5);
  const FoundSegment way = SearchSegment(standing.problem()), later = SearchSegment(standing.problem(36));
  ExpectWithoutGaps(later.fragments, 36, 96);
  EXPECT_EQ(later.end, way.end);
  EXPECT_EQ(later.reached, way.reached);
  const control::Trajectory motion = SimulateSegment(standing.problem(36), later.fragments);
  EXPECT_EQ(control::Fingerprint(motion.states.back()), way.end);
}

TEST(SegmentSearch, DoesNotDependOnTheNumberOfThreads) {
  const StandingSegment standing(0.4);
  SegmentProblem problem = standing.problem();
  const uint64_t end = SearchSegment(problem).end;
  problem.threads = 3;
  EXPECT_EQ(SearchSegment(problem).end, end);
}

TEST(SegmentSearch, EffortIsAFactorOnTheSamples) {
  StandingSegment standing(0.3);
  for (character::BodyState& body : standing.start) body.linear_velocity = Vec3(0.3, 0, 0.5);  // to be made up for
  SegmentProblem more = standing.problem();
  more.effort = 5;
  const uint64_t end = SearchSegment(more).end;
  EXPECT_NE(SearchSegment(standing.problem()).end, end);
  standing.configuration.sampling.samples *= 5;
  standing.configuration.sampling.selection.saved *= 5;
  standing.configuration.sampling.budget *= 5;
  EXPECT_EQ(SearchSegment(standing.problem()).end, end);
}

TEST(SegmentSearch, ASearchThatFailsKeepsWhatItFound) {
  StandingSegment standing(0.6);
  for (character::BodyState& body : standing.start) body.linear_velocity = Vec3(0, 0, -4);
  const SegmentProblem problem = standing.problem();
  const FoundSegment way = SearchSegment(problem);
  EXPECT_FALSE(way.reached_end);
  EXPECT_LT(way.reached, 0.55);
  ExpectWithoutGaps(way.fragments, 0, static_cast<int>(std::lround(way.reached * 120)));
  EXPECT_EQ(control::Fingerprint(SimulateSegment(problem, way.fragments).states.back()), way.end);
}

TEST(SegmentSearch, TheNumberOfBacktracksIsLimited) {
  StandingSegment standing(0.6);
  for (character::BodyState& body : standing.start) body.linear_velocity = Vec3(0, 0, -4);
  const FoundSegment once = SearchSegment(standing.problem());
  standing.configuration.sampling.max_back_offs = 100;
  SegmentProblem problem = standing.problem();
  problem.most_back_offs = 0;
  EXPECT_EQ(SearchSegment(problem).end, once.end);
}

TEST(SegmentSearch, OtherCharactersMoveAsInTheReplay) {
  StandingSegment standing(0.4);
  character::State both = standing.start;
  for (const character::BodyState& body : standing.start) {
    both.push_back(body);
    both.back().position += Vec3(3, 0, 0);
  }
  const FoundSegment alone = SearchSegment(standing.problem(24));
  standing.start = both;
  SegmentProblem problem = standing.problem(24);
  // The other one's control began before, and its servos are weak.
  control::Fragment weak{0, 72, {}};
  weak.commands = {std::vector<simulation::JointCommand>(task::Human().joints.size())};
  for (simulation::JointCommand& command : weak.commands[0]) command.gain = 0.1;
  problem.companions = {{&task::Human(), control::SplitAt({24, 72}, {weak})}};
  const FoundSegment way = SearchSegment(problem);
  EXPECT_TRUE(way.reached_end);
  ASSERT_EQ(way.end_state.size(), both.size());
  // The two do not touch: each moves as it does by itself.
  const character::State own(way.end_state.begin(), way.end_state.begin() + std::ssize(task::Human().bodies));
  EXPECT_EQ(control::Fingerprint(own), alone.end);
  EXPECT_LT(way.end_state[task::Human().bodies.size()].position.y(), own[0].position.y());
  EXPECT_EQ(control::Fingerprint(SimulateSegment(problem, way.fragments).states.back()), way.end);
}

TEST(SegmentSearch, WithoutFragmentsNothingIsSimulated) {
  const StandingSegment standing(0.3);
  const control::Trajectory nothing = SimulateSegment(standing.problem(12), {});
  ASSERT_EQ(nothing.states.size(), 1u);
  EXPECT_EQ(control::Fingerprint(nothing.states[0]), control::Fingerprint(standing.start));
}

TEST(SegmentSearch, StopsWhereItIsAsked) {
  const StandingSegment standing(0.3);
  SegmentProblem problem = standing.problem();
  problem.stop = [] { return true; };
  EXPECT_THROW(SearchSegment(problem), StoppedError);
}

}  // namespace
}  // namespace retrace::runs
