/// What has no descendants leaves the tree, and nothing else changes.
#include "methods/sampling/tree.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

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

}  // namespace
}  // namespace retrace::sampling
