/// What has no descendants leaves the tree, and nothing else changes.
#include "methods/sampling/tree.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "methods/sampling/small_problem.h"
#include "retrace/math/rotation.h"
#include "task/synthetic_motion.h"

namespace retrace::sampling {
namespace {

Node ChildOf(size_t parent, double path_cost) {
  Node node;
  node.parent = parent;
  node.path_cost = path_cost;
  return node;
}

/// Costs of the path to a node, from the leaf to the root.
std::vector<double> PathCosts(const Tree& tree, size_t level, size_t node) {
  std::vector<double> costs;
  for (; level > 0; --level) {
    costs.push_back(tree[level][node].path_cost);
    node = tree[level][node].parent;
  }
  return costs;
}

TEST(Prune, KeepsAncestorsInTheirOrder) {
  Tree tree(4);
  tree[0] = {ChildOf(0, 0)};
  tree[1] = {ChildOf(0, 1), ChildOf(0, 2), ChildOf(0, 3)};
  tree[2] = {ChildOf(0, 10), ChildOf(2, 30), ChildOf(2, 31)};
  tree[3] = {ChildOf(1, 40), ChildOf(2, 41)};
  Prune(tree, 3);
  ASSERT_EQ(tree[2].size(), 2U);
  EXPECT_EQ(tree[2][0].path_cost, 30);
  ASSERT_EQ(tree[1].size(), 1U);
  EXPECT_EQ(tree[1][0].path_cost, 3);
  EXPECT_EQ(PathCosts(tree, 3, 0), (std::vector<double>{40, 30, 3}));
  EXPECT_EQ(PathCosts(tree, 3, 1), (std::vector<double>{41, 31, 3}));
}

RC_GTEST_PROP(Prune, NeverChangesAPathToWhatItLeavesWhole, ()) {
  const auto levels = *rc::gen::inRange<size_t>(2, 9);
  Tree tree(1, {ChildOf(0, 0)});
  Tree pruned = tree;
  double cost = 0;
  for (size_t level = 1; level < levels; ++level) {
    const auto count = *rc::gen::inRange<size_t>(1, 7);
    std::vector<Node> nodes;
    for (size_t n = 0; n < count; ++n) {
      nodes.push_back(ChildOf(*rc::gen::inRange<size_t>(0, tree.back().size()), ++cost));
    }
    tree.push_back(nodes);
    pruned.push_back(nodes);  // its parents are in a level that was left whole
    const size_t whole = level - std::min<size_t>(level, *rc::gen::inRange<size_t>(0, 3));
    Prune(pruned, whole);
    RC_ASSERT(pruned.back().size() == tree.back().size());
    for (size_t n = 0; n < count; ++n) RC_ASSERT(PathCosts(pruned, level, n) == PathCosts(tree, level, n));
  }
  RC_ASSERT(BestPath(pruned).size() == levels - 1);
  const Tree best = TreeOfBestPath(pruned);
  RC_ASSERT(PathCosts(best, levels - 1, 0) == PathCosts(tree, levels - 1, CheapestLeaf(tree)));
}

/// A node knows what it drew without having it.
TEST(Complete, GivesNodesWhatTheyDrew) {
  const SmallProblem small(SmallConfiguration(), task::Squatting, 0.5);
  Proposal proposal;
  proposal.center = NoOffsets(small.problem());
  (*proposal.center)[1] = FromRotationVector(Vec3(0.1, 0.2, 0.3));
  proposal.ramp_from = NoOffsets(small.problem());
  Node node = ChildOf(0, 1);
  node.iteration = 3;
  node.sample = 7;
  node.proposal = std::make_shared<const Proposal>(proposal);
  Node given = ChildOf(0, 2);
  given.offsets = NoOffsets(small.problem());
  const Offsets drawn = proposal.Draw(small.problem(), 3, 7);
  const auto same = [](const Offsets& a, const Offsets& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const Quat& p, const Quat& q) { return p.coeffs() == q.coeffs(); });
  };
  EXPECT_TRUE(same(OffsetsOf(small.problem(), node), drawn));
  std::vector<Node> nodes = {node, given};
  Complete(small.problem(), nodes);
  EXPECT_EQ(nodes[0].proposal, nullptr);
  EXPECT_TRUE(same(nodes[0].offsets, drawn));
  EXPECT_TRUE(nodes[0].ramp_from.has_value());
  EXPECT_TRUE(same(nodes[1].offsets, given.offsets));
  EXPECT_FALSE(nodes[1].ramp_from.has_value());
}

}  // namespace
}  // namespace retrace::sampling
