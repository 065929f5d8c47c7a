#include "tree.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace retrace::sampling {

Offsets OffsetsOf(const Problem& problem, const Node& node) {
  if (node.proposal == nullptr) return node.offsets;
  return node.proposal->Draw(problem, static_cast<int>(node.iteration), static_cast<int>(node.sample));
}

void Complete(const Problem& problem, std::vector<Node>& nodes) {
  for (Node& node : nodes) {
    if (node.proposal == nullptr) continue;
    node.offsets = OffsetsOf(problem, node);
    node.ramp_from = node.proposal->ramp_from;
    node.proposal.reset();
  }
}

bool CheaperPath(const Node& a, const Node& b) {
  return a.path_cost < b.path_cost;
}

size_t CheapestLeaf(const Tree& tree) {
  const auto& last = tree.back();
  return static_cast<size_t>(std::min_element(last.begin(), last.end(), CheaperPath) - last.begin());
}

std::vector<Node> BestPath(const Tree& tree) {
  std::vector<Node> path;
  size_t node = CheapestLeaf(tree);
  for (size_t level = tree.size() - 1; level > 0; --level) {
    path.push_back(tree[level][node]);
    node = tree[level][node].parent;
  }
  std::reverse(path.begin(), path.end());
  return path;
}

Tree TreeOfBestPath(const Tree& tree) {
  Tree best(1, tree.front());
  for (Node& node : BestPath(tree)) {
    node.parent = 0;
    best.emplace_back().push_back(std::move(node));
  }
  return best;
}

void Prune(Tree& tree, size_t whole) {
  constexpr size_t kDead = std::numeric_limits<size_t>::max();
  for (size_t level = std::min(whole, tree.size() - 1); level-- > 1;) {
    std::vector<Node>& nodes = tree[level];
    std::vector<size_t> place(nodes.size(), kDead);
    for (const Node& child : tree[level + 1]) place[child.parent] = 0;
    size_t living = 0;
    for (size_t n = 0; n < nodes.size(); ++n) {
      if (place[n] == kDead) continue;
      if (living != n) nodes[living] = std::move(nodes[n]);
      place[n] = living++;
    }
    if (living == nodes.size()) return;  // whatever is before them has been pruned already
    nodes.resize(living);
    nodes.shrink_to_fit();
    for (Node& child : tree[level + 1]) child.parent = place[child.parent];
  }
}

}  // namespace retrace::sampling
