#include "retrace/jobs/reconstruction_manifest.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "jobs/sample_runs.h"

namespace retrace::runs {
namespace {

JobOptions FewSamplesOf(const std::string& clip) {
  JobOptions options = TrackedOptions(clip, 0.2);
  options.configuration.run.method = Method::kSampling;
  options.configuration.sampling.samples = 4;
  options.configuration.sampling.selection.saved = 2;
  options.configuration.sampling.budget = 200;
  options.configuration.sampling.refinement.passes = 0;
  return options;
}

TEST(ReconstructionManifest, HasTheFiguresOfTheSearch) {
  const Job job(FewSamplesOf("walk"));
  const Reconstruction result = Reconstruct(job, 1);
  const io::Json manifest = ReconstructionManifest(job, result, {.command = "reconstruct walk"}, {{"more", 3}});
  EXPECT_EQ(manifest["format"], results::kRunFormat);
  EXPECT_EQ(manifest["program"], "reconstruct");
  EXPECT_EQ(manifest["status"], "completed");
  EXPECT_EQ(manifest["success"], result.success());
  EXPECT_EQ(manifest["command"], "reconstruct walk");
  EXPECT_EQ(manifest["more"], 3);
  const io::Json& cost = manifest["cost"];
  EXPECT_EQ(cost["rollouts"], result.search.rollouts);
  EXPECT_EQ(cost["iterations"], result.search.iterations.size());
  int64_t drawn = 0;
  for (const io::Json& samples : manifest["search"]["samples"]) drawn += samples.get<int64_t>();
  EXPECT_EQ(cost["samples"], drawn);
  EXPECT_NEAR(cost["simulated_seconds_per_second"].get<double>() * job.reference().duration(),
              result.search.simulated_seconds, 1e-9);
  EXPECT_EQ(manifest["search"]["path_cost"], result.search.path_cost);
  EXPECT_EQ(manifest["search"].contains("failure"), !result.success());
  EXPECT_EQ(manifest["inputs"].size(), job.inputs.size());
}

TEST(ReconstructionManifest, OfAFailureItSaysWhereItIs) {
  JobOptions options = FewSamplesOf("walk");
  options.configuration.task.gates.joint_position = 0.001;
  const Job job(options);
  const Reconstruction result = Reconstruct(job, 1);
  ASSERT_FALSE(result.success());
  const io::Json manifest = ReconstructionManifest(job, result, {}, io::Json::object());
  EXPECT_EQ(manifest["success"], false);
  EXPECT_TRUE(manifest["search"]["failure"].is_object());
}

TEST(ReconstructionManifest, TrajectoryOptimizationHasFiguresOfItsOwn) {
  JobOptions options = FewSamplesOf("stand");
  options.configuration.run.method = Method::kTrajectory;
  options.configuration.trajectory.population = 4;
  options.configuration.trajectory.budget = 40;
  const Job job(options);
  const Reconstruction result = Reconstruct(job, 1);
  const io::Json manifest = ReconstructionManifest(job, result, {}, io::Json::object());
  EXPECT_FALSE(manifest.contains("search"));
  const io::Json& list = manifest["trajectory"]["list"];
  ASSERT_EQ(list.size(), result.optimization.windows.size());
  ASSERT_FALSE(list.empty());
  EXPECT_EQ(list[0]["best_cost"], result.optimization.windows[0].best_cost);
  EXPECT_EQ(list[0]["weighted_terms"].size(), trajectory::TermNames(job.configuration.trajectory.cost).size());
  EXPECT_EQ(manifest["cost"]["rollouts"], result.optimization.rollouts);
}

}  // namespace
}  // namespace retrace::runs
