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

}  // namespace
}  // namespace retrace::runs
