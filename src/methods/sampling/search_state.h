/// Everything that a search has found out so far, as plain data: what it goes on from, and what a checkpoint keeps of
/// it when the iterations themselves have become too many.
#pragma once

#include <cstdint>
#include <vector>

#include "linearization.h"
#include "retrace/io/record_store.h"
#include "retrace/methods/sampling/problem.h"
#include "retrace/methods/sampling/summary.h"
#include "retrace/parallel/bytes.h"
#include "tree.h"

namespace retrace::sampling {

/// How far the search goes back the next time.
struct BackOffState {
  int distance = 0;   ///< [simulation steps]
  int furthest = -1;  ///< fragment at which a sample within tolerance was missing
};

/// A refinement pass in progress.
struct RefinementPassState {
  RefinementPass report;
  std::vector<Node> path;             ///< around which it draws
  std::vector<FragmentModel> models;  ///< (fragments) as far as they are found
  int passes_of_models = 0;           ///< that have begun with these models, this one included
  Tree tree;
};

struct SearchState {
  enum class Phase : uint32_t { kSearch, kRefinement, kRefinementPass, kBeyondGates };
  Phase phase = Phase::kSearch;
  Summary summary;
  Tree tree;
  Tree furthest;          ///< of all attempts that failed, the best path of the one that got furthest within tolerance
  int reached = 0;        ///< fragments up to which a sample was within tolerance, of all attempts
  double reached_at = 0;  ///< Summary::simulated_seconds when it got there, or when the search began once more
  BackOffState back_off;
  std::vector<int> attempts;                      ///< (fragments)
  std::vector<OffsetDistribution> distributions;  ///< (fragments)
  double noise = 0;                               ///< of the next refinement pass [rad]
  double caution = 1;                             ///< of the next one
  RefinementPassState pass;
};

/// Hands it on as bytes, which no iteration begins with.
void Pack(const SearchState& state, const io::Pieces& pieces);
bool IsSearchState(const parallel::Bytes& bytes);
/// Throws std::logic_error for bytes of another search.
SearchState UnpackSearchState(const parallel::Bytes& bytes, const Problem& problem);

}  // namespace retrace::sampling
