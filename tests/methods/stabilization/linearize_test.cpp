#include "retrace/methods/stabilization/linearize.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "control/sample_control.h"
#include "retrace/io/error.h"
#include "retrace/parallel/thread_farm.h"

namespace retrace::stabilization {
namespace {

/// The systems of some nodes of a control.
std::map<int, optimization::LinearStep> StepsFrom(const Problem& problem, int first, int end, int threads = 1) {
  std::map<int, optimization::LinearStep> steps;
  const auto farm = parallel::MakeThreadFarm(threads, MakeWorkerFactory(problem));
  double cpu_seconds = 0;
  Linearize(
      problem, *farm, first, end,
      [&](int node, optimization::LinearStep step) { EXPECT_TRUE(steps.emplace(node, std::move(step)).second); },
      cpu_seconds);
  EXPECT_GT(cpu_seconds, 0);
  return steps;
}

TEST(NominalMotion, HasTheStatesOfTheReplayAtItsNodes) {
  const control::OpenLoopControl control = control::Standing(2);
  Options options;
  options.interval = 0.03;  // seven steps, of which the last interval has six
  const Problem problem = MakeProblem(character::Human(), control, {}, options);
  EXPECT_EQ(problem.nominal.interval, 7);
  EXPECT_EQ(problem.nominal.num_steps, 48);
  EXPECT_EQ(problem.nominal.num_nodes(), 7);
  EXPECT_FALSE(problem.nominal.diverged);
  const control::Trajectory motion = control::Replay(character::Human(), control);
  ASSERT_EQ(problem.nominal.states.size(), 8u);
  for (size_t node = 0; node < 8; ++node) {
    EXPECT_TRUE(control::SameBits(problem.nominal.states[node], motion.states[std::min<size_t>(7 * node, 48)])) << node;
  }
}

TEST(NominalMotion, RefusesAControlWithoutStepsAndOptionsThatAreNotValid) {
  const control::OpenLoopControl empty = control::Standing(0), control = control::Standing(1);
  EXPECT_THROW(MakeProblem(character::Human(), empty, {}, {}), UsageError);
  Options options;
  options.interval = 0;
  EXPECT_THROW(MakeProblem(character::Human(), control, {}, options), UsageError);
}

/// A servo has the torque kp times the turn of its target.
TEST(TorquesOfATurn, AreThoseOfTheServos) {
  const character::Character& human = character::Human();
  const Eigen::VectorXd torques = TorquesOfTurn(human, 0.1), twice = TorquesOfTurn(human, 0.2);
  EXPECT_LT((twice - 2 * torques).norm(), 1e-9);
  Eigen::Index k = 0;
  for (const character::Joint& joint : human.joints) {
    for (int a = 0; a < 3; ++a) {
      if (!joint.UsesAxis(a)) continue;
      ASSERT_LT(k, torques.size());
      EXPECT_GT(torques[k], 0) << joint.name;
      EXPECT_LE(torques[k], 0.1 * joint.kp * (1 + 1e-12)) << joint.name;
      ++k;
    }
  }
  EXPECT_EQ(k, torques.size());
}

/// Far from the ground nothing depends on where the root is: what is moved stays moved, and a velocity moves it.
TEST(LinearSystem, InTheAirADisplacementStaysAndAVelocityMovesTheRoot) {
  control::OpenLoopControl control = control::Standing(1);
  character::Translate(control.start, Vec3(0, 20, 0));
  Options options;
  options.position_difference = options.velocity_difference = 1e-3;
  const Problem problem = MakeProblem(character::Human(), control, {}, options);
  const Eigen::MatrixXd state = StepsFrom(problem, 2, 3).at(2).state;
  const Eigen::Index n = state.rows() / 2;
  const double interval = problem.nominal.interval * control.world.time_step;
  for (int axis = 0; axis < 3; ++axis) {
    Eigen::VectorXd displaced = Eigen::VectorXd::Zero(2 * n);
    displaced[axis] = 1;
    EXPECT_LT((state.col(axis) - displaced).norm(), 1e-6) << axis;
    displaced[axis] = interval;
    displaced[n + axis] = 1;
    EXPECT_LT((state.col(n + axis) - displaced).norm(), 1e-3) << axis;
  }
}

TEST(LinearSystem, IsTheSameOnAnyNumberOfThreads) {
  const control::OpenLoopControl control = control::Standing(1);
  const Problem problem = MakeProblem(character::Human(), control, {}, {});
  const auto one = StepsFrom(problem, 1, 3), three = StepsFrom(problem, 1, 3, 3);
  ASSERT_EQ(one.size(), 2u);
  ASSERT_EQ(three.size(), 2u);
  for (const int node : {1, 2}) {
    EXPECT_EQ(one.at(node).state, three.at(node).state);
    EXPECT_EQ(one.at(node).control, three.at(node).control);
    EXPECT_EQ(one.at(node).control.cols(), TorquesOfTurn(character::Human(), 1).size());
  }
}

}  // namespace
}  // namespace retrace::stabilization
