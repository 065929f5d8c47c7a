/// Quadratic programs against closed forms, brute force over all active sets, and the conditions of Karush, Kuhn and
/// Tucker.
#include "retrace/optimization/quadratic_program.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <Eigen/Dense>
#include <cstring>
#include <optional>

#include "optimization/random_programs.h"

namespace retrace::optimization {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using Start = QuadraticProgramSolver::Start;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

RandomStream AnyStream() {
  return {*rc::gen::arbitrary<uint64_t>().as("seed"), RandomStage::kTest, 0, 0};
}

/// The point of a set of constraints that is nearest to another one.
QuadraticProgram Nearest(const VectorXd& point, int equalities, int inequalities) {
  QuadraticProgram program;
  program.Resize(static_cast<int>(point.size()), equalities, inequalities);
  program.hessian.setIdentity();
  program.gradient = -point;
  return program;
}

// ---- closed forms

TEST(QuadraticProgram, WithoutConstraintsIsALinearSystem) {
  QuadraticProgram program;
  program.Resize(2, 0, 0);
  program.hessian << 4, 99, 1, 3;  // the upper triangle is not read
  program.gradient << -1, -2;
  QuadraticProgramSolver solver;
  const Summary& summary = solver.Solve(program);
  ASSERT_EQ(summary.status, Status::kOptimal);
  EXPECT_NEAR(summary.x[0], 1.0 / 11, 1e-15);
  EXPECT_NEAR(summary.x[1], 7.0 / 11, 1e-15);
  EXPECT_NEAR(summary.objective, -0.5 * (1.0 / 11 + 14.0 / 11), 1e-15);
  EXPECT_EQ(summary.iterations, 0);
}

TEST(QuadraticProgram, ProjectsOntoAPlane) {
  QuadraticProgram program = Nearest(Eigen::Vector3d(1, 2, 4), 1, 0);
  program.equality_matrix << 1, 1, 1;
  program.equality_values << 1;
  QuadraticProgramSolver solver;
  const Summary& summary = solver.Solve(program);
  ASSERT_EQ(summary.status, Status::kOptimal);
  EXPECT_LT((summary.x - Eigen::Vector3d(-1, 0, 2)).norm(), 1e-15);
  EXPECT_NEAR(summary.equality_multipliers[0], -2, 1e-15);
}

TEST(QuadraticProgram, ProjectsOntoABox) {
  VectorXd point(4);
  point << 3, -5, 0.25, 1;
  QuadraticProgram program = Nearest(point, 0, 8);
  program.inequality_matrix.topRows(4).setIdentity();
  program.inequality_matrix.bottomRows(4) = -MatrixXd::Identity(4, 4);
  program.inequality_bounds.setConstant(-1);
  QuadraticProgramSolver solver;
  const Summary& summary = solver.Solve(program);
  ASSERT_EQ(summary.status, Status::kOptimal);
  EXPECT_LT((summary.x - point.cwiseMax(-1).cwiseMin(1)).norm(), 1e-15);
  EXPECT_NEAR(summary.inequality_multipliers[4], 2, 1e-15);
  EXPECT_NEAR(summary.inequality_multipliers[1], 4, 1e-15);
  EXPECT_EQ(summary.inequality_multipliers[2], 0);
}

TEST(QuadraticProgram, DropsAConstraintThatItTookInBefore) {
  // x >= 1 is farther away than x + y >= 1.3, but holds by itself where y is a hundred times as dear.
  QuadraticProgram program = Nearest(Eigen::Vector2d(0, 0), 0, 2);
  program.hessian(1, 1) = 100;
  program.inequality_matrix << 1, 0, 1, 1;
  program.inequality_bounds << 1, 1.3;
  QuadraticProgramSolver solver;
  const Summary& summary = solver.Solve(program);
  ASSERT_EQ(summary.status, Status::kOptimal);
  EXPECT_LT((summary.x - Eigen::Vector2d(1.3, 0.013) / 1.01).norm(), 1e-15);
  EXPECT_EQ(summary.active, std::vector<int>{1});
  EXPECT_EQ(summary.iterations, 3);
}

TEST(QuadraticProgram, ARowWithoutABoundDoesNotCount) {
  QuadraticProgram program = Nearest(Eigen::Vector2d(-3, 1), 0, 2);
  program.inequality_matrix.setIdentity();
  program.inequality_bounds << -kInfinity, 2;
  QuadraticProgramSolver solver;
  const Summary& summary = solver.Solve(program);
  ASSERT_EQ(summary.status, Status::kOptimal);
  EXPECT_EQ(summary.x, Eigen::Vector2d(-3, 2));
  EXPECT_EQ(summary.inequality_multipliers, Eigen::Vector2d(0, 1));
}

// ---- what has no solution is a status

TEST(QuadraticProgram, InfeasibleIsAStatus) {
  QuadraticProgramSolver solver;
  QuadraticProgram apart = Nearest(VectorXd::Zero(1), 0, 2);
  apart.inequality_matrix << 1, -1;
  apart.inequality_bounds << 1, -0.5;  // x >= 1, x <= 0.5
  EXPECT_EQ(solver.Solve(apart).status, Status::kInfeasible);
  QuadraticProgram equalities = Nearest(Eigen::Vector2d(0, 0), 2, 0);
  equalities.equality_matrix << 1, 2, 2, 4;
  equalities.equality_values << 1, 3;
  EXPECT_EQ(solver.Solve(equalities).status, Status::kInfeasible);
  QuadraticProgram empty_row = Nearest(VectorXd::Zero(1), 0, 1);
  empty_row.inequality_bounds << 1;  // 0 >= 1
  EXPECT_EQ(solver.Solve(empty_row).status, Status::kInfeasible);
  empty_row.inequality_bounds << -1;
  EXPECT_EQ(solver.Solve(empty_row).status, Status::kOptimal);
}

TEST(QuadraticProgram, AnIndefiniteHessianIsAStatus) {
  QuadraticProgramSolver solver;
  QuadraticProgram program = Nearest(Eigen::Vector2d(1, 1), 0, 0);
  program.hessian << 1, 0, 2, 1;
  EXPECT_EQ(solver.Solve(program).status, Status::kNotPositiveDefinite);
  program.hessian << 1, 0, 1, 1;  // of rank 1
  EXPECT_EQ(solver.Solve(program).status, Status::kNotPositiveDefinite);
  program.hessian.setZero();
  EXPECT_EQ(solver.Solve(program).status, Status::kNotPositiveDefinite);
}

TEST(QuadraticProgram, WhatIsNoNumberIsAStatus) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  QuadraticProgramSolver solver;
  for (const double bad : {nan, kInfinity}) {
    for (int place = 0; place < 6; ++place) {
      QuadraticProgram program = Nearest(Eigen::Vector2d(1, 1), 1, 1);
      program.equality_matrix << 1, 0;
      program.inequality_matrix << 0, 1;
      ASSERT_EQ(solver.Solve(program).status, Status::kOptimal);
      double* const numbers[] = {&program.hessian(1, 0),           &program.gradient[1],
                                 &program.equality_matrix(0, 1),   &program.equality_values[0],
                                 &program.inequality_matrix(0, 0), &program.inequality_bounds[0]};
      *numbers[place] = bad;
      EXPECT_EQ(solver.Solve(program, Start::kWarm).status, Status::kNotFinite) << place;
    }
  }
  QuadraticProgram overflow = Nearest(Eigen::Vector2d(1e300, 1), 0, 0);
  overflow.hessian *= 1e-20;
  EXPECT_EQ(solver.Solve(overflow).status, Status::kNotFinite);
}

