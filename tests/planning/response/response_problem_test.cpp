#include "retrace/planning/response/response_problem.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "planning/response/sample_response.h"

namespace retrace::runs {
namespace {

TEST(Responding, TheRuleOfThePaperIsKinematicFromATenthOfASecondOn) {
  ResponseSettings settings;
  const ResponseSettings before;
  UseRuleOfPaper(settings);
  EXPECT_TRUE(settings.paper);
  EXPECT_TRUE(settings.kinematic);
  EXPECT_EQ(Name(settings.blend), "linear");
  EXPECT_EQ(Name(before.blend), "matched");
  EXPECT_EQ(settings.delay, before.delay);
  EXPECT_EQ(settings.earliest, 0.1);
  EXPECT_EQ(settings.window.velocity_time, 0);
  EXPECT_EQ(settings.window.frames, before.window.frames);
  EXPECT_EQ(settings.latest, before.latest);
}

TEST(Responding, ACandidateIsDescribedByItsMotionAndItsOutcome) {
  const ResponseJob job(ResponseSamples::Get().Pushed());
  ResponseCandidate candidate;
  candidate.motion = 0;
  candidate.time = 0.5;
  candidate.start = 0.3;
  candidate.gap = 0.123;
  const std::string motion = job.problem.library.motions().motions()[0].name,
                    entered = " from 0.50 s on, 0.30 s after the push, 0.12 m off: ";
  EXPECT_EQ(Describe(job.problem, candidate), motion + entered + "not tried");
  candidate.tried = true;
  candidate.reached = 0.75;
  EXPECT_EQ(Describe(job.problem, candidate), motion + entered + "lost 0.75 s after the push");
  candidate.up = true;
  EXPECT_EQ(Describe(job.problem, candidate), motion + entered + "up, and lost 0.75 s after the push");
  candidate.found = true;
  EXPECT_EQ(Describe(job.problem, candidate), motion + entered + "found");
  candidate.touched_again = 2.5;
  EXPECT_EQ(Describe(job.problem, candidate), motion + entered + "found, touched again at 2.50 s");
  candidate.lies_at = 1.5;
  candidate.touched_again = -1;
  EXPECT_EQ(Describe(job.problem, candidate), "falls, and gets up: " + motion + entered + "found");
  candidate = {.own = true, .time = 0.5, .start = 0.3, .gap = 0.123, .tried = true, .found = true};
  EXPECT_EQ(Describe(job.problem, candidate), "its own motion" + entered + "found");
  ResponseOptions kinematic = ResponseSamples::Get().Pushed();
  kinematic.kinematic = true;
  candidate.blended = true;
  candidate.hidden_impulse = 41.6;
  EXPECT_EQ(Describe(ResponseJob(kinematic).problem, candidate),
            "its own motion" + entered + "blended in, for an impulse of 42 N s");
}

TEST(Responding, ABlendIsSmoothWhereItsJumpsCannotBeSeen) {
  ResponseBlend blend;
  blend.position_jump = 0.0009;
  blend.begin_velocity_jump = blend.end_velocity_jump = 0.29;
  EXPECT_TRUE(blend.smooth());
  EXPECT_THAT(Describe(blend), testing::HasSubstr("jumps 0.90 mm and 0.29 m/s"));
  for (double ResponseBlend::*jump :
       {&ResponseBlend::position_jump, &ResponseBlend::begin_velocity_jump, &ResponseBlend::end_velocity_jump}) {
    ResponseBlend jumping = blend;
    jumping.*jump = 0.31;
    EXPECT_FALSE(jumping.smooth());
  }
}

}  // namespace
}  // namespace retrace::runs
