/// Many random programs, and in long trials a million (long_trials.h): what the property tests look for, often enough
/// to meet what is rare.
#include <gtest/gtest.h>

#include "long_trials.h"
#include "optimization/random_programs.h"

namespace retrace::optimization {
namespace {

#if defined(RETRACE_SANITIZED)
const uint32_t kPrograms = 1000;
#else
const uint32_t kPrograms = LongTrials() ? 100000 : 10000;
#endif

/// Ten parts, each within the time of a test.
class AMillionPrograms : public testing::TestWithParam<uint32_t> {};
INSTANTIATE_TEST_SUITE_P(QuadraticProgram, AMillionPrograms, testing::Range(0u, 10u));

TEST_P(AMillionPrograms, AreSolved) {
  QuadraticProgramSolver solver;
  double worst = 0;
  int most_iterations = 0;
  for (uint32_t k = 0; k < kPrograms; ++k) {
    RandomStream random(9, RandomStage::kTest, k, GetParam());
    QuadraticProgram program = AnyProgram(random, 12, {k % 4 == 0, k % 3 == 0, k % 16 == 0});
    const Summary& summary = solver.Solve(program);
    ASSERT_EQ(summary.status, Status::kOptimal) << k;
    const double residual = KktResidual(program, summary);
    ASSERT_LT(residual, 1e-8) << k;
    worst = std::max(worst, residual);
    most_iterations = std::max(most_iterations, summary.iterations);
    if (k % 10 != 0) continue;
    Contradict(random, program);
    ASSERT_EQ(solver.Solve(program).status, Status::kInfeasible) << k;
  }
  std::printf("%u programs: largest KKT residual %.2g, most iterations %d\n", kPrograms, worst, most_iterations);
}

}  // namespace
}  // namespace retrace::optimization
