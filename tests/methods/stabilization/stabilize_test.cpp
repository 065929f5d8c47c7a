/// The linear system along a control, and the regulator that follows from it.
#include "retrace/methods/stabilization/stabilize.h"

#include <gtest/gtest.h>

#include <cstring>

#include "control/sample_control.h"
#include "retrace/io/error.h"
#include "retrace/parallel/task_farm.h"
#include "retrace/parallel/thread_farm.h"

namespace retrace::stabilization {
namespace {

using character::Human;

std::unique_ptr<parallel::TaskFarm> Farm(const Problem& problem, int threads = 1) {
  return parallel::MakeThreadFarm(threads, MakeWorkerFactory(problem));
}

optimization::LinearStep StepOf(const Problem& problem, int node) {
  optimization::LinearStep found;
  double cpu_seconds = 0;
  Linearize(
      problem, *Farm(problem), node, node + 1, [&](int, optimization::LinearStep step) { found = std::move(step); },
      cpu_seconds);
  return found;
}

/// Where a difference at a node leads to by the next one, without contacts simulated as the node's own motion is.
Eigen::VectorXd Simulated(const Problem& problem, int node, const Eigen::VectorXd& difference) {
  const dynamics::Coordinates coordinates(Human());
  const Nominal& nominal = problem.nominal;
  dynamics::MotionPoint point, end;
  dynamics::Reduce(coordinates, nominal.states[static_cast<size_t>(node)], point);
  dynamics::Apply(coordinates, difference, point);
  character::State state;
  dynamics::Expand(coordinates, point, state);
  simulation::World world(Human(), problem.control->world);
  world.SetState(state, node * nominal.interval);
  control::OpenLoop open_loop(problem.control->fragments);
  control::Controller* const controller = &open_loop;
  control::SimulationScratch scratch;
  EXPECT_TRUE(
      control::Simulate(world, {&controller, 1}, node * nominal.interval, nominal.interval, {}, scratch, [](int) {}));
  world.GetState(state);
  dynamics::Reduce(coordinates, nominal.states[static_cast<size_t>(node) + 1], end);
  dynamics::Reduce(coordinates, state, point);
  Eigen::VectorXd result(difference.size());
  dynamics::Difference(coordinates, end, point, result);
  return result;
}

/// Falling, far from the ground.
control::OpenLoopControl Falling() {
  control::OpenLoopControl control = control::Standing(2);
  character::Translate(control.start, Vec3(0, 20, 0));
  return control;
}

TEST(Linearize, InTheAirTheErrorIsOfSecondOrder) {
  const control::OpenLoopControl control = Falling();
  Options options;
  options.position_difference = options.velocity_difference = 1e-4;
  const Problem problem = MakeProblem(Human(), control, {}, options);
  const optimization::LinearStep step = StepOf(problem, 3);
  RandomStream random(1, RandomStage::kTest, 0, 0);
  const Eigen::Index n = dynamics::Coordinates(Human()).size();
  Eigen::VectorXd direction(2 * n);
  for (double& number : direction) number = random.Uniform(-1, 1);
  const auto error = [&](double size) {
    return (Simulated(problem, 3, size * direction) - step.state * (size * direction)).norm();
  };
  const double small = error(0.01), large = error(0.02);
  EXPECT_LT(small, 0.05 * (step.state * (0.01 * direction)).norm());
  EXPECT_GT(large / small, 3);
  EXPECT_LT(large / small, 5);
}

TEST(Linearize, InTheAirTheRootMovesAsItIsPushed) {
  const control::OpenLoopControl control = Falling();
  const Problem problem = MakeProblem(Human(), control, {}, {});
  const optimization::LinearStep step = StepOf(problem, 2);
  const Eigen::Index n = dynamics::Coordinates(Human()).size();
  const double duration = problem.nominal.interval * control.world.time_step;
  for (Eigen::Index i = 0; i < 3; ++i) {
    // A displacement stays, and a velocity of the whole body leads on.
    Eigen::VectorXd expected = Eigen::VectorXd::Zero(2 * n);
    expected[i] = 1;
    EXPECT_NEAR((step.state.col(i) - expected).cwiseAbs().maxCoeff(), 0, 1e-9);
    expected[i] = duration;
    expected[n + i] = 1;
    EXPECT_NEAR((step.state.col(n + i) - expected).cwiseAbs().maxCoeff(), 0, 1e-9);
  }
  // Torques between bodies leave the momentum of the whole as it is: of a free body, its center does not move.
  EXPECT_GT(step.control.cwiseAbs().maxCoeff(), 1e-4);
}

TEST(Stabilize, IsTheSameBytesForAnyNumberOfThreads) {
  const control::OpenLoopControl control = control::Standing(3);
  const Problem problem = MakeProblem(Human(), control, {}, {});
  const Summary one = stabilization::Run(problem, *Farm(problem));
  const Summary three = stabilization::Run(problem, *Farm(problem, 3));
  ASSERT_EQ(one.status, Status::kDone);
  EXPECT_EQ(one.feedback.gains, three.feedback.gains);
  EXPECT_EQ(FormatFeedback(one.feedback), FormatFeedback(three.feedback));
  EXPECT_EQ(one.feedback.num_nodes(), 18);
  EXPECT_EQ(one.simulations, 18u * 2 * (100 + 44));
}

/// The costs that the recursion promises are those of the course under its gains, in the linear system of the
/// simulation and with the weights of the method.
TEST(Stabilize, CostToGoIsThatOfTheLinearSystemsCourse) {
  const control::OpenLoopControl control = control::Standing(3);
  const Problem problem = MakeProblem(Human(), control, {}, {});
  const int nodes = problem.nominal.num_nodes();
  std::vector<optimization::LinearStep> steps(static_cast<size_t>(nodes));
  double cpu_seconds = 0;
  Linearize(
      problem, *Farm(problem), 0, nodes,
      [&](int node, optimization::LinearStep step) { steps[static_cast<size_t>(node)] = std::move(step); },
      cpu_seconds);
  const optimization::QuadraticCost cost = CostOf(Human(), problem.options);
  optimization::RiccatiRecursion recursion(cost);
  std::vector<Eigen::MatrixXd> gains(steps.size());
  for (size_t k = steps.size(); k-- > 0;) ASSERT_TRUE(recursion.StepBack(steps[k], gains[k]));
  // The same gains as those of the feedback, which are stored as floats.
  const Summary summary = stabilization::Run(problem, *Farm(problem));
  EXPECT_EQ(summary.feedback.gains.front(), static_cast<float>(gains.front()(0, 0)));
  RandomStream random(2, RandomStage::kTest, 0, 0);
  Eigen::VectorXd x(cost.state.size());
  for (double& number : x) number = random.Uniform(-1, 1);
  const double promised = x.dot(recursion.cost_to_go() * x);
  double spent = 0;
  for (size_t k = 0; k < steps.size(); ++k) {
    const Eigen::VectorXd u = gains[k] * x;
    spent += x.dot(cost.state.cwiseProduct(x)) + u.dot(cost.control.cwiseProduct(u));
    x = steps[k].state * x + steps[k].control * u;
  }
  spent += x.dot(cost.terminal.cwiseProduct(x));
  EXPECT_NEAR(spent, promised, 1e-10 * promised);
}

TEST(Stabilize, OfAHumanTheTrunkIsTheWaist) {
  const std::vector<bool> trunk = TrunkJoints(Human());
  for (size_t j = 0; j < trunk.size(); ++j) EXPECT_EQ(trunk[j], Human().joints[j].name == "waist") << j;
  const optimization::QuadraticCost cost = CostOf(Human(), {});
  const dynamics::Coordinates coordinates(Human());
  const int waist = coordinates.FirstOf(Human().FindJoint("waist")) - 6;
  EXPECT_EQ(cost.control[waist + 2], Options().trunk_factor * cost.control[waist + 3]);
  // In turns of servos.
  Options turns;
  turns.torque_cost = 1e-12;
  turns.turn_cost = 1;
  const Eigen::VectorXd torques = TorquesOfTurn(Human(), 1);
  const optimization::QuadraticCost of_turns = CostOf(Human(), turns);
  EXPECT_NEAR(of_turns.control[waist + 3] * torques[waist + 3] * torques[waist + 3], 1, 1e-6);
}

TEST(Stabilize, StopsWhereItIsAskedTo) {
  control::OpenLoopControl control = control::Standing(3);
  Options options;
  options.interval = control.world.time_step;
  control.fragments.back().num_steps += 200;  // more nodes than are held at a time
  const Problem problem = MakeProblem(Human(), control, {}, options);
  Hooks hooks;
  double share = 0;
  hooks.on_progress = [&](double done) { share = std::max(share, done); };
  hooks.stop = [] { return true; };
  const Summary summary = stabilization::Run(problem, *Farm(problem, 2), hooks);
  EXPECT_EQ(summary.status, Status::kStopped);
  EXPECT_TRUE(summary.feedback.gains.empty());
  EXPECT_GT(share, 0.5);
  EXPECT_LT(share, 1);
}

TEST(Stabilize, RefusesWhatItCannotWorkOn) {
  const control::OpenLoopControl standing = control::Standing(1);
  Options options;
  options.interval = -1;
  EXPECT_THROW(MakeProblem(Human(), standing, {}, options), UsageError);
  control::OpenLoopControl empty = standing;
  empty.fragments.clear();
  EXPECT_THROW(MakeProblem(Human(), empty, {}, {}), UsageError);
  control::OpenLoopControl thrown = standing;
  thrown.start[0].linear_velocity = Vec3(1e8, 0, 0);
  const Problem problem = MakeProblem(Human(), thrown, {}, {});
  EXPECT_TRUE(problem.nominal.diverged);
  EXPECT_THROW(stabilization::Run(problem, *Farm(problem)), std::invalid_argument);
}

}  // namespace
}  // namespace retrace::stabilization
