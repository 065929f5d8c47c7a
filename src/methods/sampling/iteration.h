/// One iteration of the search: which samples start from which saved state, simulated and selected.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "retrace/methods/sampling/search.h"
#include "retrace/parallel/task_farm.h"
#include "tree.h"

namespace retrace::sampling {

/// What an iteration draws, and by what it judges.
struct IterationPlan {
  int iteration = 0;
  int fragment = 0;
  int samples = 0;
  SelectionOptions selection;
  task::CostWeights weights;
  std::vector<OffsetDistribution> distributions;  ///< at least one; start states take turns between them
  bool ramps = false;                             ///< targets go over from the start state's offsets, without jumps
};

/// What an iteration simulated, beside its record.
struct Simulated {
  std::vector<Offsets> centres;        // (start states with samples) of their proposals
  std::vector<character::State> ends;  // (samples)
};

/// As bytes for a store, with the end states of saved samples alone.
parallel::Bytes Store(const IterationRecord& record, const Simulated& simulated);

class Iteration final : private parallel::DivisibleWork {
 public:
  /// The start states must outlive the iteration.
  Iteration(const Problem& problem, IterationPlan plan, const std::vector<Node>& starts);

  /// `while_busy` is called when the workers have something to do.
  void Simulate(parallel::TaskFarm& farm, const std::function<void()>& while_busy = {});
  /// What Store wrote of the same iteration, in place of Simulate.
  void Restore(const parallel::Bytes& bytes);
  /// The saved samples; those inside the gates where there are any and the search keeps to them.
  std::vector<Node> Select();
  /// After Select: nothing but the record is left.
  Simulated TakeSimulated();

  IterationRecord record;

 private:
  /// A start state's samples, or some of them.
  struct Share {
    size_t start = 0;  ///< index of the start state
    size_t first = 0;  ///< sample
    size_t count = 0;
  };
  /// Shares that follow one another and are simulated side by side; its units are samples.
  struct Task {
    size_t first_share = 0;
    size_t num_shares = 0;
    size_t count = 0;
  };

  size_t num_tasks() const override { return tasks_.size(); }
  size_t num_units(size_t task) const override { return tasks_[task].count; }
  /// What a part of a task has of its shares.
  std::vector<Share> SharesOf(const parallel::Part& part) const;
  parallel::Bytes Pack(const parallel::Part& part) override;
  void Handle(const parallel::Part& part, std::span<const std::byte> bytes) override;
  void WhileBusy() override {
    if (while_busy_) while_busy_();
  }

  bool Inside(const SampleRecord& entry) const;
  void SetCost(SampleRecord& entry) const;
  /// Of all samples, whose records may be forgotten.
  void SummarizeCosts();

  const Problem& problem_;
  const IterationPlan plan_;
  const std::vector<Node>& starts_;
  std::function<void()> while_busy_;
  std::vector<Share> shares_;
  std::vector<Task> tasks_;
  std::vector<Proposal> proposals_;     // (start states with samples) each without a centre until a task has found it
  std::vector<character::State> ends_;  // (samples)
};

}  // namespace retrace::sampling
