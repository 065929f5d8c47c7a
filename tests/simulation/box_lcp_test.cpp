/// The complementarity problem: solutions must satisfy the conditions that define them.
#include "simulation/box_lcp.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <cmath>
#include <limits>
#include <vector>

#include "retrace/math/random.h"

namespace retrace::simulation {
namespace {

struct Problem {
  Eigen::MatrixXd matrix;
  Eigen::VectorXd rhs;
  int points = 0;
  double friction = 0;
  std::vector<int> names = {};  // of the points; empty: their positions
};

/// Contacts of a few bodies: many points on few degrees of freedom, softened as a world softens them.
Problem AnyProblem(RandomStream& random) {
  Problem problem;
  problem.points = 1 + static_cast<int>(random.Uniform(0, 16));
  problem.friction = random.Uniform(0.05, 1.5);
  const int rows = 3 * problem.points;
  const int freedom = 6 + static_cast<int>(random.Uniform(0, 30));
  Eigen::MatrixXd jacobian(rows, freedom);
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < freedom; ++j) jacobian(i, j) = random.Uniform(-1, 1);
  }
  problem.matrix = jacobian * jacobian.transpose();
  for (int i = 0; i < rows; ++i) problem.matrix(i, i) += i % 3 == 0 ? 1e-3 : 1e-7;
  Eigen::VectorXd motion(freedom);
  for (int j = 0; j < freedom; ++j) motion[j] = random.Uniform(-100, 100);
  problem.rhs = jacobian * motion;
  for (int i = 0; i < rows; i += 3) problem.rhs[i] += random.Uniform(0, 10);  // bodies that are inside one another
  return problem;
}

void Load(const Problem& problem, BoxLcp& box) {
  const int rows = 3 * problem.points;
  box.Resize(rows);
  for (int i = 0; i < rows; ++i) {
    box.names()[i] = static_cast<uint64_t>(problem.names.empty() ? i : 3 * problem.names[i / 3] + i % 3);
    for (int j = 0; j <= i; ++j) box.matrix()[j * box.stride() + i] = problem.matrix(i, j);
    box.rhs()[i] = problem.rhs[i];
    const bool normal = i % 3 == 0;
    box.low()[i] = normal ? 0 : -problem.friction;
    box.high()[i] = normal ? std::numeric_limits<double>::infinity() : problem.friction;
    box.friction_of()[i] = normal ? -1 : i / 3 * 3;
  }
  box.MirrorUpperTriangle();
}

void AssertSolved(const Problem& problem, BoxLcp& box) {
  const int rows = 3 * problem.points;
  const Eigen::Map<Eigen::VectorXd> x(box.x(), rows);
  const Eigen::VectorXd w = problem.matrix * x - problem.rhs;
  const double scale =
      1e-7 * (1 + problem.rhs.cwiseAbs().maxCoeff() + (problem.matrix.cwiseAbs() * x.cwiseAbs()).maxCoeff());
  for (int i = 0; i < rows; ++i) {
    RC_ASSERT(x[i] >= box.low()[i] - 1e-9);
    RC_ASSERT(x[i] <= box.high()[i] + 1e-9);
    const bool at_low = x[i] <= box.low()[i] + 1e-12, at_high = x[i] >= box.high()[i] - 1e-12;
    if (!at_low) RC_ASSERT(w[i] < scale);
    if (!at_high) RC_ASSERT(w[i] > -scale);
  }
}

RC_GTEST_PROP(BoxLcpProperty, SolutionsSatisfyTheConditions, ()) {
  RandomStream random(*rc::gen::arbitrary<uint64_t>(), RandomStage::kTest, 0, 0);
  const Problem problem = AnyProblem(random);
  BoxLcp box;
  LcpWarmStart warm_start;
  for (int again = 0; again < 2; ++again) {  // the second time from the first one's active set
    Load(problem, box);
    RC_ASSERT(box.Solve(warm_start));
    AssertSolved(problem, box);
  }
}

/// The same points in another order, one of them new and one missing: each begins where it ended before.
RC_GTEST_PROP(BoxLcpProperty, ActiveSetsFollowTheNamesOfTheirRows, ()) {
  RandomStream random(*rc::gen::arbitrary<uint64_t>(), RandomStage::kTest, 0, 0);
  const Problem problem = AnyProblem(random);
  BoxLcp box;
  LcpWarmStart warm_start;
  Load(problem, box);
  RC_ASSERT(box.Solve(warm_start));
  const Eigen::VectorXd x = Eigen::Map<Eigen::VectorXd>(box.x(), 3 * problem.points);

  Problem reversed = problem;
  reversed.names.clear();
  for (int c = 0; c < problem.points; ++c) {
    const int from = problem.points - 1 - c;
    reversed.names.push_back(from);
    reversed.rhs.segment<3>(3 * c) = problem.rhs.segment<3>(3 * from);
    for (int d = 0; d < problem.points; ++d) {
      reversed.matrix.block<3, 3>(3 * c, 3 * d) = problem.matrix.block<3, 3>(3 * from, 3 * (problem.points - 1 - d));
    }
  }
  LcpWarmStart warm_reversed = warm_start;
  Load(reversed, box);
  RC_ASSERT(box.Solve(warm_reversed));
  AssertSolved(reversed, box);
  const double scale = 1e-6 * (1 + x.cwiseAbs().maxCoeff());
  for (int c = 0; c < problem.points; ++c) {
    // Only normal forces and friction together are unique: compare what they do.
    const Eigen::Map<Eigen::VectorXd> now(box.x(), 3 * problem.points);
    const int from = problem.points - 1 - c;
    const double before = problem.matrix.row(3 * from) * x;
    RC_ASSERT(std::abs(reversed.matrix.row(3 * c).dot(now) - before) < scale * problem.matrix.norm());
  }

  reversed.names.front() = problem.points;  // never seen
  Load(reversed, box);
  RC_ASSERT(box.Solve(warm_start));
  AssertSolved(reversed, box);
}

RC_GTEST_PROP(BoxLcpProperty, BothInstructionSetsGiveTheSameBits, ()) {
  const DenseKernels* avx2 = kDenseKernels.Find(simd::InstructionSet::kAvx2);
  if (avx2 == nullptr) GTEST_SKIP() << "this processor has no AVX2";
  RandomStream random(*rc::gen::arbitrary<uint64_t>(), RandomStage::kTest, 0, 0);
  const Problem problem = AnyProblem(random);
  BoxLcp fast(*avx2), slow(*kDenseKernels.Find(simd::InstructionSet::kBaseline));
  LcpWarmStart warm_fast, warm_slow;
  Load(problem, fast);
  Load(problem, slow);
  RC_ASSERT(fast.Solve(warm_fast) == slow.Solve(warm_slow));
  for (int i = 0; i < 3 * problem.points; ++i) RC_ASSERT(fast.x()[i] == slow.x()[i]);
}

}  // namespace
}  // namespace retrace::simulation
