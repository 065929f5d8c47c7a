/// The model along a path: its numbers against simulations that it did not see, its goals, and what it proposes.
#include "methods/sampling/guidance.h"

#include <gtest/gtest.h>

#include "character/sample_human.h"
#include "methods/sampling/linearization.h"
#include "methods/sampling/small_problem.h"
#include "retrace/control/control.h"
#include "retrace/math/random.h"
#include "retrace/math/rotation.h"
#include "retrace/methods/sampling/search.h"
#include "retrace/parallel/thread_farm.h"

namespace retrace::sampling {
namespace {

using Eigen::VectorXd;

/// Servos at the reference itself, fragment by fragment.
std::vector<Node> PathOf(const Problem& problem) {
  std::vector<Node> path;
  simulation::World world(*problem.task.character, problem.task.world);
  control::SimulationScratch scratch;
  character::State state = problem.task.start;
  for (int f = 0; f < problem.task.schedule.num_iterations(); ++f) {
    Node& node = path.emplace_back();
    node.offsets = NoOffsets(problem);
    node.ramp_from = NoOffsets(problem);
    EXPECT_TRUE(control::SimulateFragment(world, state, MakeFragment(problem, f, node.offsets), scratch, state));
    node.end = std::make_shared<const character::State>(state);
  }
  return path;
}

std::vector<FragmentModel> ModelsOf(const Problem& problem, const std::vector<Node>& path, int threads) {
  const auto farm = parallel::MakeThreadFarm(threads, MakeWorkerFactory(problem));
  std::vector<FragmentModel> models;
  double seconds = 0;
  Linearize(problem, path, 0, static_cast<int>(path.size()), *farm, models, seconds);
  EXPECT_GT(seconds, 0);
  return models;
}

Configuration StandingConfiguration() {
  Configuration configuration = SmallConfiguration();
  configuration.sampling.refinement.passes = 2;
  return configuration;
}

TEST(Linearization, HasTheSameNumbersForAnyNumberOfThreads) {
  const SmallProblem small(StandingConfiguration(), task::Squatting, 0.3);
  const std::vector<Node> path = PathOf(small.problem());
  const std::vector<FragmentModel> one = ModelsOf(small.problem(), path, 1);
  const std::vector<FragmentModel> three = ModelsOf(small.problem(), path, 3);
  ASSERT_EQ(one.size(), path.size());
  for (size_t k = 0; k < one.size(); ++k) {
    EXPECT_EQ(one[k].numbers, three[k].numbers);
    EXPECT_EQ(one[k].defect, three[k].defect);
  }
}

TEST(Linearization, AFragmentWhoseTargetsDoNotJumpHasNoDefect) {
  const SmallProblem small(StandingConfiguration(), task::Squatting, 0.3);
  for (const FragmentModel& model : ModelsOf(small.problem(), PathOf(small.problem()), 1)) {
    for (const double number : model.defect) EXPECT_EQ(number, 0);
  }
}

/// Targets turned by twenty degrees about other axes than those of the differences: the model foresees where the body
/// goes much better than that it stays on the path.
TEST(Linearization, ForeseesWhatOtherTargetsDo) {
  const SmallProblem small(StandingConfiguration(), task::Squatting, 0.4);
  const Problem& problem = small.problem();
  const std::vector<Node> path = PathOf(problem);
  const std::vector<FragmentModel> models = ModelsOf(problem, path, 1);
  const dynamics::Coordinates coordinates(*problem.task.character);
  simulation::World world(*problem.task.character, problem.task.world);
  control::SimulationScratch scratch;
  RandomStream random(3, RandomStage::kTest, 0, 0);
  double missed = 0, moved = 0;
  for (size_t k = 1; k < path.size(); ++k) {
    for (int trial = 0; trial < 4; ++trial) {
      VectorXd turn(coordinates.size() - 6);
      for (Eigen::Index i = 0; i < turn.size(); ++i) turn[i] = random.Uniform(-0.05, 0.05);
      Offsets offsets = path[k].offsets;
      const std::vector<Vec3> turns = TurnsOf(coordinates, turn);
      for (size_t j = 0; j < offsets.size(); ++j) offsets[j] = FromRotationVector(turns[j]) * offsets[j];
      character::State end;
      const control::Fragment fragment = MakeFragment(problem, static_cast<int>(k), offsets, path[k - 1].offsets);
      ASSERT_TRUE(control::SimulateFragment(world, *path[k - 1].end, fragment, scratch, end));
      dynamics::MotionPoint from, to;
      dynamics::Reduce(coordinates, *path[k].end, from);
      dynamics::Reduce(coordinates, end, to);
      VectorXd difference(2 * coordinates.size());
      dynamics::Difference(coordinates, from, to, difference);
      const VectorXd foreseen = models[k].System().control * turn;
      missed += (difference - foreseen).head(coordinates.size()).squaredNorm();
      moved += difference.head(coordinates.size()).squaredNorm();
    }
  }
  EXPECT_LT(missed, 0.1 * moved);
}

TEST(Linearization, NumbersAndTurnsAreTheSame) {
  const dynamics::Coordinates coordinates(task::Human());
  RandomStream random(1, RandomStage::kTest, 0, 0);
  VectorXd numbers(coordinates.size() - 6);
  for (Eigen::Index i = 0; i < numbers.size(); ++i) numbers[i] = random.Uniform(-1, 1);
  EXPECT_EQ(NumbersOf(coordinates, TurnsOf(coordinates, numbers)), numbers);
}

/// The pull to the reference is bounded: however far it is, the goal is as far as it may be, in the same direction.
TEST(LimitDistance, BoundsDriftAndHeadingAndNothingElse) {
  const dynamics::Coordinates coordinates(task::Human());
  dynamics::MotionPoint point, goal;
  dynamics::Reduce(coordinates, StateOf(task::Human(), RestPose(task::Human())), point);
  goal = point;
  goal.pose.root_position += Vec3(0.6, 0.3, -0.8);
  goal.pose.root_orientation = AxisRotation(1, 0.5) * goal.pose.root_orientation;
  goal.velocity.head<3>() = Vec3(1, 2, 0);
  dynamics::MotionPoint near = goal;
  LimitDistance(coordinates, point, 0.15, 0.1, near);
  EXPECT_LT((near.pose.root_position - point.pose.root_position - Vec3(0.09, 0.3, -0.12)).norm(), 1e-12);
  EXPECT_NEAR(AngleBetween(near.pose.root_orientation, point.pose.root_orientation), 0.1, 1e-9);
  EXPECT_LT((near.velocity.head<3>() - AxisRotation(1, -0.4) * Vec3(1, 2, 0)).norm(), 1e-9);
  dynamics::MotionPoint same = goal;
  LimitDistance(coordinates, point, 1.01, 0.51, same);
  EXPECT_TRUE(same == goal);
}

TEST(Guidance, JudgesThePathItselfAsThePath) {
  const SmallProblem small(StandingConfiguration(), task::Squatting, 0.4);
  const Problem& problem = small.problem();
  const std::vector<Node> path = PathOf(problem);
  const std::vector<FragmentModel> models = ModelsOf(problem, path, 1);
  const Guidance guidance(problem, path, models, 0.03);
  const std::vector<Vec3> none(problem.task.character->joints.size(), Vec3::Zero());
  double cost = 0;
  for (size_t k = 0; k < path.size(); ++k) {
    const Guidance::Start start = guidance.StartOf(k, k == 0 ? problem.task.start : *path[k - 1].end,
                                                   k == 0 ? NoOffsets(problem) : path[k - 1].offsets);
    EXPECT_EQ(start.state.norm(), 0);
    EXPECT_EQ(start.change.norm(), 0);
    const Guidance::Score score = guidance.Judge(k, start, *path[k].end, path[k].terms, none);
    cost += score.cost;
    EXPECT_NEAR(guidance.PathCost(k), cost, 1e-12 * cost);
    EXPECT_EQ(score.cost_to_go, 0) << "it is counted from the path on";
    const GuidedOffsets proposal = guidance.ProposalFrom(k, start);
    for (const Vec3& turn : proposal.feedback) EXPECT_EQ(turn, Vec3::Zero());
    double step = 0;
    for (const Vec3& turn : proposal.correction) step = std::max(step, turn.cwiseAbs().maxCoeff());
    EXPECT_GT(step, 0) << "servos at the reference itself miss it";
    EXPECT_LE(step, problem.options.refinement.largest_turn);
  }
  EXPECT_GT(guidance.largest_drift(), 0);
}

/// The step that it proposes, simulated, costs less than the path.
TEST(Guidance, ItsProposalLeadsCloserToTheReference) {
  const SmallProblem small(StandingConfiguration(), task::Squatting, 0.5);
  const Problem& problem = small.problem();
  const std::vector<Node> path = PathOf(problem);
  const std::vector<FragmentModel> models = ModelsOf(problem, path, 1);
  const Guidance guidance(problem, path, models, 0.03);
  simulation::World world(*problem.task.character, problem.task.world);
  control::SimulationScratch scratch;
  character::State state = problem.task.start;
  Offsets before = NoOffsets(problem);
  double cost = 0;
  for (size_t k = 0; k < path.size(); ++k) {
    const Guidance::Start start = guidance.StartOf(k, state, before);
    Proposal proposal;
    proposal.distribution = guidance.ProposalFrom(k, start);
    const Offsets offsets = proposal.Undisplaced(problem);
    ASSERT_TRUE(control::SimulateFragment(world, state, MakeFragment(problem, static_cast<int>(k), offsets, before),
                                          scratch, state));
    std::vector<Vec3> turns;
    for (size_t j = 0; j < offsets.size(); ++j) {
      turns.push_back(RotationVector(offsets[j] * path[k].offsets[j].conjugate()));
    }
    cost += guidance.Judge(k, start, state, {}, turns).cost;
    before = offsets;
  }
  EXPECT_LT(cost, 0.7 * guidance.path_cost());
}

}  // namespace
}  // namespace retrace::sampling
