/// No memory is allocated while programs of one size are solved.
#include <gtest/gtest.h>

#include "allocations.h"
#include "optimization/random_programs.h"

namespace retrace::optimization {
namespace {

#if RETRACE_COUNTS_MALLOC
TEST(Allocation, IsCounted) {
  const size_t before = allocations;
  Eigen::VectorXd numbers(1000);
  volatile double* const kept = numbers.data();  // or the compiler sees that nobody needs it
  kept[0] = 1;
  EXPECT_EQ(allocations, before + 1);
}

TEST(Allocation, SolvingProgramsOfTheSameSizeAllocatesNothing) {
  for (const int n : {6, 50, 160}) {  // 160: what a blocked product of matrices would need memory for
    RandomStream random(3, RandomStage::kTest, 0, 0);
    std::vector<QuadraticProgram> programs(5);
    for (QuadraticProgram& program : programs) {
      program.Resize(n, 2, 2 * n);
      const Eigen::MatrixXd root = AnyMatrix(random, n, n);
      program.hessian = root * root.transpose() / n + Eigen::MatrixXd::Identity(n, n);
      program.gradient = 10 * AnyMatrix(random, n, 1);
      program.equality_matrix = AnyMatrix(random, 2, n);
      program.inequality_matrix = AnyMatrix(random, 2 * n, n);
      program.inequality_bounds.setConstant(-1);
    }
    QuadraticProgramSolver solver;
    solver.Solve(programs[0]);
    const size_t before = allocations;
    int active = 0;
    for (const auto start : {QuadraticProgramSolver::Start::kCold, QuadraticProgramSolver::Start::kWarm}) {
      for (const QuadraticProgram& program : programs) {
        const Summary& summary = solver.Solve(program, start);
        ASSERT_EQ(summary.status, Status::kOptimal);
        active += static_cast<int>(summary.active.size());
      }
    }
    EXPECT_EQ(allocations - before, 0u) << n;
    EXPECT_GT(active, 10) << n;
  }
}
#else
TEST(Allocation, IsCounted) {
  GTEST_SKIP() << "malloc cannot be counted in this build";
}
#endif

}  // namespace
}  // namespace retrace::optimization
