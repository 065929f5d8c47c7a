#include "retrace/jobs/reconstruction_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "jobs/sample_runs.h"
#include "retrace/io/error.h"
#include "retrace/io/file.h"
#include "retrace/jobs/identity.h"

namespace retrace::runs {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(ReconstructionJob, ASeedIsThatOfAllMethods) {
  Job job(TrackedOptions("walk", 0.4));
  const io::Json identity = job.identity;
  job.SetSeed(7);
  EXPECT_EQ(job.configuration.sampling.seed, 7u);
  EXPECT_EQ(job.configuration.tracking.seed, 7u);
  EXPECT_EQ(job.problem.options.seed, 7u);
  EXPECT_EQ(job.trajectory.options.seed, 7u);
  EXPECT_EQ(job.options.configuration.sampling.seed, 1u);
  EXPECT_EQ(*job.identity, identity);  // that of the options
}

TEST(ReconstructionJob, CopiesShareWhatIsPrepared) {
  const Job job(TrackedOptions("walk", 0.4));
  const Job copy = job;
  EXPECT_EQ(copy.prepared.get(), job.prepared.get());
  EXPECT_EQ(copy.problem.task.reference, &job.reference());
  EXPECT_EQ(&copy.character(), &job.character());
  EXPECT_NEAR(job.reference().duration(), 0.4, 1e-9);
}

TEST(ReconstructionJob, ABaselineTakesThePlaceOfTheReference) {
  JobOptions options = TrackedOptions("walk", 0.4);
  EXPECT_FALSE(Job(options).LacksBaseline());
  options.configuration.run.baseline = Baseline::kTracked;
  Job job(options);
  EXPECT_TRUE(job.LacksBaseline());
  EXPECT_EQ(job.problem.baseline, nullptr);
  job.SetBaseline(job.reference());
  EXPECT_FALSE(job.LacksBaseline());
  EXPECT_EQ(job.problem.baseline, job.baseline.get());
  EXPECT_EQ(job.trajectory.baseline, job.baseline.get());
}

TEST(ReconstructionJob, AMassIsThatOfTheCharacterAndItsServos) {
  JobOptions options = TrackedOptions("walk", 0.4);
  const Job own(options);
  options.mass = 2 * own.character().total_mass();
  const Job heavy(options);
  EXPECT_NEAR(heavy.character().total_mass(), *options.mass, 1e-9);
  EXPECT_NEAR(heavy.character().bodies[0].mass, 2 * own.character().bodies[0].mass, 1e-9);
  EXPECT_GT(heavy.character().joints[0].kp, own.character().joints[0].kp);
  EXPECT_NE(heavy.identity, own.identity);
}

TEST(ReconstructionJob, TheInputsAreAllFilesTheConfigurationLast) {
  JobOptions options = TrackedOptions("walk", 0.4);
  options.worlds = {"ice"};
  options.configuration_file = {{kConfigurationRole, "mine.json"}, "ff"};
  const Job job(options);
  ASSERT_EQ(job.inputs.size(), 4u);
  EXPECT_EQ(job.inputs[0].name.role, "clip");
  EXPECT_EQ(job.inputs[0].sha256, io::Sha256(io::ReadFile(SampleClip("walk"))));
  EXPECT_EQ(job.inputs.back().name.role, kConfigurationRole);
  EXPECT_EQ(*job.identity, Identity(options, job.inputs));
  // The gravity and the ground of the world are those of the configuration.
  EXPECT_EQ(job.configuration.task.world.environment.ToJson(), job.prepared->placed.environment.ToJson());
  EXPECT_FALSE(job.configuration.task.world.environment.empty());
}

TEST(ReconstructionJob, RefusesWhatCannotBeUsed) {
  JobOptions none = TrackedOptions("walk", 0.4);
  none.clip.file = "nothing.bvh";
  EXPECT_THROW(Job{none}, Error);
  JobOptions unknown = TrackedOptions("walk", 0.4);
  unknown.character = "humann";
  EXPECT_THAT([&] { Job{unknown}; }, ThrowsMessage<UsageError>(HasSubstr("human")));
  JobOptions late = TrackedOptions("walk", 0.4);
  late.clip.start = 100;
  late.clip.end.reset();
  EXPECT_THROW(Job{late}, Error);
}

}  // namespace
}  // namespace retrace::runs