TEST(QuadraticProgram, TheIterationLimitIsAStatus) {
  QuadraticProgram program = Nearest(VectorXd::Constant(5, 2), 0, 5);
  program.inequality_matrix = -MatrixXd::Identity(5, 5);
  QuadraticProgramSolver solver;
  EXPECT_EQ(solver.Solve(program, Start::kCold, 4).status, Status::kIterationLimit);
  EXPECT_EQ(solver.Solve(program, Start::kCold, 5).status, Status::kOptimal);
  EXPECT_EQ(solver.Solve(program).iterations, 5);
}

TEST(QuadraticProgram, SizesThatDoNotFitAreTheCallersMistake) {
  QuadraticProgramSolver solver;
  QuadraticProgram program = Nearest(Eigen::Vector2d(1, 1), 1, 1);
  program.equality_values.resize(2);
  EXPECT_THROW(solver.Solve(program), std::invalid_argument);
  program = Nearest(Eigen::Vector2d(1, 1), 1, 1);
  program.inequality_matrix.resize(1, 3);
  EXPECT_THROW(solver.Solve(program), std::invalid_argument);
  EXPECT_THROW(solver.Solve({}), std::invalid_argument);
}

TEST(QuadraticProgram, StatusesHaveNames) {
  EXPECT_STREQ(NameOf(Status::kOptimal), "optimal");
  EXPECT_STREQ(NameOf(Status::kInfeasible), "infeasible");
  EXPECT_STREQ(NameOf(Status::kNotPositiveDefinite), "not positive definite");
  EXPECT_STREQ(NameOf(Status::kIterationLimit), "iteration limit");
  EXPECT_STREQ(NameOf(Status::kNotFinite), "not finite");
}

