#include "retrace/optimization/linear_quadratic.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "optimization/random_programs.h"

namespace retrace::optimization {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// A system that changes from step to step, unstable in parts.
struct System {
  QuadraticCost cost;
  std::vector<LinearStep> steps;
};

System AnySystem(RandomStream& random, Eigen::Index n, Eigen::Index m, int steps) {
  System system;
  system.cost.state = AnyMatrix(random, n, 1).cwiseAbs();
  system.cost.terminal = AnyMatrix(random, n, 1).cwiseAbs();
  system.cost.control = AnyMatrix(random, m, 1).cwiseAbs().array() + 0.01;
  for (int k = 0; k < steps; ++k) {
    const MatrixXd a = MatrixXd::Identity(n, n) + AnyMatrix(random, n, n) * (1.5 / std::sqrt(static_cast<double>(n)));
    system.steps.push_back({a, AnyMatrix(random, n, m)});
  }
  return system;
}

/// The cost of the whole course from a state, under gains or without any control.
double CostOfCourse(const System& system, const std::vector<MatrixXd>& gains, VectorXd x) {
  double cost = 0;
  for (size_t k = 0; k < system.steps.size(); ++k) {
    const VectorXd u = gains[k] * x;
    cost += x.dot(system.cost.state.cwiseProduct(x)) + u.dot(system.cost.control.cwiseProduct(u));
    x = system.steps[k].state * x + system.steps[k].control * u;
  }
  return cost + x.dot(system.cost.terminal.cwiseProduct(x));
}

struct Solution {
  std::vector<MatrixXd> gains;
  MatrixXd cost_to_go;
};

Solution Solve(const System& system) {
  RiccatiRecursion recursion(system.cost);
  Solution solution;
  solution.gains.resize(system.steps.size());
  for (size_t k = system.steps.size(); k-- > 0;) {
    EXPECT_TRUE(recursion.StepBack(system.steps[k], solution.gains[k]));
  }
  solution.cost_to_go = recursion.cost_to_go();
  return solution;
}

TEST(LinearQuadratic, CostToGoIsTheCostOfTheCourse) {
  RandomStream random(1, RandomStage::kTest, 0, 0);
  for (const auto& [n, m, steps] : {std::tuple(1, 1, 5), std::tuple(6, 2, 40), std::tuple(100, 44, 60)}) {
    const System system = AnySystem(random, n, m, steps);
    const Solution solution = Solve(system);
    EXPECT_EQ(solution.cost_to_go, solution.cost_to_go.transpose());
    for (int trial = 0; trial < 3; ++trial) {
      const VectorXd x = AnyMatrix(random, n, 1);
      const double expected = x.dot(solution.cost_to_go * x);
      EXPECT_NEAR(CostOfCourse(system, solution.gains, x), expected, 1e-10 * expected) << n;
    }
  }
}

TEST(LinearQuadratic, TheBitsDoNotDependOnTheCachesOfTheProcessor) {
  // Products of matrices are cut into blocks that fit into them.
  std::ptrdiff_t first = 0, second = 0, third = 0;
  Eigen::internal::manage_caching_sizes(Eigen::GetAction, &first, &second, &third);
  RandomStream random(4, RandomStage::kTest, 0, 0);
  const System system = AnySystem(random, 160, 74, 3);  // of a body with more joints than a human
  const Solution usual = Solve(system);
  for (const std::ptrdiff_t size : {8, 16, 32, 48, 64}) {
    Eigen::setCpuCacheSizes(size << 10, size << 13, size << 16);
    const Solution other = Solve(system);
    EXPECT_EQ(other.cost_to_go, usual.cost_to_go) << size;
    for (size_t k = 0; k < usual.gains.size(); ++k) EXPECT_EQ(other.gains[k], usual.gains[k]) << size;
  }
  Eigen::setCpuCacheSizes(first, second, third);
}

TEST(LinearQuadratic, NoOtherGainsCostLess) {
  RandomStream random(2, RandomStage::kTest, 0, 0);
  const System system = AnySystem(random, 5, 2, 12);
  const Solution solution = Solve(system);
  const VectorXd x = AnyMatrix(random, 5, 1);
  const double best = CostOfCourse(system, solution.gains, x);
  for (int trial = 0; trial < 50; ++trial) {
    std::vector<MatrixXd> gains = solution.gains;
    gains[static_cast<size_t>(random.Uniform(0, 12))] += 0.1 * AnyMatrix(random, 2, 5);
    EXPECT_GT(CostOfCourse(system, gains, x), best);
  }
}

TEST(LinearQuadratic, OfAnEndlessCourseWithOneNumberIsTheGoldenRatio) {
  // K = 1 + K - K^2 / (K + 1) has the solution (1 + sqrt 5) / 2.
  const VectorXd one = VectorXd::Ones(1);
  RiccatiRecursion recursion({one, one, one});
  const LinearStep step{MatrixXd::Ones(1, 1), MatrixXd::Ones(1, 1)};
  MatrixXd gain;
  for (int k = 0; k < 60; ++k) ASSERT_TRUE(recursion.StepBack(step, gain));
  const double golden = 0.5 * (1 + std::sqrt(5.0));
  EXPECT_NEAR(recursion.cost_to_go()(0, 0), golden, 1e-14);
  EXPECT_NEAR(gain(0, 0), -golden / (1 + golden), 1e-14);
}

TEST(LinearQuadratic, RefusesWhatIsNoNumberAndStaysAsItWas) {
  RandomStream random(3, RandomStage::kTest, 0, 0);
  const System system = AnySystem(random, 3, 2, 1);
  RiccatiRecursion recursion(system.cost);
  const MatrixXd before = recursion.cost_to_go();
  MatrixXd gain = MatrixXd::Constant(2, 3, 7);
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity(), 1e200}) {
    LinearStep step = system.steps[0];
    step.state(1, 1) = bad;
    EXPECT_FALSE(recursion.StepBack(step, gain)) << bad;
    EXPECT_EQ(recursion.cost_to_go(), before);
    EXPECT_EQ(gain, MatrixXd::Constant(2, 3, 7));
  }
  EXPECT_THROW(recursion.StepBack({MatrixXd::Zero(2, 2), MatrixXd::Zero(2, 2)}, gain), std::invalid_argument);
  QuadraticCost cost = system.cost;
  cost.control[0] = 0;
  EXPECT_THROW(RiccatiRecursion{cost}, std::invalid_argument);
  cost = system.cost;
  cost.state[0] = -1;
  EXPECT_THROW(RiccatiRecursion{cost}, std::invalid_argument);
}

