/// One iteration of the search: which samples start from which saved state, simulated and selected.
#pragma once

#include <vector>

#include "retrace/parallel/task_farm.h"
#include "retrace/reconstruction/search.h"
#include "tree.h"

namespace retrace::reconstruction {

/// What an iteration draws, and by what it judges.
struct Draw {
  int iteration = 0;
  int fragment = 0;
  int samples = 0;
  SelectionOptions selection;
  CostWeights weights;
  /// Start states take turns between them. Not learned: uniform in the windows around feedforward.
  std::vector<OffsetDistribution> distributions;
  bool continuous = false;  ///< targets go over from the start state's offsets, without jumps
};

class Iteration {
 public:
  /// The start states must outlive the iteration.
  Iteration(const Problem& problem, Draw draw, const std::vector<Node>& starts);

  void Simulate(parallel::TaskFarm& farm);
  /// What Simulate found and Select needed: of the same iteration, in place of Simulate.
  parallel::Bytes Store() const;
  void Restore(const parallel::Bytes& bytes);
  /// The saved samples; those inside the gates where there are any and the search keeps to them.
  std::vector<Node> Select();

  IterationRecord record;

 private:
  bool Inside(const SampleRecord& entry) const;
  double CostOf(const SampleRecord& entry) const;
  /// The displacement that samples of a start state keep a share of; empty: none.
  std::vector<Vec3> KeptOf(const Node& start) const;
  const OffsetDistribution& DistributionOf(size_t start) const;
  Offsets OffsetsOf(size_t sample) const;

  const Problem& problem_;
  const Draw draw_;
  const std::vector<Node>& starts_;
  std::vector<parallel::Bytes> tasks_;
  std::vector<size_t> undisplaced_;     // (start states) their candidate 0
  std::vector<size_t> task_start_;      // (tasks) index of the start state
  std::vector<int> task_first_;         // (tasks) first sample
  std::vector<Offsets> feedforward_;    // (tasks)
  std::vector<size_t> task_of_sample_;  // (samples)
  std::vector<character::State> ends_;  // (samples)
};

}  // namespace retrace::reconstruction
