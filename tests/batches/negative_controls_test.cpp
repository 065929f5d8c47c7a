#include "retrace/batches/negative_controls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "batches/sample_batch.h"
#include "retrace/parallel/thread_farm.h"

namespace retrace::runs {
namespace {

using testing::ElementsAre;

std::vector<results::RunRow> RowsOf(const Batch& batch) {
  const auto farm =
      parallel::MakeThreadFarm(1, MakeRunFactory([&batch] { return std::make_shared<ProcessGroup>(batch); }));
  return RunBatch(batch, *farm, false, [](const results::RunRow&, const std::vector<results::RunRow>&, size_t) {});
}

std::vector<std::string> NamesOf(const std::vector<NegativeControl>& controls) {
  std::vector<std::string> names;
  for (const NegativeControl& control : controls) names.push_back(control.control);
  return names;
}

/// A walk of 1.2 s without friction, with weak servos, upside down or without a search is none.
TEST(NegativeControls, OfASuccessfulWalkAreRefused) {
  const SampleBatch sample;
  sample.WriteList("walk.bvh\twalk\t1.2\t1\n");
  const Batch batch = PlanBatch(sample.options);
  const std::vector<results::RunRow> rows = RowsOf(batch);
  ASSERT_TRUE(rows.at(0).levels.main);
  const std::vector<NegativeControl> controls = TestNegativeControls(batch, rows);
  EXPECT_THAT(NamesOf(controls), ElementsAre("naive_tracking", "friction_0.05", "gains_0.1", "reference_upside_down"));
  for (const NegativeControl& control : controls) {
    EXPECT_TRUE(control.tested) << control.control;
    EXPECT_FALSE(control.accepted) << control.control;
    EXPECT_EQ(control.clip, "walk");
  }
}

TEST(NegativeControls, WithoutASuccessThereIsNaiveTrackingAlone) {
  const SampleBatch sample;
  sample.WriteList("walk.bvh\twalk\t0.4\t1\nstand.bvh\tstand\t0.3\t2\n");
  Batch batch = PlanBatch(sample.options);
  std::vector<results::RunRow> rows = RowsOf(batch);
  rows[0].levels = {};
  batch.runs[1].selected = false;
  const std::vector<NegativeControl> controls = TestNegativeControls(batch, rows);
  ASSERT_EQ(controls.size(), 4u);  // of the selected clip
  EXPECT_TRUE(controls[0].tested);
  for (size_t c = 1; c < 4; ++c) {
    EXPECT_FALSE(controls[c].tested);
    EXPECT_EQ(controls[c].message, "no successful control of this seed");
  }
}

TEST(NegativeControls, AreRowsOfATable) {
  NegativeControl accepted{"walk", "gains_0.1", true, true, {}, ""},
      untested{"walk", "friction_0.05", false, false, {}, "why"}, fell{"run", "naive_tracking", true, false, {}, ""};
  EXPECT_EQ(FormatNegativeControls({accepted, untested, fell}),
            "clip,control,accepted,violated,violated_at_s,message\n"
            "walk,gains_0.1,1,,,\n"
            "walk,friction_0.05,,,,why\n"
            "run,naive_tracking,0,completion,,\n");
}

}  // namespace
}  // namespace retrace::runs