// ---- About a path

/// A path of a system, with what it costs to change it.
struct Path {
  PathCost cost;
  std::vector<PathStep> steps;
};

Path AnyPath(RandomStream& random, Eigen::Index n, Eigen::Index m, int steps, double change) {
  Path path;
  path.cost.state = AnyMatrix(random, n, 1).cwiseAbs();
  path.cost.control = AnyMatrix(random, m, 1).cwiseAbs().array() + 0.1;
  path.cost.change = change * AnyMatrix(random, m, 1).cwiseAbs();
  for (int k = 0; k < steps; ++k) {
    const MatrixXd a = MatrixXd::Identity(n, n) + AnyMatrix(random, n, n) * (0.5 / std::sqrt(static_cast<double>(n)));
    path.steps.push_back({{a, AnyMatrix(random, n, m)},
                          0.1 * AnyMatrix(random, n, 1),
                          AnyMatrix(random, n, 1),
                          AnyMatrix(random, m, 1)});
  }
  return path;
}

/// What it costs from a step on, where states and controls change by these.
double CostOfChange(const Path& path, size_t first, VectorXd x, VectorXd before, const std::vector<VectorXd>& u) {
  double cost = 0;
  for (size_t k = first; k < path.steps.size(); ++k) {
    const PathStep& step = path.steps[k];
    const VectorXd jump = u[k - first] - before + step.change;
    x = step.system.state * x + step.system.control * u[k - first] + step.defect;
    const VectorXd away = x + step.distance;
    cost += away.dot(path.cost.state.cwiseProduct(away)) + jump.dot(path.cost.change.cwiseProduct(jump)) +
            u[k - first].dot(path.cost.control.cwiseProduct(u[k - first]));
    before = u[k - first];
  }
  return cost;
}

/// The changes that the gains lead to.
std::vector<VectorXd> Changes(const Path& path, const std::vector<PathGains>& gains, size_t first, VectorXd x,
                              VectorXd before) {
  std::vector<VectorXd> u;
  for (size_t k = first; k < path.steps.size(); ++k) {
    u.push_back(gains[k].open_loop + gains[k].state * x + gains[k].change * before);
    before = u.back();
    x = path.steps[k].system.state * x + path.steps[k].system.control * u.back() + path.steps[k].defect;
  }
  return u;
}

