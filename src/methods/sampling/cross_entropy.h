/// The cross-entropy distributions of the search: a pass that failed gives those from which the next one draws (after
/// Liu, Yin and Guo 2015, "Improving Sampling-based Motion Control"). A saved sample is good when its descendants got
/// far; the best of each fragment are the elite samples.
#pragma once

#include <optional>
#include <vector>

#include "tree.h"

namespace retrace::sampling {

/// For each fragment of a tree, its saved samples from best to worst: first those whose descendants reach furthest,
/// then those of the cheapest path through them.
std::vector<std::vector<size_t>> RankByDescendants(const Tree& tree);

/// (joints) the rotations that a fragment should end with, between those that were reached before and the reference's
/// (Options::goal). There are none when Options::correction is 0.
std::optional<std::vector<Quat>> GoalOf(const Problem& problem, int fragment, const character::State& reached);

/// Fits the distributions (fragments) of those that a pass reached, from `first_fragment` on, to its elite samples.
/// They are uniform until they have been fitted.
void FitDistributions(const Problem& problem, const Tree& tree, int first_fragment,
                      std::vector<OffsetDistribution>& distributions);

}  // namespace retrace::sampling
