/// The complementarity problem: solutions must satisfy the conditions that define them.
#include "simulation/box_lcp.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <limits>

#include "retrace/math/random.h"

namespace retrace::simulation {
namespace {

struct Problem {
  Eigen::MatrixXd matrix;
  Eigen::VectorXd rhs;
  int points = 0;
  double friction = 0;
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
    for (int j = 0; j <= i; ++j) box.matrix()[j * box.stride() + i] = problem.matrix(i, j);
    box.rhs()[i] = problem.rhs[i];
    const bool normal = i % 3 == 0;
    box.low()[i] = normal ? 0 : -problem.friction;
    box.high()[i] = normal ? std::numeric_limits<double>::infinity() : problem.friction;
    box.friction_of()[i] = normal ? -1 : i / 3 * 3;
  }
  box.MirrorUpperTriangle();
}

RC_GTEST_PROP(BoxLcpProperty, SolutionsSatisfyTheConditions, ()) {
  RandomStream random(*rc::gen::arbitrary<uint64_t>(), RandomStage::kTest, 0, 0);
  const Problem problem = AnyProblem(random);
  BoxLcp box;
  LcpWarmStart warm_start;
  for (int again = 0; again < 2; ++again) {  // the second time from the first one's active set
    Load(problem, box);
    RC_ASSERT(box.Solve(warm_start));
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
