#include "planning/response/response_candidates.h"

#include <gtest/gtest.h>

#include <cmath>

#include "planning/response/sample_response.h"

namespace retrace::runs {
namespace {

/// The candidates of a problem.
struct Candidates {
  explicit Candidates(const ResponseOptions& options) : job(options), struck(job.problem) {
    struck.Simulate(job.problem.control.num_steps() + 240);
    found = FindCandidates(struck);
  }
  size_t MotionNamed(const std::string& name) const {
    const auto& motions = job.problem.library.motions().motions();
    for (size_t m = 0; m < motions.size(); ++m) {
      if (motions[m].name == name) return m;
    }
    throw std::logic_error("no motion " + name);
  }
  ResponseJob job;
  ImpactSimulation struck;
  std::vector<ResponseCandidate> found;
};

TEST(Responding, CandidatesAreEnteredWithinTheTimesAndEndInTheirMotions) {
  ResponseOptions options = ResponseSamples::Get().Pushed();
  options.latest = 0.8;
  const Candidates candidates(options);
  ASSERT_FALSE(candidates.found.empty());
  for (const ResponseCandidate& candidate : candidates.found) {
    EXPECT_GE(candidate.start, 0.27);
    EXPECT_LE(candidate.start, 0.8);
    EXPECT_GE(candidate.time, 0);
    if (candidate.own) continue;
    const double duration = candidates.struck.MotionOf(candidate).duration();
    // So that all of it lasts a second, and it goes over and has stood for half a second.
    EXPECT_GE(candidate.end, candidate.time + std::max(1 - candidate.start, 0.8) - 1e-9);
    EXPECT_LE(candidate.end, candidate.rest);
    EXPECT_LE(candidate.rest, candidate.last);
    EXPECT_LE(candidate.last, duration + 1e-9);
    EXPECT_GE(candidate.gap, 0);
    EXPECT_FALSE(candidate.tried);
  }
}

TEST(Responding, TheNearestCandidateIsFirstAndNoneIsThereTwice) {
  const Candidates candidates(ResponseSamples::Get().Pushed());
  const std::vector<ResponseCandidate>& found = candidates.found;
  for (size_t a = 0; a < found.size(); ++a) {
    if (!found[0].own && !found[a].own) {
      EXPECT_LE(found[0].gap, found[a].gap);
    }
    for (size_t b = 0; b < a; ++b) {
      const bool twins = found[a].own == found[b].own && found[a].motion == found[b].motion &&
                         std::abs(found[a].time - found[a].start - found[b].time + found[b].start) < 4.9 / 30;
      EXPECT_FALSE(twins) << a << " " << b;
    }
  }
  // Only those that may be tried are compared with a body without strength.
  for (size_t c = 0; c < found.size(); ++c) EXPECT_EQ(found[c].limp_gap > 0, c < 3) << c;
}

TEST(Responding, AfterAWeakPushTheOwnMotionIsTheFirstCandidate) {
  ResponseOptions options = ResponseSamples::Get().Pushed("trunk,0:0:5,0.6,0.1");
  const Candidates candidates(options);
  ASSERT_FALSE(candidates.found.empty());
  EXPECT_TRUE(candidates.found[0].own);
  EXPECT_NEAR(candidates.found[0].time, 0.6 + candidates.found[0].start, 1e-12);
  EXPECT_LT(candidates.found[0].gap, 0.2);
  // With `any_motion` the candidates are drawn from the library, as a function of the seed.
  options.any_motion = true;
  const Candidates any(options), again(options);
  options.configuration.sampling.seed = 2;
  const Candidates other(options);
  const auto entered = [](const Candidates& of) {
    std::vector<double> times;
    for (const ResponseCandidate& candidate : of.found) {
      EXPECT_FALSE(candidate.own);
      times.push_back(candidate.time);
    }
    return times;
  };
  EXPECT_FALSE(entered(any).empty());
  EXPECT_EQ(entered(any), entered(again));
  EXPECT_NE(entered(any), entered(other));
}

TEST(Responding, ByTheRuleOfThePaperTheNearestWindowComesFirst) {
  ResponseOptions options = ResponseSamples::Get().Pushed();
  UseRuleOfPaper(options);
  const Candidates candidates(options);
  ASSERT_GE(candidates.found.size(), 2u);
  for (size_t c = 1; c < candidates.found.size(); ++c) {
    EXPECT_LE(candidates.found[c - 1].distance, candidates.found[c].distance);
    EXPECT_FALSE(candidates.found[c].own);
  }
}

/// The clip of 2 s stands from its beginning to its end.
TEST(Responding, AStandEndsWhenAllOfItHasLastedLongEnough) {
  const Candidates candidates(ResponseSamples::Get().Pushed());
  ResponseCandidate candidate;
  candidate.motion = candidates.MotionNamed("stand");
  candidate.time = 0.1;
  candidate.start = 0.5;
  ASSERT_TRUE(FindEnd(candidates.struck, candidate));
  // Half a second that it stands and 0.3 s in which it is gone over to are more than the half that is left of a second.
  EXPECT_GE(candidate.end, 0.1 + 0.8 - 1e-9);
  EXPECT_LT(candidate.end, 0.1 + 0.8 + 1.0 / 30);
  EXPECT_GT(candidate.last, candidate.end + 0.3 - 1.0 / 30 - 1e-9);
  EXPECT_LE(candidate.last, candidate.end + 0.3 + 1e-9);
  candidate.start = 0;
  ASSERT_TRUE(FindEnd(candidates.struck, candidate));
  EXPECT_NEAR(candidate.end, 0.1 + 1, 1.0 / 30 + 1e-9);
  // Too late for that.
  candidate.time = 1.5;
  EXPECT_FALSE(FindEnd(candidates.struck, candidate));
}

/// It lies up to 0.5 s, and stands from 1.5 s on.
TEST(Responding, AGetUpEndsOnceItHasStoodForHalfASecond) {
  const Candidates candidates(ResponseSamples::Get().Felled());
  ResponseCandidate candidate;
  candidate.motion = candidates.MotionNamed("get_up");
  candidate.start = 1;
  ASSERT_TRUE(FindEnd(candidates.struck, candidate));
  EXPECT_GT(candidate.end, 1.5);
  EXPECT_LT(candidate.end, 2.1);
  EXPECT_GT(candidate.last, candidate.end + 0.2);
}

}  // namespace
}  // namespace retrace::runs
