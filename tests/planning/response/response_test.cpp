#include "retrace/planning/response/response.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "planning/response/sample_response.h"
#include "retrace/control/control_file.h"
#include "retrace/io/error.h"

namespace retrace::runs {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

std::string ControlOf(const ResponseProblem& problem, const Response& response) {
  return control::FormatControl(problem.character(), response.control);
}

TEST(Responding, AMotionWithinItsTolerancesContinues) {
  const ResponseJob job(ResponseSamples::Get().Pushed("trunk,0:0:1,2,0.1"));
  const Response response = Respond(job.problem, 1);
  EXPECT_TRUE(response.goes_on);
  EXPECT_TRUE(response.success());
  EXPECT_TRUE(response.physical());
  EXPECT_EQ(response.chosen, -1);
  EXPECT_TRUE(response.candidates.empty());
  ASSERT_EQ(response.control.pushes.size(), 1u);
  EXPECT_EQ(response.control.num_steps(), job.problem.control.num_steps());
  EXPECT_EQ(control::Fingerprint(control::Replay(job.problem.character(), response.control).states.back()),
            control::Fingerprint(
                control::Replay(job.problem.character(), job.problem.control, job.problem.pushes).states.back()));
  // The ragdoll is the same up to the exit.
  const control::Trajectory limp = control::Replay(response.ragdoll),
                            own = control::Replay(job.problem.character(), response.control);
  const auto exit = static_cast<size_t>(response.exit_step);
  EXPECT_EQ(control::Fingerprint(limp.states[exit]), control::Fingerprint(own.states[exit]));
  EXPECT_NE(control::Fingerprint(limp.states[exit + 1]), control::Fingerprint(own.states[exit + 1]));
  EXPECT_EQ(limp.num_steps(), own.num_steps());
}

TEST(Responding, AKinematicResponseIsTheSameOnAnyNumberOfThreads) {
  ResponseOptions options = ResponseSamples::Get().Pushed();
  options.kinematic = true;
  const ResponseJob job(options);
  std::vector<std::string> lines;
  ResponseHooks hooks;
  hooks.on_line = [&](const std::string& line) { lines.push_back(line); };
  const Response response = Respond(job.problem, 1, hooks);
  EXPECT_FALSE(response.goes_on);
  EXPECT_FALSE(response.physical());
  ASSERT_GE(response.chosen, 0);
  const ResponseCandidate& chosen = response.candidates[static_cast<size_t>(response.chosen)];
  EXPECT_TRUE(chosen.found);
  ASSERT_TRUE(response.blend);
  EXPECT_EQ(response.blend->hidden_impulse, chosen.hidden_impulse);
  EXPECT_NEAR(response.blend->hidden_share, chosen.hidden_impulse / 25, 1e-9);
  EXPECT_GT(response.own_until, 0.6);
  EXPECT_LT(response.own_until, 2.4);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_THAT(lines[0], HasSubstr("the run's own control exceeds the tolerances at "));
  EXPECT_EQ(lines[1], Describe(job.problem, chosen));
  EXPECT_EQ(ControlOf(job.problem, Respond(job.problem, 2)), ControlOf(job.problem, response));
}

/// Up to the exit it is the run's own control, from there on what was found: the replay of the two is the motion.
TEST(Responding, ASearchedResponseBeginsWithTheRunsOwnControl) {
  ResponseOptions options = ResponseSamples::Get().Pushed("trunk,0:0:20,0.6,0.1");
  const ResponseJob job(options);
  const Response response = Respond(job.problem, 1);
  ASSERT_FALSE(response.goes_on);
  EXPECT_TRUE(response.physical());
  EXPECT_FALSE(response.blend);
  const control::Trajectory motion = control::Replay(job.problem.character(), response.control),
                            own = control::Replay(job.problem.character(), job.problem.control, job.problem.pushes);
  const auto exit = static_cast<size_t>(response.exit_step);
  EXPECT_EQ(control::Fingerprint(motion.states[exit]), control::Fingerprint(own.states[exit]));
  EXPECT_GT(motion.num_steps(), exit + 24);
  EXPECT_NE(control::Fingerprint(motion.states[exit + 24]), control::Fingerprint(own.states[exit + 24]));
  const auto tried = std::count_if(response.candidates.begin(), response.candidates.end(),
                                   [](const ResponseCandidate& candidate) { return candidate.tried; });
  EXPECT_EQ(response.success(), response.chosen >= 0);
  EXPECT_GE(tried, 1);
  EXPECT_EQ(ControlOf(job.problem, Respond(job.problem, 2)), ControlOf(job.problem, response));
}

TEST(Responding, AStoppedResponseKeepsTheRunsControl) {
  const ResponseJob job(ResponseSamples::Get().Pushed());
  ResponseHooks hooks;
  hooks.stop = [] { return true; };
  const Response response = Respond(job.problem, 1, hooks);
  EXPECT_TRUE(response.stopped);
  EXPECT_EQ(response.ending, "stopped");
  EXPECT_FALSE(response.success());
  EXPECT_EQ(response.control.num_steps(), job.problem.control.num_steps());
}

TEST(Responding, RefusesAnImpactUnderWhichTheSimulationDiverges) {
  const ResponseJob job(ResponseSamples::Get().Pushed("trunk,1e6:0:0,0.1,0.5"));
  EXPECT_THAT(
      [&] { Respond(job.problem, 1); },
      ThrowsMessage<InputError>(HasSubstr("found an impact under which the simulation diverges, expected one that "
                                          "it can take")));
}

}  // namespace
}  // namespace retrace::runs
