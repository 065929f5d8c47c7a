/// Samples of windows.
#include "retrace/methods/trajectory/rollout.h"

#include <gtest/gtest.h>

#include <limits>

#include "methods/trajectory/small_problem.h"
#include "retrace/math/random.h"

namespace retrace::trajectory {
namespace {

TEST(SamplesOfWindows, AreTheSameSideBySideAndAlone) {
  Options options = SmallOptions();
  options.torque_limit = 20;
  const SmallProblem small(options);
  const Plan plan(small.problem());
  constexpr size_t kDiverges = 5;
  std::vector<Spline> splines(21);
  for (size_t s = 0; s < splines.size(); ++s) {
    RandomStream random(1, RandomStage::kWindows, 0, static_cast<uint32_t>(s));
    Eigen::MatrixXd& points = splines[s].points;
    points.resize(static_cast<Eigen::Index>(plan.axes.size()), plan.num_points);
    for (Eigen::Index i = 0; i < points.size(); ++i) points.data()[i] = random.Uniform(-0.3, 0.3);
  }
  splines[kDiverges].points.setConstant(std::numeric_limits<double>::quiet_NaN());
  RolloutWorker together(small.problem(), plan), alone(small.problem(), plan);
  std::vector<SampleResult> results;
  for (const Window& window : plan.windows) {
    character::State start;
    small.problem().task.reference->StateAt(window.first_step * small.problem().time_step(), start);
    together.Run(window, start, splines, results);
    ASSERT_EQ(results.size(), splines.size());
    for (size_t s = 0; s < splines.size(); ++s) {
      SimulatedWindow simulated;
      alone.Run(window, start, splines[s], false, simulated);
      EXPECT_EQ(results[s].diverged, simulated.result.diverged);
      EXPECT_EQ(results[s].diverged, s == kDiverges);
      if (results[s].diverged) continue;
      EXPECT_EQ(results[s].terms, simulated.result.terms) << "sample " << s;
      EXPECT_EQ(results[s].gate_ratio, simulated.result.gate_ratio);
      EXPECT_GT(results[s].terms[kTorqueTerm], 0);
    }
  }
}

}  // namespace
}  // namespace retrace::trajectory
