/// Which samples of a pass are elite, and the distributions that are fitted to them.
#include "methods/sampling/cross_entropy.h"

#include <gtest/gtest.h>

#include "methods/sampling/small_problem.h"
#include "retrace/character/kinematics.h"
#include "retrace/math/rotation.h"
#include "task/synthetic_motion.h"

namespace retrace::sampling {
namespace {

Node Child(size_t parent, double path_cost) {
  Node node;
  node.parent = parent;
  node.path_cost = path_cost;
  return node;
}

TEST(RankByDescendants, WhoReachesFurthestComesFirstAndThenWhoIsCheapest) {
  Tree tree(4);
  tree[0] = {Child(0, 0)};
  tree[1] = {Child(0, 1), Child(0, 2), Child(0, 3)};
  tree[2] = {Child(0, 2), Child(1, 5), Child(1, 9), Child(0, 3)};  // the third has no child
  tree[3] = {Child(1, 8), Child(2, 20), Child(0, 11)};             // the last saved ones
  const auto ranks = RankByDescendants(tree);
  ASSERT_EQ(ranks.size(), 3u);
  EXPECT_EQ(ranks[2], (std::vector<size_t>{0, 2, 1}));
  // Of the second fragment, 1 leads to 8, 0 to 11, 2 to 20, and 3 nowhere although it is cheap itself.
  EXPECT_EQ(ranks[1], (std::vector<size_t>{1, 0, 2, 3}));
  EXPECT_EQ(ranks[0], (std::vector<size_t>{1, 0, 2}));
}

bool IsFitted(const OffsetDistribution& distribution) {
  return std::holds_alternative<NormalOffsets>(distribution);
}

const NormalOffsets& Fitted(const OffsetDistribution& distribution) {
  return std::get<NormalOffsets>(distribution);
}

std::vector<OffsetDistribution> Unfitted(const Problem& problem) {
  return std::vector<OffsetDistribution>(static_cast<size_t>(problem.task.schedule.num_iterations()));
}

class Fitting : public ::testing::Test {
 protected:
  Fitting() : small_(SmallConfiguration(), task::Squatting, 0.5) {}

  /// A tree of one fragment whose saved samples turn the first joint about x by these angles, cheapest first.
  Tree Turned(const std::vector<double>& angles) const {
    Tree tree(2);
    tree[0] = {Child(0, 0)};
    for (const double angle : angles) {
      Node node = Child(0, static_cast<double>(tree[1].size()));
      node.offsets = NoOffsets(small_.problem());
      node.offsets[0] = FromRotationVector(Vec3(angle, 0, 0));
      node.end = std::make_shared<const character::State>(small_.problem().task.start);
      tree[1].push_back(node);
    }
    return tree;
  }
  SmallProblem small_;
};

TEST_F(Fitting, TakesMeanAndDeviationOfTheElites) {
  Problem problem = small_.problem();
  problem.options.elites = 0.5;
  problem.options.smallest_deviation = 0;
  std::vector<OffsetDistribution> model = Unfitted(problem);
  EXPECT_FALSE(IsFitted(model[0]));
  FitDistributions(problem, Turned({0.1, 0.3, -2, 2}), 0, model);
  ASSERT_TRUE(IsFitted(model[0]));
  EXPECT_FALSE(IsFitted(model[1]));
  EXPECT_NEAR(Fitted(model[0]).mean[0].x(), 0.2, 1e-12);
  EXPECT_NEAR(Fitted(model[0]).deviation[0].x(), 0.1, 1e-12);
  EXPECT_EQ(Fitted(model[0]).mean[1], Vec3(Vec3::Zero()));
  // Later, by the learning rate.
  problem.options.refit_rate = 0.25;
  FitDistributions(problem, Turned({0.6, 0.6, 0, 0}), 0, model);
  EXPECT_NEAR(Fitted(model[0]).mean[0].x(), 0.3, 1e-12);
  EXPECT_NEAR(Fitted(model[0]).deviation[0].x(), 0.075, 1e-12);
  // Not before the fragment that is drawn again.
  FitDistributions(problem, Turned({9, 9, 9, 9}), 1, model);
  EXPECT_NEAR(Fitted(model[0]).mean[0].x(), 0.3, 1e-12);
}

TEST_F(Fitting, AimsAtThePoseOfTheBestAndAtTheReferences) {
  Problem problem = small_.problem();
  character::State reference;
  small_.reference().StateAt(problem.task.schedule.steps[1] * problem.time_step(), reference);
  for (const double goal : {0.0, 0.5, 1.0}) {
    problem.options.goal = goal;
    std::vector<OffsetDistribution> model = Unfitted(problem);
    FitDistributions(problem, Turned({0.1, 0.3}), 0, model);
    ASSERT_TRUE(Fitted(model[0]).goal.has_value());
    ASSERT_EQ(Fitted(model[0]).goal->size(), problem.task.character->joints.size());
    for (size_t j = 0; j < Fitted(model[0]).goal->size(); ++j) {
      const character::Joint& joint = problem.task.character->joints[j];
      const Quat expected =
          Nlerp(character::JointRotation(joint, problem.task.start), character::JointRotation(joint, reference), goal);
      EXPECT_LT(AngleBetween((*Fitted(model[0]).goal)[j], expected), 1e-9) << joint.name;
    }
  }
  problem.options.correction = 0;
  std::vector<OffsetDistribution> model = Unfitted(problem);
  FitDistributions(problem, Turned({0.1, 0.3}), 0, model);
  EXPECT_FALSE(Fitted(model[0]).goal.has_value());
}

TEST_F(Fitting, KeepsAShareOfTheWindow) {
  Problem problem = small_.problem();
  problem.options.smallest_deviation = 0.3;
  std::vector<OffsetDistribution> model = Unfitted(problem);
  FitDistributions(problem, Turned({0.1, 0.1}), 0, model);
  for (size_t j = 0; j < Fitted(model[0]).deviation.size(); ++j) {
    EXPECT_TRUE(Fitted(model[0]).deviation[j].isApprox(0.3 * problem.task.character->joints[j].window) ||
                problem.task.character->joints[j].window.isZero());
  }
}

TEST_F(Fitting, SamplesFollowTheDistribution) {
  const Problem& problem = small_.problem();
  const size_t joints = problem.task.character->joints.size();
  Proposal proposal;
  proposal.distribution =
      NormalOffsets{std::vector<Vec3>(joints, Vec3(0.2, 0, 0)), std::vector<Vec3>(joints, Vec3(0.05, 0, 0.1))};
  proposal.center = proposal.Undisplaced(problem);
  double sum = 0, squares = 0;
  constexpr int kSamples = 4000;
  for (int i = 1; i <= kSamples; ++i) {
    const Vec3 turn = RotationVector(proposal.Draw(problem, 3, i)[0]);
    sum += turn.x();
    squares += turn.x() * turn.x();
    EXPECT_NEAR(turn.y(), 0, 1e-12);
  }
  const double mean = sum / kSamples;
  EXPECT_NEAR(mean, 0.2, 4 * 0.05 / std::sqrt(kSamples));
  EXPECT_NEAR(std::sqrt(squares / kSamples - mean * mean), 0.05, 0.003);
  EXPECT_TRUE(RotationVector(proposal.Draw(problem, 3, 0)[0]).isApprox(Vec3(0.2, 0, 0)));
}

}  // namespace
}  // namespace retrace::sampling
