#include "retrace/methods/sampling/summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace retrace::sampling {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(SamplingSummary, SaysHowTheSearchEndedAndWhatItTook) {
  Summary summary;
  summary.control.fragments.resize(1);
  summary.iterations.resize(2);
  summary.path_cost = 1.234;
  summary.rollouts = 120;
  summary.simulated_seconds = 6.06;
  EXPECT_TRUE(summary.reached_end());
  EXPECT_FALSE(summary.restarted());
  const std::string brief = summary.BriefReport();
  EXPECT_THAT(brief,
              StartsWith(task::Name(task::Ending::kReachedEnd) +
                         ": 1 fragment of control with path cost 1.23; 2 iterations, 120 rollouts, 6.1 simulated "
                         "seconds, 0 back"));
  EXPECT_EQ(brief.find('\n'), std::string::npos);
  summary.ending = task::Ending::kBudget;
  EXPECT_FALSE(summary.reached_end());
  EXPECT_THAT(summary.BriefReport(), StartsWith(task::Name(task::Ending::kBudget) + ": "));
}

TEST(SamplingSummary, NamesARestartAndTheRefinement) {
  Summary summary;
  summary.restarted_at = 1;
  EXPECT_TRUE(summary.restarted());
  EXPECT_THAT(summary.BriefReport(), HasSubstr("begun once more after 1 iteration"));
  EXPECT_THAT(summary.BriefReport(), testing::Not(HasSubstr("refinement")));
  summary.refinement.resize(3);
  summary.refinement.front().cost_before = 5;
  summary.refinement.back().cost = 3;
  EXPECT_THAT(summary.BriefReport(), testing::EndsWith(", 3 refinement passes to 60 % of the cost"));
}

}  // namespace
}  // namespace retrace::sampling
