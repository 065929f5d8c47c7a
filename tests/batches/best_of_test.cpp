#include "retrace/batches/best_of.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace retrace::runs {
namespace {

using results::FigureIndex;
using results::RunRow;

RunRow Row(bool success, const std::string& end, double error, double forces, double jerk) {
  RunRow row;
  row.status = results::RunStatus::kCompleted;
  row.levels.main = success;
  row.end = end;
  row.figures[FigureIndex("joint_error_mm")] = error;
  row.figures[FigureIndex("force_error_percent")] = forces;
  row.figures[FigureIndex("jerk_ratio_30")] = jerk;
  return row;
}

TEST(BestOf, IsWithinTheGatesThenLeadsOnThenIsNear) {
  const RunRow lost = Row(false, "", 1, 1, 1), ends = Row(true, "not viable", 10, 10, 1);
  const RunRow far = Row(true, "viable", 40, 20, 2), near = Row(true, "viable", 30, 20, 2);
  EXPECT_EQ(ChooseBest({lost, ends, far, near}), 3u);
  EXPECT_EQ(ChooseBest({lost, ends}), 1u);
  EXPECT_EQ(ChooseBest({lost}), 0u);
  EXPECT_EQ(ChooseBest({near, near}), 0u) << "the first of equals";
  EXPECT_EQ(ChooseBest({RunRow()}), std::nullopt) << "it was not run";
  EXPECT_EQ(ChooseBest({}), std::nullopt);
}

RC_GTEST_PROP(BestOfProperty, WeighsSharesOfTheThreeFiguresAlike, ()) {
  const auto figure = [] { return *rc::gen::inRange(1, 1000) / 10.0; };
  const double a = figure(), b = figure(), c = figure();
  const double factor = *rc::gen::inRange(2, 10);
  const RunRow rows[] = {Row(true, "", factor * a, b, c), Row(true, "", a, factor * b, c),
                         Row(true, "", a, b, factor * c)};
  const RunRow better = Row(true, "", a, b, c), worse = Row(true, "", factor * a, factor * b, c);
  for (const RunRow& row : rows) {
    RC_ASSERT(ChooseBest({row, better}) == size_t{1});
    RC_ASSERT(ChooseBest({worse, row}) == size_t{1});
  }
}

}  // namespace
}  // namespace retrace::runs