// ---- degenerate constraints

TEST(QuadraticProgram, EqualitiesThatFollowFromOthersAreNoContradiction) {
  QuadraticProgram program = Nearest(Eigen::Vector3d(1, 2, 4), 3, 0);
  program.equality_matrix << 1, 1, 1, 1, -1, 0, 3, 1, 2;  // the third is twice the first and the second
  program.equality_values << 1, 0, 2;
  QuadraticProgramSolver solver;
  const Summary& summary = solver.Solve(program);
  ASSERT_EQ(summary.status, Status::kOptimal);
  EXPECT_LT(KktResidual(program, summary), 1e-14);
  EXPECT_EQ(summary.equality_multipliers[2], 0);
}

TEST(QuadraticProgram, InequalitiesThatRepeatOneAnotherAreTakenInOnce) {
  QuadraticProgram program = Nearest(Eigen::Vector2d(5, 5), 0, 6);
  program.inequality_matrix << -1, 0, -1, 0, -3, 0, 0, -1, 0, -1, -1, -1;
  program.inequality_bounds << -1, -1, -3, -1, -1, -2;  // three times x <= 1, twice y <= 1, and what follows
  QuadraticProgramSolver solver;
  const Summary& summary = solver.Solve(program);
  ASSERT_EQ(summary.status, Status::kOptimal);
  EXPECT_LT((summary.x - Eigen::Vector2d(1, 1)).norm(), 1e-14);
  EXPECT_LT(KktResidual(program, summary), 1e-14);
  EXPECT_LE(summary.active.size(), 2u);
}

TEST(QuadraticProgram, TwoInequalitiesThatMakeAnEqualityHaveASolution) {
  QuadraticProgram program = Nearest(Eigen::Vector2d(5, 3), 0, 2);
  program.inequality_matrix << 1, 1, -1, -1;
  program.inequality_bounds << 1, -1;
  QuadraticProgramSolver solver;
  const Summary& summary = solver.Solve(program);
  ASSERT_EQ(summary.status, Status::kOptimal);
  EXPECT_LT((summary.x - Eigen::Vector2d(1.5, -0.5)).norm(), 1e-14);
}

// ---- properties

