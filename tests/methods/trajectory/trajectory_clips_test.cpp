/// Trajectory optimization of recordings, from the file to the folder of the run.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "retrace/io/file.h"
#include "retrace/jobs/reconstruction.h"
#include "retrace/jobs/reconstruction_files.h"
#include "retrace/jobs/tracked_baseline.h"
#include "retrace/results/tables.h"
#include "retrace/runs/stored/stored_run.h"
#include "retrace/runs/stored/verification.h"

namespace retrace::runs {
namespace {

JobOptions BundledWalk() {
  JobOptions options;
  options.clip.file = std::string(RETRACE_SOURCE_DIR) + "/data/clips/walk.bvh";
  options.configuration.run.method = Method::kTrajectory;
  return options;
}

TEST(WindowsRun, WalksAsTheRecordingDoes) {
  JobOptions options = BundledWalk();
  options.clip.end = 1.2;
  options.configuration.trajectory.budget = 1000;
  const Job job(options);
  const Reconstruction result = Reconstruct(job, 2);
  EXPECT_TRUE(result.success()) << result.optimization.BriefReport();
  EXPECT_LT(result.evaluation.mean_joint_error, 0.06);
  const std::filesystem::path path = std::filesystem::path(testing::TempDir()) / "windows_run";
  std::filesystem::remove_all(path);
  WriteRun(path, job, result);
  const StoredRun run(path);
  const Verification verification = Verify(run);
  EXPECT_EQ(verification.difference, "");
  const io::Json manifest = io::ReadJson(path / "manifest.json");
  EXPECT_EQ(manifest["program"], "reconstruct");
  EXPECT_EQ(manifest["method"]["used"], "trajectory");
  EXPECT_EQ(manifest["trajectory"]["list"].size(), result.optimization.windows.size());
  const results::Table table = results::ReadTable(path / results::kWindowsFile);
  EXPECT_EQ(table.num_rows(), result.optimization.iterations.size());
  EXPECT_LE(table.Numbers("best_cost").back(), table.Numbers("start_cost").back());
}

TEST(WindowsRun, CanBeginWithTheTrackedMotion) {
  JobOptions options = BundledWalk();
  options.clip.end = 0.6;
  options.configuration.trajectory.budget = 100;
  options.configuration.run.baseline = Baseline::kReference;
  const Job plain(options);
  options.configuration.run.baseline = Baseline::kAutomatic;
  const Job tracked = WithBaseline(Job(options));
  const auto start = [](const Job& job) { return Reconstruct(job, 1).optimization.windows[0].start_cost; };
  EXPECT_LT(start(tracked), 0.8 * start(plain));
}

}  // namespace
}  // namespace retrace::runs
