#include "retrace/task/ending.h"

#include <gtest/gtest.h>

namespace retrace::task {
namespace {

/// The words stand in files.
TEST(Ending, HasANameForEach) {
  EXPECT_EQ(Name(Ending::kReachedEnd), "reached_end");
  EXPECT_EQ(Name(Ending::kLeftGates), "left-gates");
  EXPECT_EQ(Name(Ending::kBudget), "budget");
  EXPECT_EQ(Name(Ending::kDiverged), "diverged");
}

}  // namespace
}  // namespace retrace::task
