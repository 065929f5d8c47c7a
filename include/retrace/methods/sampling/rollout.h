/// One sample: a displacement of the targets, its simulation from a start state, its cost. The worker's side of the
/// search (Liu et al. 2010, algorithm 2).
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "retrace/control/control.h"
#include "retrace/methods/sampling/problem.h"
#include "retrace/methods/sampling/proposal.h"
#include "retrace/metrics/gates.h"
#include "retrace/parallel/task_farm.h"
#include "retrace/task/cost.h"

namespace retrace::sampling {

/// Fragment number `index` of the schedule with targets offset * reference. With `ramp_from`, the offsets of the
/// fragment before, the targets go over from them (Options::ramp); without, they jump.
control::Fragment MakeFragment(const Problem& problem, int index, const Offsets& offsets,
                               const std::optional<Offsets>& ramp_from = {});

/// Samples of one start state, which are simulated together because they share the center of their proposal. The
/// simulation from which the center follows is the start state's candidate 0, the undisplaced one, so that nSample
/// counts all simulations of an iteration.
struct RolloutTask {
  int iteration = 0;     ///< of the search; the random numbers follow from it
  int fragment = 0;      ///< of the schedule
  int first_sample = 0;  ///< the undisplaced sample of the start state can only be the first
  int num_samples = 0;
  character::State start;
  Proposal proposal = {};  ///< with its center when another task of the start state has found it
};

/// How often a sample is compared with the tolerances [s]: more seldom than they are judged, for the sake of speed.
inline constexpr double kGateInterval = 0.025;

/// The weights of the joints in the pose term (Liu et al. 2010, eq. 2, w_i): the character's, times random factors that
/// follow from the seed (Options::joint_weight_spread) (joints).
std::vector<double> JointWeights(const character::Character& character, const Options& options);

struct RolloutSample {
  bool diverged = false;
  task::CostTerms terms;
  /// The largest metrics::LargestGateRatio of the end state and of states kGateInterval apart before it.
  double gate_ratio = 0;
  character::State end;     ///< empty when it diverged
  std::vector<Vec3> turns;  ///< (joints) of its offsets from those of the path, of guided samples that did not diverge
};

struct RolloutResult {
  std::optional<Offsets> center;       ///< of the start state's proposal; absent when the task had it
  double cpu_seconds = 0;              ///< of the task; for reports only, no result depends on it
  std::vector<RolloutSample> samples;  ///< (num_samples)
};

/// Simulates and evaluates tasks. Belongs to one thread.
class RolloutWorker {
 public:
  explicit RolloutWorker(const Problem& problem);
  void Run(const RolloutTask& task, RolloutResult& result);
  /// The same for several tasks of one iteration and fragment, with as many samples side by side as are fastest on this
  /// processor; the CPU time of all is that of the first result. Results do not depend on what runs beside what.
  void Run(std::span<const RolloutTask> tasks, std::vector<RolloutResult>& results);
  /// Simulates fragments of the same steps, among the other characters, without comparing them with anything.
  void SimulateEnds(std::span<control::FragmentRun> runs);

 private:
  /// The rates of all joints at one instant (joints), in the parents' axes [rad/s].
  using Rates = std::vector<Vec3>;

  /// Finds what the samples of a fragment are compared with, once for the tasks of one after the other. (Kept of all
  /// fragments, in every worker, it would be most of the memory of a search of minutes.)
  void FindReference(int fragment);
  /// A sample to simulate.
  struct Job {
    const RolloutTask* task = nullptr;
    control::Fragment fragment;
    RolloutSample* sample = nullptr;
  };
  /// How the rates of a sample change while it is simulated.
  struct Watch {
    Rates rates;         // at the last instant
    size_t before = 0;   // that instant
    double changes = 0;  // of rates, against the reference's [rad/s]
  };

  void Simulate(std::span<const Job> jobs);
  void SimulateAlone(const Job& job);
  void SimulateTogether(std::span<const Job> jobs);
  template <typename Observer>
  bool SimulateOne(const character::State& start, const control::Fragment& fragment, character::State& end,
                   const Observer& observe);
  /// Side by side, where that is possible.
  size_t Lanes(size_t runs);
  void Begin(const Job& job, Watch& watch);
  void Observe(const Job& job, const simulation::World& world, int step, Watch& watch);
  void End(const Job& job, const Watch& watch);
  void RatesOf(const character::State& state, Rates& rates) const;

  const Problem& problem_;
  simulation::World world_;
  std::optional<simulation::WorldLanes> lanes_;   // from the first time on that samples run side by side
  std::vector<control::OpenLoop> open_loops_;     // (other characters)
  std::vector<control::Controller*> companions_;  // (other characters)
  std::vector<double> joint_weights_;             // (joints) of the pose term
  int gate_steps_;                                // kGateInterval [simulation steps]
  // State of one fragment.
  int fragment_ = -1;
  std::optional<task::CostReference> reference_;  // at its end
  std::vector<metrics::GateComparison> gates_;    // (instants) gate_steps_ apart, last first
  std::vector<Rates> reference_rates_;            // (instants) the same, and the start last
  // Scratch.
  character::State now_;
  Rates rates_now_;
  std::vector<Watch> watches_;  // (lanes)
  std::vector<control::FragmentRun> runs_;
  std::vector<Job> jobs_;
  control::SimulationScratch scratch_;
  control::LanesScratch lanes_scratch_;
};

/// The same as bytes, for the task farm: one after the other. Unpacking throws std::logic_error for bytes that are too
/// few or too many.
void Pack(const RolloutTask& task, parallel::Bytes& bytes);
std::vector<RolloutTask> UnpackTasks(std::span<const std::byte> bytes, const Problem& problem);
void Pack(const RolloutResult& result, parallel::Bytes& bytes);
/// The memory of `results` is used again.
void UnpackResults(std::span<const std::byte> bytes, const Problem& problem, std::vector<RolloutResult>& results);

}  // namespace retrace::sampling
