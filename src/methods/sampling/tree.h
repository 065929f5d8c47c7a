/// The tree of saved samples (Liu et al. 2010, section 3.2.2).
#pragma once

#include <cstddef>
#include <vector>

#include "retrace/character/state.h"
#include "retrace/methods/sampling/rollout.h"

namespace retrace::sampling {

/// A saved sample.
struct Node {
  size_t parent = 0;     ///< node of the fragment before
  size_t iteration = 0;  ///< in which it was drawn
  size_t sample = 0;     ///< index among that iteration's samples
  double path_cost = 0;  ///< sum from the root
  Offsets offsets;
  std::vector<Vec3> displacement;  ///< of the offsets from what they were drawn around (joints)
  bool continuous = false;         ///< its targets go over from its parent's offsets
  task::CostTerms terms;
  character::State end;
};

/// Saved samples by fragment, after a root that stands for the start state.
using Tree = std::vector<std::vector<Node>>;

}  // namespace retrace::sampling
