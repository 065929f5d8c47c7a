/// One iteration of the search: which samples start from which saved state, simulated and selected.
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "guidance.h"
#include "retrace/methods/sampling/problem.h"
#include "retrace/methods/sampling/proposal.h"
#include "retrace/methods/sampling/rollout.h"
#include "retrace/methods/sampling/summary.h"
#include "retrace/parallel/scheduler.h"
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
  /// A refinement has it instead of distributions: samples go over from the start state's offsets without jumps, and
  /// are ranked by the guidance, whose path is the last of the start states and stays among those that are saved.
  const Guidance* guidance = nullptr;
};

/// What an iteration simulated, beside its record.
struct Simulated {
  std::vector<std::shared_ptr<const Proposal>> proposals;      // (start states with samples) with their centers
  std::vector<std::shared_ptr<const character::State>> saved;  // (samples) end states; null: not saved
};

/// Memory that one iteration after the other uses.
struct IterationMemory {
  std::vector<character::State> ends;  // (samples) until they are saved
  std::vector<RolloutResult> results;
};

/// As bytes for a store, with the end states of saved samples alone. The memory of `bytes` is used again.
void Store(const IterationRecord& record, const Simulated& simulated, parallel::Bytes& bytes);

class Iteration final : private parallel::Work {
 public:
  /// The start states and the memory must outlive the iteration.
  Iteration(const Problem& problem, IterationPlan plan, const std::vector<Node>& starts, IterationMemory& memory);

  /// `while_busy` is called when the workers have something to do.
  void Simulate(parallel::TaskFarm& farm, const std::function<void()>& while_busy = {});
  /// What Store wrote of the same iteration, instead of Simulate.
  void Restore(const parallel::Bytes& bytes);
  /// The saved samples; those within tolerance where there are any and the search keeps to them.
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
  size_t num_tasks() const override { return tasks_.size(); }
  /// What a task has of the shares.
  std::vector<Share> SharesOf(size_t task) const;
  parallel::Bytes Pack(size_t task) override;
  void Handle(size_t task, std::span<const std::byte> bytes) override;
  void WhileBusy() override {
    MakeRoom();
    if (while_busy_) while_busy_();
  }
  /// For what is simulated.
  void MakeRoom();

  /// The node of the path that is refined.
  Node PathNode() const;
  bool Inside(const SampleRecord& entry) const;
  void SetCost(SampleRecord& entry) const;
  /// Sums over all samples, whose records may be forgotten.
  void SummarizeCosts();

  const Problem& problem_;
  const IterationPlan plan_;
  const std::vector<Node>& starts_;
  std::function<void()> while_busy_;
  std::vector<Share> shares_;
  std::vector<std::vector<parallel::Part>> tasks_;  // of shares; samples of a task are simulated side by side
  /// (start states with samples) each without a center until a task has found it
  std::vector<std::shared_ptr<Proposal>> proposals_;
  std::vector<Guidance::Start> guided_starts_;  // (start states with samples) of a refinement
  IterationMemory& memory_;
  std::vector<std::shared_ptr<const character::State>> saved_;  // (samples)
};

}  // namespace retrace::sampling
