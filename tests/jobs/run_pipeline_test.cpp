#include "retrace/jobs/run_pipeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobs/sample_runs.h"
#include "retrace/io/error.h"
#include "retrace/io/file.h"
#include "retrace/parallel/thread_farm.h"
#include "retrace/runs/stored/checkpoint.h"
#include "retrace/runs/stored/verification.h"

namespace retrace::runs {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

/// A search of 0.3 s of the stand, in a folder.
struct Pipeline {
  Pipeline() : job_options(TrackedOptions("stand", 0.3)) {
    job_options.configuration.run.method = Method::kSampling;
    job_options.configuration.sampling.samples = 4;
    job_options.configuration.sampling.selection.saved = 2;
    job_options.configuration.sampling.refinement.passes = 0;
    options.output = samples / "run";
  }
  RunOutcome Execute(const RunSetting& setting = {}) const {
    Job job(job_options);
    const auto farm = parallel::MakeThreadFarm(1, MakeWorkersOf(job, options));
    return Run(job, *farm, options, setting);
  }
  std::string ControlText() const { return io::ReadFile(options.output / results::kControlFile); }

  SampleFolder samples;
  JobOptions job_options;
  RunOptions options;
};

TEST(RunPipeline, LeavesAWholeRunAndNoCheckpoint) {
  const Pipeline pipeline;
  int begun = 0, ended = 0, iterations = 0;
  RunSetting setting;
  setting.observer.on_begin = [&] { ++begun; };
  setting.observer.on_search_end = [&] { ++ended; };
  setting.observer.on_iteration = [&](const sampling::IterationRecord&) { ++iterations; };
  const RunOutcome outcome = pipeline.Execute(setting);
  EXPECT_FALSE(outcome.finished_before);
  ASSERT_TRUE(outcome.reconstruction);
  EXPECT_EQ(outcome.success, outcome.reconstruction->success());
  EXPECT_FALSE(outcome.variations);
  EXPECT_FALSE(outcome.forces);
  EXPECT_EQ(begun, 1);
  EXPECT_EQ(ended, 1);
  EXPECT_EQ(static_cast<size_t>(iterations), outcome.reconstruction->search.iterations.size());
  EXPECT_FALSE(Checkpoint::Exists(pipeline.options.output));
  EXPECT_EQ(Verify(StoredRun(pipeline.options.output)).difference, "");
}

TEST(RunPipeline, AFinishedRunIsLeftAsItIsAndAnotherOneRefused) {
  Pipeline pipeline;
  const RunOutcome first = pipeline.Execute();
  EXPECT_THROW(pipeline.Execute(), UsageError);  // in use
  pipeline.options.resume = true;
  const std::string manifest = io::ReadFile(pipeline.options.output / results::kManifestFile);
  const RunOutcome again = pipeline.Execute();
  EXPECT_TRUE(again.finished_before);
  EXPECT_EQ(again.success, first.success);
  EXPECT_FALSE(again.reconstruction);
  EXPECT_EQ(io::ReadFile(pipeline.options.output / results::kManifestFile), manifest);
  pipeline.job_options.configuration.sampling.seed = 2;
  EXPECT_THAT([&] { pipeline.Execute(); }, ThrowsMessage<UsageError>(HasSubstr("found the results of another run")));
  pipeline.options.resume = false;
  pipeline.options.force = true;
  EXPECT_FALSE(pipeline.Execute().finished_before);
}

TEST(RunPipeline, AStoppedRunGoesOnToTheSameBytes) {
  const Pipeline whole;
  whole.Execute();
  Pipeline stopped;
  io::StopRequest stop(1e-9);
  RunSetting setting;
  setting.stop = &stop;
  EXPECT_THAT(
      [&] { stopped.Execute(setting); },
      ThrowsMessage<StoppedError>(HasSubstr(": stopped with a checkpoint in " + stopped.options.output.string())));
  EXPECT_TRUE(Checkpoint::Exists(stopped.options.output));
  EXPECT_FALSE(std::filesystem::exists(stopped.options.output / results::kManifestFile));
  EXPECT_THAT([&] { stopped.Execute(); },
              ThrowsMessage<UsageError>(HasSubstr("found the checkpoint of a run that was stopped")));
  stopped.options.resume = true;
  EXPECT_FALSE(stopped.Execute().finished_before);
  EXPECT_EQ(stopped.ControlText(), whole.ControlText());
  EXPECT_FALSE(Checkpoint::Exists(stopped.options.output));
}

TEST(RunPipeline, SeveralControlsAreOfOneIdentity) {
  Pipeline pipeline;
  pipeline.options.variations.count = 1;
  const RunOutcome outcome = pipeline.Execute();
  ASSERT_TRUE(outcome.variations);
  EXPECT_EQ(outcome.success, outcome.variations->success());
  pipeline.options.resume = true;
  EXPECT_TRUE(pipeline.Execute().finished_before);
  pipeline.options.variations.count = 2;
  EXPECT_THAT([&] { pipeline.Execute(); }, ThrowsMessage<UsageError>(HasSubstr("found the results of another run")));
}

TEST(RunPipeline, RefusesOptionsThatContradictOneAnother) {
  RunOptions both;
  both.variations.count = both.forces.controls = 2;
  EXPECT_THAT([&] { CheckOptions(both); }, ThrowsMessage<UsageError>(HasSubstr("expected one or the other")));
  RunOptions few;
  few.variations = {.count = 3, .max_tries = 2};
  EXPECT_THAT(
      [&] { CheckOptions(few); },
      ThrowsMessage<UsageError>(HasSubstr("found at most 2 tries, expected at least as many as variations, 3")));
  EXPECT_NO_THROW(CheckOptions({}));

  const auto message = [](Method method, const std::function<void(RunOptions&)>& change) -> std::string {
    Pipeline pipeline;
    pipeline.job_options.configuration.run.method = method;
    change(pipeline.options);
    try {
      pipeline.Execute();
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  const auto many = [](RunOptions& options) { options.variations.count = 2; };
  const auto samples = [](RunOptions& options) { options.samples = true; };
  EXPECT_THAT(message(Method::kTracking, many),
              HasSubstr("the method tracking for several controls, expected sampling"));
  EXPECT_THAT(message(Method::kTrajectory, many),
              HasSubstr("the method trajectory for several controls, expected sampling"));
  EXPECT_THAT(message(Method::kTrajectory, [](RunOptions& options) { options.forces.controls = 1; }),
              HasSubstr("the method trajectory for the forces of a recording"));
  EXPECT_THAT(message(Method::kTracking, samples), HasSubstr("the method tracking for the costs of samples"));
}

}  // namespace
}  // namespace retrace::runs
