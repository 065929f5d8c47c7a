#include "planning/response/kinematic_response.h"

#include <gtest/gtest.h>

#include "planning/response/sample_response.h"
#include "retrace/planning/response/response.h"
#include "retrace/planning/segments/joined_control.h"

namespace retrace::runs {
namespace {

/// What is shown after a push does not sink into the floor, and says what it hides.
TEST(Responding, AKinematicResponseIsJudged) {
  ResponseOptions options = ResponseSamples::Get().Pushed();
  options.kinematic = true;
  const ResponseJob job(options);
  const Response response = Respond(job.problem, 1);
  ASSERT_TRUE(response.blend);
  EXPECT_LT(response.blend->deepest, 0.02);
  EXPECT_EQ(response.blend->through, 0);
  EXPECT_EQ(response.blend->acceptable(), response.blend->smooth() && response.blend->fault() == 0);
  EXPECT_NEAR(response.control.duration(), response.control.ending->end_step(1.0 / 240) / 240.0, 1e-9);
}

/// Each limit of what is acceptable counts by itself.
TEST(ResponseBlend, WhatIsNotAcceptableIsAFault) {
  ResponseBlend blend;
  EXPECT_TRUE(blend.acceptable());
  for (double ResponseBlend::*const figure :
       {&ResponseBlend::deepest, &ResponseBlend::foot_slide, &ResponseBlend::hidden_share, &ResponseBlend::through}) {
    ResponseBlend worse;
    worse.*figure = 2;
    EXPECT_GT(worse.fault(), 0);
    EXPECT_FALSE(worse.acceptable());
  }
  // Feet of the recording that slide as fast themselves are not the blend's.
  blend.foot_slide = 1;
  blend.motion_foot_slide = 1.1;
  EXPECT_EQ(blend.fault(), 0);
  blend.end_velocity_jump = 1;
  EXPECT_FALSE(blend.acceptable());
}

/// In a scene feedback leads the other one back to its own motion, so that what is blended in is that of the receiver
/// alone; and it replays to the same bits.
TEST(Responding, InASceneTheOtherOneIsLedBackByFeedback) {
  ResponseOptions options = ResponseSamples::Get().Struck();
  options.kinematic = options.search_anyway = true;
  const ResponseJob job(options);
  const Response response = Respond(job.problem, 1);
  ASSERT_TRUE(response.scene);
  ASSERT_EQ(response.scene->endings.size(), 1u);
  EXPECT_EQ(response.scene->endings[0].character, ResponseProblem::kReceiver);
  EXPECT_FALSE(response.scene->physical());
  ASSERT_EQ(response.others.size(), 1u);
  EXPECT_TRUE(response.others[0].within());
  const control::Trajectory a = control::Replay(*response.scene), b = control::Replay(*response.scene);
  EXPECT_FALSE(a.diverged);
  EXPECT_EQ(control::Fingerprint(a.states.back()), control::Fingerprint(b.states.back()));
}

/// A thrown ball flies on after the character that it hit is no longer simulated.
TEST(Responding, AThrownBodyIsSimulatedOn) {
  ResponseOptions options = ResponseSamples::Get().Thrown();
  options.kinematic = options.search_anyway = true;
  const ResponseJob job(options);
  const Response response = Respond(job.problem, 1);
  ASSERT_TRUE(response.blend) << response.ending;
  const control::Trajectory whole = control::Replay(job.problem.character(), response.control);
  ASSERT_EQ(static_cast<int>(whole.num_steps()), response.control.num_steps());
  const size_t ball = job.problem.character().bodies.size();
  const auto enters = static_cast<size_t>(response.control.ending->step);
  EXPECT_GT((whole.states[enters + 24][ball].position - whole.states[enters][ball].position).norm(), 1e-3);
}

}  // namespace
}  // namespace retrace::runs
