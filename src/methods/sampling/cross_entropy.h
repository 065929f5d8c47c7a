/// What a pass of the search teaches the next one (after Liu, Yin and Guo 2015, "Improving Sampling-based Motion
/// Control"): a saved sample is good when something that came after it survived. The best of each fragment give the
/// distribution from which the next pass draws.
#pragma once

#include <vector>

#include "tree.h"

namespace retrace::sampling {

/// For each fragment of a tree, its saved samples from best to worst: first those whose descendants reach furthest,
/// then those of the cheapest path through them.
std::vector<std::vector<size_t>> RankByDescendants(const Tree& tree);

/// The pose that offsets of a fragment should lead to, between the one that they led to before and the reference's
/// (Options::goal); empty when nothing is to be corrected.
std::vector<Quat> GoalOf(const Problem& problem, int fragment, const character::State& led_to);

/// A distribution of offsets for each fragment of the schedule, none of them learned at first.
class OffsetDistributions {
 public:
  explicit OffsetDistributions(const Problem& problem);

  /// Moves the distributions of the fragments that a pass reached towards its elites.
  void Learn(const Tree& tree, int first_fragment = 0);
  const OffsetDistribution& operator[](int fragment) const { return fragments_[static_cast<size_t>(fragment)]; }

 private:
  const Problem& problem_;
  std::vector<OffsetDistribution> fragments_;
};

}  // namespace retrace::sampling