/// The best of the minima over all sets of inequalities taken as equalities, of those that meet all constraints.
std::optional<VectorXd> BestOfAllActiveSets(const QuadraticProgram& program) {
  const Eigen::Index n = program.gradient.size(), equalities = program.equality_values.size();
  const int inequalities = static_cast<int>(program.inequality_bounds.size());
  std::optional<VectorXd> best;
  double least = kInfinity;
  for (unsigned set = 0; set < 1u << inequalities; ++set) {
    MatrixXd kkt = MatrixXd::Zero(n + equalities + inequalities, n + equalities + inequalities);
    VectorXd right = VectorXd::Zero(kkt.rows());
    kkt.topLeftCorner(n, n) = program.hessian;
    right.head(n) = -program.gradient;
    for (Eigen::Index i = 0; i < equalities; ++i) {
      kkt.row(n + i).head(n) = program.equality_matrix.row(i);
      right[n + i] = program.equality_values[i];
    }
    for (int i = 0; i < inequalities; ++i) {
      const Eigen::Index row = n + equalities + i;
      if ((set >> i & 1) != 0) {
        kkt.row(row).head(n) = program.inequality_matrix.row(i);
        right[row] = program.inequality_bounds[i];
      } else {
        kkt(row, row) = 1;
      }
    }
    for (Eigen::Index row = n; row < kkt.rows(); ++row) kkt.col(row).head(n) = -kkt.row(row).head(n).transpose();
    const Eigen::FullPivLU<MatrixXd> solver(kkt);
    if (!solver.isInvertible()) continue;
    const VectorXd x = solver.solve(right).head(n);
    if ((program.inequality_matrix * x - program.inequality_bounds).minCoeff() < -1e-9) continue;
    const double objective = 0.5 * x.dot(program.hessian * x) + program.gradient.dot(x);
    if (objective < least) {
      least = objective;
      best = x;
    }
  }
  return best;
}

RC_GTEST_PROP(QuadraticProgramProperty, IsTheBestOfAllActiveSets, ()) {
  RandomStream random = AnyStream();
  QuadraticProgram program = AnyProgram(random, 4);
  if (program.inequality_bounds.size() == 0) Contradict(random, program);
  const Eigen::Index rows = std::min<Eigen::Index>(6, program.inequality_bounds.size());
  program.inequality_matrix.conservativeResize(rows, program.gradient.size());
  program.inequality_bounds.conservativeResize(rows);
  QuadraticProgramSolver solver;
  const Summary& summary = solver.Solve(program);
  const std::optional<VectorXd> best = BestOfAllActiveSets(program);
  RC_ASSERT(best.has_value() == (summary.status == Status::kOptimal));
  if (best) RC_ASSERT((summary.x - *best).norm() < 1e-7 * (1 + best->norm()));
}

constexpr int kPrograms = 50;  // each time that rapidcheck draws a seed

RC_GTEST_PROP(QuadraticProgramProperty, MeetsTheConditionsOfKarushKuhnAndTucker, ()) {
  RandomStream random = AnyStream();
  QuadraticProgramSolver solver;
  for (int k = 0; k < kPrograms; ++k) {
    const QuadraticProgram program = AnyProgram(random, 20);
    const Summary& summary = solver.Solve(program);
    RC_ASSERT(summary.status == Status::kOptimal);
    RC_ASSERT(KktResidual(program, summary) < 1e-8);
    RC_ASSERT(summary.residual < 1e-8);
  }
}

RC_GTEST_PROP(QuadraticProgramProperty, DegenerateConstraintsAreNoHarder, ()) {
  RandomStream random = AnyStream();
  QuadraticProgramSolver solver;
  for (int k = 0; k < kPrograms; ++k) {
    const Degeneracies degeneracies{k % 2 == 0, k % 3 == 0, k % 5 == 0};
    const QuadraticProgram program = AnyProgram(random, 15, degeneracies);
    const Summary& summary = solver.Solve(program);
    RC_ASSERT(summary.status == Status::kOptimal);
    RC_ASSERT(KktResidual(program, summary) < 1e-8);
  }
}