TEST(PathRecursion, ItsChangesAreWhereTheCostHasNoSlope) {
  RandomStream random(5, RandomStage::kTest, 0, 0);
  for (const auto& [n, m, steps, change] :
       {std::tuple(1, 1, 1, 0.0), std::tuple(4, 2, 6, 0.0), std::tuple(4, 2, 6, 3.0), std::tuple(7, 5, 9, 0.5)}) {
    const Path path = AnyPath(random, n, m, steps, change);
    PathRecursion recursion(path.cost);
    std::vector<PathGains> gains(path.steps.size());
    for (size_t k = path.steps.size(); k-- > 0;) ASSERT_TRUE(recursion.StepBack(path.steps[k], gains[k]));
    const VectorXd x = AnyMatrix(random, n, 1), before = AnyMatrix(random, m, 1);
    const std::vector<VectorXd> best = Changes(path, gains, 0, x, before);
    // The cost is a quadratic function of all changes: its central differences are exact but for rounding.
    const double cost = CostOfChange(path, 0, x, before, best);
    for (size_t k = 0; k < best.size(); ++k) {
      for (Eigen::Index i = 0; i < m; ++i) {
        std::vector<VectorXd> other = best;
        other[k][i] += 0.5;
        const double more = CostOfChange(path, 0, x, before, other);
        other[k][i] -= 1;
        const double less = CostOfChange(path, 0, x, before, other);
        EXPECT_NEAR(more - less, 0, 1e-10 * (1 + cost + more)) << n << " " << k << " " << i;
        EXPECT_GT(more, cost);
      }
    }
  }
}

TEST(PathRecursion, CostToGoIsWhatTheBestChangesCostButForAConstant) {
  RandomStream random(6, RandomStage::kTest, 0, 0);
  const Path path = AnyPath(random, 6, 3, 8, 2);
  PathRecursion recursion(path.cost);
  std::vector<PathGains> gains(path.steps.size());
  for (size_t k = path.steps.size(); k-- > 0;) {
    ASSERT_TRUE(recursion.StepBack(path.steps[k], gains[k]));
    const VectorXd none = VectorXd::Zero(6), nothing = VectorXd::Zero(3);
    const double constant = CostOfChange(path, k, none, nothing, Changes(path, gains, k, none, nothing));
    const VectorXd x = AnyMatrix(random, 6, 1), before = AnyMatrix(random, 3, 1);
    const double cost = CostOfChange(path, k, x, before, Changes(path, gains, k, x, before));
    EXPECT_NEAR(recursion.cost_to_go().At(x, before), cost - constant, 1e-9 * (cost + constant)) << k;
  }
}

/// Without goals, defects and weights of changes it is the regulator.
TEST(PathRecursion, OfAPathAtItsGoalHasTheGainsOfTheRegulator) {
  RandomStream random(7, RandomStage::kTest, 0, 0);
  System system = AnySystem(random, 5, 2, 10);
  system.cost.terminal = system.cost.state;
  const Solution regulator = Solve(system);
  PathRecursion recursion({system.cost.state, system.cost.control, VectorXd::Zero(2)});
  for (size_t k = system.steps.size(); k-- > 0;) {
    PathGains gains;
    ASSERT_TRUE(recursion.StepBack({system.steps[k], VectorXd::Zero(5), VectorXd::Zero(5), VectorXd::Zero(2)}, gains));
    EXPECT_LT((gains.state - regulator.gains[k]).norm(), 1e-9 * (1 + regulator.gains[k].norm())) << k;
    EXPECT_EQ(gains.open_loop, VectorXd::Zero(2));
    EXPECT_EQ(gains.change, MatrixXd::Zero(2, 2));
  }
}

TEST(PathRecursion, RefusesWhatIsNoNumberAndStaysAsItWas) {
  RandomStream random(8, RandomStage::kTest, 0, 0);
  const Path path = AnyPath(random, 3, 2, 2, 1);
  PathRecursion recursion(path.cost);
  PathGains gains;
  ASSERT_TRUE(recursion.StepBack(path.steps[1], gains));
  const MatrixXd before = recursion.cost_to_go().state;
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity(), 1e200}) {
    PathStep step = path.steps[0];
    step.system.state(1, 1) = bad;
    EXPECT_FALSE(recursion.StepBack(step, gains)) << bad;
    EXPECT_EQ(recursion.cost_to_go().state, before);
  }
  PathStep step = path.steps[0];
  step.defect.resize(2);
  EXPECT_THROW(recursion.StepBack(step, gains), std::invalid_argument);
  PathCost cost = path.cost;
  cost.control[0] = 0;
  EXPECT_THROW(PathRecursion{cost}, std::invalid_argument);
}

}  // namespace
}  // namespace retrace::optimization
