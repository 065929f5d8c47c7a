/// The tree of saved samples (Liu et al. 2010, section 3.2.2).
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "retrace/character/state.h"
#include "retrace/methods/sampling/rollout.h"

namespace retrace::sampling {

/// A saved sample.
struct Node {
  size_t parent = 0;     ///< node of the fragment before
  size_t start = 0;      ///< the same among all that there were when it was drawn
  size_t iteration = 0;  ///< in which it was drawn
  size_t sample = 0;     ///< index among that iteration's samples
  double path_cost = 0;  ///< sum from the root
  /// Generates the offsets on demand: those of most nodes are never asked for. Null: the node has them.
  std::shared_ptr<const Proposal> proposal = {};
  Offsets offsets = {};
  /// (joints) of the offsets from the center of their proposal [rad], where the samples of the next fragment keep a
  /// share of it.
  std::optional<std::vector<Vec3>> displacement = {};
  std::optional<Offsets> ramp_from = {};  ///< of the proposal
  task::CostTerms terms;
  std::shared_ptr<const character::State> end;
};

/// Saved samples by fragment, after a root that stands for the start state.
using Tree = std::vector<std::vector<Node>>;

/// The offsets of a node that may have a proposal instead.
Offsets OffsetsOf(const Problem& problem, const Node& node);
/// Gives nodes what follows from their proposals.
void Complete(const Problem& problem, std::vector<Node>& nodes);

bool CheaperPath(const Node& a, const Node& b);
/// The leaf of the cheapest path.
size_t CheapestLeaf(const Tree& tree);
/// The path to that leaf, from its first fragment to its last.
std::vector<Node> BestPath(const Tree& tree);
/// A tree of the root and of that path alone.
Tree TreeOfBestPath(const Tree& tree);
/// Removes what has no descendant in level `whole`, from the levels before it. Levels count from the root, which is 0.
void Prune(Tree& tree, size_t whole);

}  // namespace retrace::sampling
