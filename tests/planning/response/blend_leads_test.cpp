#include "planning/response/blend_leads.h"

#include <gtest/gtest.h>

#include "planning/response/sample_response.h"
#include "retrace/control/cutting.h"

namespace retrace::runs {
namespace {

/// The run's own control as what leads there.
struct SampleLead {
  SampleLead() : job(Options()), struck(job.problem) {
    struck.Simulate(job.problem.control.num_steps());
    std::vector<control::Fragment> fragments;
    for (const control::Fragment& fragment : control::SplitAt({struck.exit()}, job.problem.control.fragments)) {
      if (fragment.first_step >= struck.exit()) fragments.push_back(fragment);
    }
    lead = SimulateLead(struck, fragments, job.problem.control.num_steps());
    own.own = true;
    own.time = struck.exit_time();
    own.start = own.time - job.problem.impact.start;
    own.end = own.last = own.rest = struck.MotionOf(own).duration();
  }
  static ResponseOptions Options() {
    ResponseOptions options = ResponseSamples::Get().Pushed("trunk,0:0:-30,0.6,0.1");
    options.kinematic = true;
    return options;
  }

  ResponseJob job;
  ImpactSimulation struck;
  std::shared_ptr<const SimulatedLead> lead;
  ResponseCandidate own;
};

TEST(Responding, ALeadIsSimulatedAsTheReplayShowsIt) {
  const SampleLead sample;
  ASSERT_EQ(sample.lead->states.size(), sample.struck.naive().states.size());
  const auto exit = static_cast<size_t>(sample.struck.exit());
  EXPECT_EQ(control::Fingerprint(sample.lead->states[exit]), control::Fingerprint(sample.struck.naive().states[exit]));
}

/// What is hidden at an instant is less than at the instant at which the lead began, and instants are apart.
TEST(Responding, AMotionIsEnteredWhereALeadIsNearest) {
  const SampleLead sample;
  const int from = sample.struck.exit(), to = static_cast<int>(sample.lead->states.size()) - 1;
  const auto nearest = NearestInstants(sample.struck, sample.lead, sample.own, from, to, 0.1, 3);
  ASSERT_GE(nearest.size(), 2u);
  const auto first = NearestInstants(sample.struck, sample.lead, sample.own, from, from, 0, 1);
  ASSERT_EQ(first.size(), 1u);
  EXPECT_NEAR(first[0].candidate.time, sample.own.time, 1e-9);
  EXPECT_LE(ExpectedFault(sample.struck, nearest[0].candidate), ExpectedFault(sample.struck, first[0].candidate));
  for (const LedCandidate& led : nearest) {
    EXPECT_LE(std::abs(led.candidate.time - sample.own.time - (led.candidate.start - sample.own.start)), 0.1 + 1e-9);
  }
  EXPECT_GE(std::abs(nearest[1].candidate.start - nearest[0].candidate.start), 0.15 - 1e-9);
}

/// Beyond half of the impulse, what is hidden counts more.
TEST(Responding, WhatIsHiddenIsExpectedToShow) {
  const SampleLead sample;
  ResponseCandidate little, much;
  little.hidden_impulse = 0.4 * sample.job.problem.impact.impulse;
  much.hidden_impulse = 2 * little.hidden_impulse;
  EXPECT_GT(ExpectedFault(sample.struck, much), 2 * ExpectedFault(sample.struck, little));
}

}  // namespace
}  // namespace retrace::runs
