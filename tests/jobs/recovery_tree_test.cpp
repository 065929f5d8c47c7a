#include "retrace/jobs/recovery_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobs/sample_runs.h"
#include "retrace/io/error.h"
#include "retrace/io/file.h"
#include "retrace/jobs/stabilize.h"
#include "retrace/parallel/thread_farm.h"

namespace retrace::runs {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

/// A tree of three states, of which the first is connected, the second recovered and the third lost.
control::FeedbackTree TreeOfThree() {
  control::FeedbackTree tree;
  tree.states = {{0.5, Vec3(100, 0, -20), false, true, 40},
                 {0.25, Vec3(0, 0, 150), true, false, 0},
                 {0.75, Vec3(-50, 0, 0), false, false, 1000}};
  control::Branch branch;
  branch.first_node = 30;
  branch.points.resize(12);
  tree.branches = {branch};
  return tree;
}

TEST(RecoveryTree, TheTableHasARowForEachState) {
  EXPECT_EQ(FormatTreeTable(TreeOfThree(), 0.0125, 2),
            "state,time,force_x,force_z,recovered,connected,simulations,branch,parent,first,branches\n"
            "0,0.5,100,-20,0,1,40,0,-1,0.375,0\n"
            "1,0.25,0,150,1,0,0,-1,-1,0,0\n"
            "2,0.75,-50,0,0,0,1000,-1,-1,0,1\n");  // of the second batch, which the branch was there for
}

TEST(RecoveryTree, IsDescribedByItsStatesAndBranches) {
  control::FeedbackTree tree = TreeOfThree();
  EXPECT_EQ(
      Describe(tree),
      "3 states tried: 1 recovered by the tree so far, 1 connected by branches (0 of them of branches, 12 nodes)");
  tree.branches.push_back(tree.branches[0]);
  tree.branches[1].parent = 0;
  EXPECT_EQ(
      Describe(tree),
      "3 states tried: 1 recovered by the tree so far, 2 connected by branches (1 of them of branches, 24 nodes)");
}

TEST(RecoveryTree, TakesSettings) {
  TreeSettings settings;
  settings.Set("/growth/batch=3");
  settings.Set("/reindexing/window=0.5");
  EXPECT_EQ(settings.growth.batch, 3);
  EXPECT_EQ(settings.reindexing.window, 0.5);
  EXPECT_THROW(settings.Set("/growth/batches=3"), UsageError);
  EXPECT_THROW(settings.Set("/growth/batch=0"), UsageError);
}

/// A short stand with feedback.
class Growing : public testing::Test {
 protected:
  void SetUp() override {
    static const SampleFolder made;  // once in a process
    if (std::filesystem::is_empty(made.path())) {
      WriteTrackedRun(made / "run", TrackedOptions("stand", 0.3));
      stabilization::Options options;
      options.interval = 0.05;
      const StabilizationJob job(made / "run", options);
      const auto farm = parallel::MakeThreadFarm(1, stabilization::MakeWorkerFactory(job.problem));
      WriteFeedback(job, Stabilize(job, *farm), false);
    }
    std::filesystem::copy(made.path(), samples_.path(), std::filesystem::copy_options::recursive);
    settings_.growth.batch = 1;
    settings_.growth.rest = 0.05;
    settings_.growth.push_duration = 0.05;
    settings_.growth.samples = 4;
    settings_.growth.iterations = 2;
    settings_.growth.duration = 0.1;
    settings_.growth.horizon = 0.15;
  }
  void Grow(TreeJob& job, int states, int threads = 1) const {
    const auto farm = parallel::MakeThreadFarm(threads, stabilization::MakeTreeWorkerFactory(job.problem));
    GrowTree(job, *farm, 100, states, {});
  }
  std::string TreeBytes() const { return io::ReadFile(samples_ / "run" / results::kTreeFile); }

  SampleFolder samples_;
  TreeSettings settings_;
};

TEST_F(Growing, IsTheSameTreeWhereverItWasInterrupted) {
  TreeJob whole(samples_ / "run", settings_, "trunk");
  Grow(whole, 2);
  EXPECT_EQ(whole.tree.states.size(), 2u);
  const std::string bytes = TreeBytes();
  EXPECT_EQ(io::ReadFile(samples_ / "run" / results::kTreeTableFile), FormatTreeTable(whole.tree, 0.05, 1));
  TreeJob refused(samples_ / "run", settings_, "trunk");
  EXPECT_THAT([&] { refused.TakeEarlier(false, false); },
              ThrowsMessage<UsageError>(HasSubstr("found a tree that is there already, expected none")));
  TreeJob part(samples_ / "run", settings_, "trunk");
  part.TakeEarlier(false, true);
  EXPECT_TRUE(part.tree.states.empty());
  Grow(part, 1, 2);
  EXPECT_NE(TreeBytes(), bytes);
  TreeJob resumed(samples_ / "run", settings_, "trunk");
  resumed.TakeEarlier(true, false);
  EXPECT_EQ(resumed.tree.states.size(), 1u);
  Grow(resumed, 2);
  EXPECT_EQ(TreeBytes(), bytes);
  settings_.growth.seed = 2;
  TreeJob other(samples_ / "run", settings_, "trunk");
  EXPECT_NE(other.Identity(), whole.Identity());
  EXPECT_THAT([&] { other.TakeEarlier(true, false); },
              ThrowsMessage<UsageError>(HasSubstr("found a tree that grew with other settings")));
}

TEST_F(Growing, RefusesRunsWithoutFeedbackBodiesThatAreNotThereAndSettings) {
  EXPECT_THAT([&] { TreeJob job(samples_ / "run", settings_, "tail"); },
              ThrowsMessage<UsageError>(HasSubstr("body: found \"tail\", expected a body of the character")));
  settings_.growth.smallest_force = 500;  // above the largest
  EXPECT_THROW(TreeJob job(samples_ / "run", settings_, "trunk"), UsageError);
  std::filesystem::remove(samples_ / "run" / results::kFeedbackFile);
  EXPECT_THROW(TreeJob job(samples_ / "run", {}, "trunk"), InputError);
}

}  // namespace
}  // namespace retrace::runs
