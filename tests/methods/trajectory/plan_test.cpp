/// Splines and the division of a motion into windows.
#include "retrace/methods/trajectory/plan.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "methods/trajectory/small_problem.h"

namespace retrace::trajectory {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

VectorXd At(const Spline& spline, double knots) {
  VectorXd value(spline.points.rows());
  spline.At(knots, value);
  return value;
}

Spline RandomSpline(Index values, Index points) {
  Spline spline;
  spline.points.resize(values, points);
  for (Index j = 0; j < points; ++j) {
    for (Index i = 0; i < values; ++i) spline.points(i, j) = *rc::gen::inRange(-1000, 1001) / 1000.0;
  }
  return spline;
}

TEST(OffsetSpline, RepeatsStraightLines) {
  Spline spline;
  spline.points.resize(2, 8);
  for (Index j = 0; j < 8; ++j) spline.points.col(j) << 1, 0.5 * static_cast<double>(j - 1);
  for (const double knots : {0.0, 0.3, 1.0, 2.7, 4.999, 5.0}) {
    EXPECT_NEAR(At(spline, knots)[0], 1, 1e-14) << knots;
    EXPECT_NEAR(At(spline, knots)[1], 0.5 * knots, 1e-14) << knots;
  }
}

RC_GTEST_PROP(OffsetSpline, HasContinuousSecondDerivatives, ()) {
  const Spline spline = RandomSpline(3, 9);
  for (int knot = 1; knot <= 5; ++knot) {
    const double e = 1e-3;
    const auto at = [&](double steps) { return At(spline, knot + steps * e); };
    RC_ASSERT((at(-1e-9) - at(1e-9)).norm() < 1e-8);
    const VectorXd before = (at(-1e-9) - 2 * at(-1) + at(-2)) / (e * e);
    const VectorXd after = (at(2) - 2 * at(1) + at(1e-9)) / (e * e);
    // A jump would be of the order of 1; the third derivative, of at most 8, acts over three steps of e.
    RC_ASSERT((before - after).norm() < 0.05);
  }
}

RC_GTEST_PROP(Windows, CoverTheMotionAndItsSpline, ()) {
  Options options = SmallOptions();
  options.window = *rc::gen::inRange(5, 60) / 100.0;
  options.together = *rc::gen::inRange(1, 4);
  options.knots = *rc::gen::inRange(2, 9);
  const double duration = *rc::gen::inRange(30, 200) / 100.0;
  const SmallProblem small(options, task::Standing, duration);
  const Plan plan(small.problem());
  int reached = 0;
  Index points = 0;
  for (size_t w = 0; w < plan.windows.size(); ++w) {
    const Window& window = plan.windows[w];
    RC_ASSERT(window.first_step == reached);
    RC_ASSERT(window.kept_step > window.first_step);
    RC_ASSERT(window.last_step >= window.kept_step);
    RC_ASSERT(window.num_points > 0);
    RC_ASSERT(window.first_point <= points);
    RC_ASSERT(window.first_point + window.num_points >= points);
    points = window.first_point + window.num_points;
    reached = window.kept_step;
    const size_t last = std::min(w + static_cast<size_t>(options.together), plan.windows.size()) - 1;
    RC_ASSERT(window.last_step == plan.windows[last].kept_step);
  }
  RC_ASSERT(reached == small.problem().num_steps());
  RC_ASSERT(points == plan.num_points);
  const auto length = static_cast<double>(std::lround(options.window / small.problem().time_step()));
  RC_ASSERT(plan.windows.back().kept_step - plan.windows.back().first_step <= 1.5 * length + 1);
}

/// The targets of what was kept must not change with what comes after it.
TEST(Windows, LeaveTargetsThatWereKept) {
  const SmallProblem small(SmallOptions(), task::Squatting, 1.0);
  const Plan plan(small.problem());
  Spline spline;
  spline.points = MatrixXd::Constant(static_cast<Index>(plan.axes.size()), plan.num_points, 0.1);
  for (const Window& window : plan.windows) {
    if (window.first_step == 0) continue;
    const auto targets = [&] { return MakeFragment(small.problem(), plan, spline, 0, window.first_step).targets; };
    const auto before = targets();
    spline.points.middleCols(window.first_point, window.num_points).array() += 0.05;
    const auto after = targets();
    for (size_t k = 0; k < before.size(); ++k) {
      for (size_t j = 0; j < before[k].size(); ++j) EXPECT_EQ(before[k][j].coeffs(), after[k][j].coeffs());
    }
    // And the very next targets do.
    const auto next = MakeFragment(small.problem(), plan, spline, window.first_step, window.kept_step).targets;
    spline.points.middleCols(window.first_point, window.num_points).array() -= 0.05;
    const auto old = MakeFragment(small.problem(), plan, spline, window.first_step, window.kept_step).targets;
    EXPECT_NE(next[1][0].coeffs(), old[1][0].coeffs());
  }
}

TEST(Windows, OffsetTheReference) {
  const SmallProblem small;
  const Plan plan(small.problem());
  Spline spline;
  spline.points = MatrixXd::Zero(static_cast<Index>(plan.axes.size()), plan.num_points);
  const control::Fragment plain = MakeFragment(small.problem(), plan, spline, 12, 36);
  EXPECT_EQ(plain.first_step, 12);
  EXPECT_EQ(plain.end_step(), 36);
  character::Pose pose;
  small.problem().task.reference->PoseAt(0.3, pose);
  for (size_t j = 0; j < pose.joint_rotations.size(); ++j) {
    EXPECT_LT(AngleBetween(plain.targets.back()[j], pose.joint_rotations[j]), 1e-7);
  }
  const Axis& axis = plan.axes[3];
  spline.points.row(3).setConstant(0.25);
  const control::Fragment turned = MakeFragment(small.problem(), plan, spline, 12, 36);
  Vec3 expected = Vec3::Zero();
  expected[axis.axis] = 0.25;
  const auto joint = static_cast<size_t>(axis.joint);
  const Quat offset = turned.targets.back()[joint] * pose.joint_rotations[joint].conjugate();
  EXPECT_LT((RotationVector(offset) - expected).norm(), 1e-12);
}

TEST(Windows, OffsetTheRestPoseWhereTheyStartFromZero) {
  Options options = SmallOptions();
  options.start = Start::kZero;
  const SmallProblem small(options);
  const Plan plan(small.problem());
  Spline spline;
  spline.points = MatrixXd::Zero(static_cast<Index>(plan.axes.size()), plan.num_points);
  for (const control::TargetPose& target : MakeFragment(small.problem(), plan, spline, 0, 60).targets) {
    for (const Quat& rotation : target) EXPECT_EQ(rotation.coeffs(), Quat::Identity().coeffs());
  }
}

}  // namespace
}  // namespace retrace::trajectory
