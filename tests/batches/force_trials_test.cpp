/// Which files of a folder are trials, and the table of what came of them.
#include "retrace/batches/force_trials.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "retrace/io/error.h"
#include "retrace/io/file.h"
#include "sample_folder.h"

namespace retrace::runs {
namespace {

using testing::HasSubstr;

TEST(ForceTrials, MotionsHaveTheForcesOfTheirName) {
  const SampleFolder scratch;
  for (const char* name : {"Walk1_ik.mot", "walk1_GRF.mot", "run.trc", "run_forces.csv", "jump.bvh", "jump.trc",
                           "model.osim", "notes.txt", "lonely_grf.mot"}) {
    io::WriteFile(scratch.path() / name, "");
  }
  const std::vector<ForceTrial> trials = FindForceTrials(scratch.path());
  ASSERT_EQ(trials.size(), 4u);
  EXPECT_EQ(trials[0].name, "Walk1_ik");
  EXPECT_EQ(trials[0].forces.filename(), "walk1_GRF.mot");
  EXPECT_EQ(trials[1].name, "jump.bvh") << "another file has the stem";
  EXPECT_TRUE(trials[1].forces.empty());
  EXPECT_EQ(trials[2].name, "jump.trc");
  EXPECT_EQ(trials[3].name, "run");
  EXPECT_EQ(trials[3].forces.filename(), "run_forces.csv");
}

TEST(ForceTrials, AFolderWithoutAMotionIsRefused) {
  const SampleFolder scratch;
  io::WriteFile(scratch.path() / "walk_grf.mot", "");
  EXPECT_THROW(FindForceTrials(scratch.path()), InputError);
}

TEST(ForceTrials, ARefusedTrialHasItsMessageInTheTable) {
  const std::string table =
      FormatTrials({{"a", "a.trc:1:1: found nothing, expected something", 0, 0, {}}, {"b", "", 1.5, 70, {}}});
  EXPECT_THAT(table, HasSubstr("\na,refused,"));
  EXPECT_THAT(table, HasSubstr("found nothing"));
  EXPECT_THAT(table, HasSubstr("\nb,estimated,1.5,70,"));
}

}  // namespace
}  // namespace retrace::runs
