#include "retrace/jobs/standing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobs/sample_runs.h"
#include "retrace/character/kinematics.h"
#include "retrace/control/control_file.h"
#include "retrace/io/error.h"
#include "retrace/io/file.h"
#include "retrace/runs/stored/verification.h"

namespace retrace::runs {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

StandingOptions ShortStanding(double duration) {
  StandingOptions options;
  options.keys = "standing";
  options.duration = duration;
  options.samples = 10;
  return options;
}

TEST(Standing, KeysSayWhetherTheyAreOfAStandingCharacter) {
  EXPECT_TRUE(AreStanding("standing"));
  EXPECT_FALSE(AreStanding("sitting"));
  EXPECT_THROW(AreStanding("flying"), Error);
}

TEST(Standing, PartsFollowOneAnotherToTheEnd) {
  for (const uint64_t seed : {1, 2}) {
    StandingOptions options = ShortStanding(9);
    options.seed = seed;
    const StandingJob job(options);
    double time = 0;
    size_t at = 0;
    for (size_t p = 0; p < job.parts.size(); ++p) {
      const StandingPart& part = job.parts[p];
      EXPECT_EQ(part.start, time);
      EXPECT_EQ(part.from, at);
      EXPECT_EQ(part.from == part.to, p % 2 == 0);  // a key is held, then left
      EXPECT_LT(part.to, job.keys.poses.size());
      const double lasts = part.end - part.start;
      if (p + 1 < job.parts.size()) {
        EXPECT_GE(lasts, (p % 2 == 0 ? 0.3 : 1) - 1e-9);
        EXPECT_LE(lasts, (p % 2 == 0 ? 2 : 2.5) + 1e-9);
      }
      time = part.end;
      at = part.to;
    }
    EXPECT_EQ(time, 9);
  }
}

TEST(Standing, TheFeetOfTheReferenceStayWhereTheyAre) {
  const StandingJob job(ShortStanding(6));
  EXPECT_NEAR(job.reference.duration(), 6, 1e-9);
  const std::vector<character::State> states = job.reference.StatesOfPoses();
  double moved = 0;
  for (const std::string foot : {"left_foot", "right_foot"}) {
    const auto b = static_cast<size_t>(job.character.FindBody(foot));
    for (const character::State& state : states) {
      EXPECT_LT((state[b].position - states[0][b].position).norm(), 2e-3) << foot;
    }
  }
  const auto trunk = static_cast<size_t>(job.character.FindBody("trunk"));
  for (const character::State& state : states) {
    moved = std::max(moved, (state[trunk].position - states[0][trunk].position).norm());
  }
  EXPECT_GT(moved, 0.005);  // it shifts about
}

TEST(Standing, TheReferenceIsAFunctionOfTheSeed) {
  StandingOptions options = ShortStanding(4);
  const StandingJob job(options), again(options);
  options.seed = 2;
  const StandingJob other(options);
  EXPECT_EQ(job.reference.poses()[300].root_position, again.reference.poses()[300].root_position);
  EXPECT_NE(job.parts[0].end, other.parts[0].end);
  EXPECT_EQ(job.problem.options.seed, 1u);
  EXPECT_EQ(other.problem.options.seed, 2u);
}

TEST(Standing, StandsAndReplaysToTheBit) {
  const StandingJob job(ShortStanding(0.6));
  const Standing result = Stand(job, 1);
  EXPECT_TRUE(result.success());
  EXPECT_EQ(result.num_steps, 144u);
  EXPECT_FALSE(result.diverged);
  EXPECT_LT(result.largest_creep, 0.1);
  EXPECT_GT(result.mean_joint_rate, 0);
  EXPECT_GT(result.servos_alone, 0);
  EXPECT_THAT(Describe(job, result), HasSubstr("feet creep by at most "));
  EXPECT_EQ(control::FormatControl(job.character, Stand(job, 2).search.control),
            control::FormatControl(job.character, result.search.control));
  const SampleFolder samples;
  {
    results::RunFolder folder(samples / "run", false);
    WriteStanding(folder, job, result, {});
  }
  const StoredRun stored(samples / "run");
  EXPECT_EQ(Verify(stored).difference, "");
  EXPECT_EQ((*stored.manifest)["idling"]["posture"], "standing");
  EXPECT_EQ((*stored.manifest)["success"], true);
  EXPECT_THAT(io::ReadFile(samples / "run" / results::kIdlingFile), testing::StartsWith("start,end,from,to\n0,"));
}

TEST(Standing, RefusesPosesThatSitAndCharactersWithoutLegs) {
  StandingOptions sitting = ShortStanding(1);
  sitting.keys = "sitting";
  EXPECT_THAT([&] { StandingJob job(sitting); },
              ThrowsMessage<InputError>(HasSubstr("found a pose that lies or sits")));
  StandingOptions dog = ShortStanding(1);
  dog.character = "quadruped";
  EXPECT_THROW(StandingJob job(dog), InputError);
}

}  // namespace
}  // namespace retrace::runs