RC_GTEST_PROP(QuadraticProgramProperty, InfeasibleProgramsAreFound, ()) {
  RandomStream random = AnyStream();
  QuadraticProgramSolver solver;
  for (int k = 0; k < kPrograms; ++k) {
    QuadraticProgram program = AnyProgram(random, 15, {k % 2 == 0, k % 3 == 0, false});
    Contradict(random, program);
    RC_ASSERT(solver.Solve(program).status == Status::kInfeasible);
  }
}

RC_GTEST_PROP(QuadraticProgramProperty, AWarmStartGivesTheSameSolutionInFewerIterations, ()) {
  RandomStream random = AnyStream();
  QuadraticProgramSolver warm, cold;
  int warm_iterations = 0, cold_iterations = 0;
  for (int k = 0; k < 10; ++k) {
    QuadraticProgram program = AnyProgram(random, 20);
    warm.Solve(program);
    const VectorXd first = warm.Solve(program).x;
    const Summary& again = warm.Solve(program, Start::kWarm);
    RC_ASSERT(again.warm_start);
    RC_ASSERT(again.iterations == 0);
    RC_ASSERT((again.x - first).norm() < 1e-10 * (1 + first.norm()));
    // As from one instant of a controlled motion to the next.
    const auto n = program.gradient.size();
    for (int step = 0; step < 10; ++step) {
      program.gradient += 0.02 * AnyMatrix(random, n, 1);
      const Summary& a = warm.Solve(program, Start::kWarm);
      const Summary& b = cold.Solve(program);
      RC_ASSERT(a.status == Status::kOptimal);
      RC_ASSERT(KktResidual(program, a) < 1e-8);
      RC_ASSERT((a.x - b.x).norm() < 1e-9 * (1 + b.x.norm()));
      warm_iterations += a.iterations;
      cold_iterations += b.iterations;
    }
  }
  RC_ASSERT(2 * warm_iterations < cold_iterations);
}

TEST(QuadraticProgram, AWarmStartAfterAnotherSizeOrAFailureIsAColdOne) {
  RandomStream random(1, RandomStage::kTest, 0, 0);
  QuadraticProgramSolver solver;
  EXPECT_FALSE(solver.Solve(Nearest(Eigen::Vector2d(1, 1), 0, 2), Start::kWarm).warm_start);
  EXPECT_TRUE(solver.Solve(Nearest(Eigen::Vector2d(1, 1), 0, 2), Start::kWarm).warm_start);
  EXPECT_FALSE(solver.Solve(Nearest(Eigen::Vector3d(1, 1, 1), 0, 2), Start::kWarm).warm_start);
  QuadraticProgram indefinite = Nearest(Eigen::Vector3d(1, 1, 1), 0, 2);
  indefinite.hessian(0, 0) = -1;
  EXPECT_TRUE(solver.Solve(indefinite, Start::kWarm).warm_start);
  EXPECT_FALSE(solver.Solve(Nearest(Eigen::Vector3d(1, 1, 1), 0, 2), Start::kWarm).warm_start);
}

RC_GTEST_PROP(QuadraticProgramProperty, ResultsAreAFunctionOfTheProblemToTheBit, ()) {
  RandomStream random = AnyStream();
  QuadraticProgramSolver used;
  for (int k = 0; k < 5; ++k) {
    const QuadraticProgram program = AnyProgram(random, 20);
    const Summary& a = used.Solve(program);
    QuadraticProgramSolver fresh;
    const Summary& b = fresh.Solve(program);
    RC_ASSERT(a.iterations == b.iterations);
    RC_ASSERT(a.active == b.active);
    RC_ASSERT(std::memcmp(a.x.data(), b.x.data(), sizeof(double) * static_cast<size_t>(a.x.size())) == 0);
    RC_ASSERT(a.inequality_multipliers == b.inequality_multipliers);
  }
}

}  // namespace
}  // namespace retrace::optimization
