/// A search and the replay of what it found.
#include "retrace/jobs/reconstruction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "retrace/control/control_file.h"
#include "retrace/io/error.h"

namespace retrace::runs {
namespace {

JobOptions ShortWalk() {
  JobOptions options;
  options.clip.file = std::string(RETRACE_SOURCE_DIR) + "/data/clips/walk.bvh";
  options.clip.end = 0.12;
  options.configuration.run.method = Method::kSampling;
  options.configuration.sampling.samples = 4;
  options.configuration.sampling.selection.saved = 2;
  options.configuration.sampling.budget = 200;
  options.configuration.sampling.refinement.passes = 0;
  options.configuration.run.baseline = Baseline::kReference;
  return options;
}

class StoredSearch final : public sampling::IterationStore {
 public:
  explicit StoredSearch(std::vector<parallel::Bytes> earlier = {}) : records(std::move(earlier)) {}
  bool Next(parallel::Bytes& simulated) override {
    if (taken_ == records.size()) return false;
    simulated = records[taken_++];
    return true;
  }
  void Append(const parallel::Bytes& simulated) override {
    records.push_back(simulated);
    taken_ = records.size();
  }
  std::vector<parallel::Bytes> records;

 private:
  size_t taken_ = 0;
};

/// Found by scripts/check/attack, which changes records of a checkpoint under checksums that fit: this was reported as
/// a bug of the program.
TEST(Reconstruction, RefusesStoredStatesThatTheReplayDoesNotReach) {
  const Job job(ShortWalk());
  sampling::Hooks hooks;
  StoredSearch whole;
  hooks.store = &whole;
  const std::string control = control::FormatControl(job.character(), Reconstruct(job, 1, hooks).search.control);
  ASSERT_FALSE(whole.records.empty());
  int refused = 0;
  const size_t size = whole.records.back().size();
  for (size_t at = size / 2; at < size; at += size / 40) {
    StoredSearch changed(whole.records);
    changed.records.back()[at] ^= std::byte{1};
    hooks.store = &changed;
    try {
      const Reconstruction result = Reconstruct(job, 1, hooks);
      EXPECT_EQ(control::FormatControl(job.character(), result.search.control), control) << "byte " << at;
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr("checkpoint: found")) << "byte " << at;
      ++refused;
    }
  }
  EXPECT_GT(refused, 0);
}

TEST(Reconstruction, OptimizesTrajectoriesWhereSearchesAreLost) {
  JobOptions options;
  options.clip.file = std::string(RETRACE_SOURCE_DIR) + "/data/clips/roll_sideways.bvh";
  options.clip.end = 1;
  options.configuration.run.tail = 0;
  options.configuration.trajectory.budget = 1000;
  sampling::Options& search = options.configuration.sampling;
  search.samples = 2;  // which find nothing
  search.selection.saved = 1;
  search.growth = 1;
  search.max_back_offs = search.refinement.passes = 0;
  search.restart.samples = 0;
  const Reconstruction one = Reconstruct(Job(options), 1);
  EXPECT_EQ(one.method, Method::kTrajectory);
  EXPECT_TRUE(one.success());
  EXPECT_THAT(one.Choice(), testing::HasSubstr("searches of parts and of the whole did not lead as near"));
  ASSERT_TRUE(one.tracking.has_value()) << "the manifest says why";
  EXPECT_GT(one.cpu_seconds(), one.optimization.cpu_seconds + one.tracking->cpu_seconds());
  // The same bytes for any number of threads.
  const Job job(options);
  EXPECT_EQ(control::FormatControl(job.character(), Reconstruct(job, 3).control()),
            control::FormatControl(job.character(), one.control()));
  // What finds nothing either leaves the search, which tells how far it came.
  options.configuration.trajectory.budget = 5;
  const Reconstruction lost = Reconstruct(Job(options), 1);
  EXPECT_EQ(lost.method, Method::kSampling);
  EXPECT_FALSE(lost.success());
}

TEST(Reconstruction, IsSearchedWhereTheTrackedMotionDrifts) {
  JobOptions options;
  options.clip.file = std::string(RETRACE_SOURCE_DIR) + "/data/clips/walk.bvh";
  options.clip.end = 1;
  options.configuration.run.tail = 0;
  options.configuration.sampling.refinement.passes = 1;
  const Reconstruction near = Reconstruct(Job(options), 2);
  EXPECT_EQ(near.method, Method::kTracking);
  EXPECT_EQ(near.Choice(), "found by tracking: the tracked motion stayed within tolerance");
  // The same motion counts as drifted where less is allowed. What is found otherwise and drifts as well must be nearer.
  options.configuration.task.gates.world_position = 0.5 * near.evaluation.world.worst;
  const Reconstruction drifted = Reconstruct(Job(options), 2);
  ASSERT_TRUE(drifted.tracking.has_value());
  EXPECT_TRUE(drifted.success());
  if (drifted.method == Method::kTracking) {
    EXPECT_FALSE(drifted.evaluation.near_in_world());
  } else {
    EXPECT_TRUE(drifted.evaluation.near_in_world() ||
                drifted.evaluation.mean_world_error < near.evaluation.mean_world_error);
  }
  EXPECT_THAT(drifted.Choice(), testing::HasSubstr("the tracked motion drifted from the reference by more than 0.0"));
  EXPECT_GT(drifted.cpu_seconds(), 3 * near.cpu_seconds()) << "the search counts, whatever the result";
  // A search that is lost leaves the tracked motion.
  options.configuration.sampling.samples = 1;
  options.configuration.sampling.selection.saved = 1;
  options.configuration.sampling.growth = 1;
  options.configuration.sampling.max_back_offs = 0;
  options.configuration.sampling.restart.samples = 0;
  const Reconstruction kept = Reconstruct(Job(options), 2);
  EXPECT_NE(kept.method, Method::kSampling);
  EXPECT_TRUE(kept.success());
}

}  // namespace
}  // namespace retrace::runs
