/// One sample: a displacement of the targets, its simulation from a start state, its cost. The worker's side of the
/// search (Liu et al. 2010, algorithm 2).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "retrace/control/control.h"
#include "retrace/methods/sampling/problem.h"
#include "retrace/parallel/task_farm.h"
#include "retrace/task/cost.h"

namespace retrace::sampling {

/// Rotation that is put before the reference's target of each joint (joints).
using Offsets = std::vector<Quat>;

/// Offsets that leave the reference as it is.
Offsets NoOffsets(const Problem& problem);

/// Fragment number `index` of the schedule with targets offset * reference. With `previous` offsets, those of the
/// fragment before, the targets go over from them (SmoothingOptions::ramp); without, they jump.
control::Fragment MakeFragment(const Problem& problem, int index, const Offsets& offsets, const Offsets& previous = {});

/// Total offsets of a displaced sample: its random displacement, uniform in the character's windows, on top of the
/// feedforward offsets. With `kept` (joints), a share of that displacement goes into it (Options::correlation). A
/// pure function of (seed, iteration, sample).
Offsets SampleOffsets(const Problem& problem, int iteration, int sample, const Offsets& feedforward,
                      const std::vector<Vec3>& kept = {});

/// Where the offsets of a fragment are drawn from when they have been learned: independent normal distributions of the
/// components of each joint's rotation vector, in the parent's axes. Empty: uniform in the windows around feedforward.
struct OffsetDistribution {
  std::vector<Vec3> mean;       ///< (joints) [rad]
  std::vector<Vec3> deviation;  ///< (joints) standard deviations [rad]
  /// (joints) rotations to be met at the fragment's end. A start state's samples are then drawn around a mean that is
  /// corrected by what the mean misses from there (Options::correction). Empty: no correction.
  std::vector<Quat> goal;

  bool fitted() const { return !mean.empty(); }
};

/// Total offsets of a sample from a learned distribution. A pure function of (seed, iteration, sample) and it.
Offsets DrawOffsets(const Problem& problem, int iteration, int sample, const OffsetDistribution& distribution,
                    const std::vector<Vec3>& kept = {});
Offsets MeanOffsets(const OffsetDistribution& distribution);
/// The distribution with other means.
OffsetDistribution WithMean(const OffsetDistribution& distribution, const Offsets& means);

/// Samples of one start state, to be simulated together because they share the feedforward offsets. These come from
/// driving the servos at the reference itself; that simulation is the start state's candidate 0, the undisplaced one,
/// so that nSample counts all simulations of an iteration.
struct RolloutTask {
  int iteration = 0;  ///< of the search: its random numbers
  int fragment = 0;   ///< of the schedule: what is simulated
  int first_sample = 0;
  int num_samples = 0;
  bool has_undisplaced = true;  ///< the first sample is candidate 0; else these are further samples of its state
  character::State start;
  OffsetDistribution distribution = {};  ///< learned: candidate 0 has its mean, and there is no feedforward
  std::vector<Vec3> kept = {};           ///< displacement of the start state, see Options::correlation; empty: none
  Offsets previous = {};                 ///< of the fragment before, for targets without jumps; empty: with
  /// Those of RolloutResult when another task of the start state has found them; empty: to be found.
  Offsets feedforward = {};
};

/// How often a sample is compared with the gates [s]: more seldom than they are judged, for the sake of speed.
inline constexpr double kGateInterval = 0.025;

struct RolloutSample {
  bool diverged = false;
  task::CostTerms terms;
  double gate_ratio =
      0;  ///< largest metrics::LargestGateRatio of the end state and of states kGateInterval apart before it
  character::State end;  ///< empty when it diverged
};

struct RolloutResult {
  /// Of the start state; the corrected mean of a learned distribution with a goal. Empty when the task had them.
  Offsets feedforward;
  double cpu_seconds = 0;              ///< that the task took; for reports only, no result depends on it
  std::vector<RolloutSample> samples;  ///< (num_samples)
};

/// Simulates and evaluates tasks. Belongs to one thread.
class RolloutWorker {
 public:
  explicit RolloutWorker(const Problem& problem);
  void Run(const RolloutTask& task, RolloutResult& result);

 private:
  /// The rates of all joints at one instant (joints), in the parents' axes [rad/s].
  using Rates = std::vector<Vec3>;

  void Simulate(const RolloutTask& task, const control::Fragment& fragment, RolloutSample& sample);
  void RatesOf(const character::State& state, Rates& rates) const;
  Offsets CorrectedMeans(const OffsetDistribution& distribution, const Offsets& means,
                         const character::State& end) const;
  Offsets Feedforward(const control::Fragment& undisplaced, const character::State& end) const;

  const Problem& problem_;
  simulation::World world_;
  std::vector<task::CostReference> references_;                  // (fragments) at the end of each
  int gate_steps_;                                               // kGateInterval [simulation steps]
  std::vector<std::vector<character::State>> reference_states_;  // (fragments x instants) gate_steps_ apart, last first
  std::vector<std::vector<Rates>> reference_rates_;              // (fragments x instants) the same, and the start last
  character::State now_;                                         // scratch
  Rates rates_now_;                                              // scratch
  Rates rates_before_;                                           // scratch
  control::SimulationScratch scratch_;
};

/// The same as bytes, for the task farm.
parallel::Bytes Pack(const RolloutTask& task);
RolloutTask UnpackTask(std::span<const std::byte> bytes, size_t num_bodies);
void Pack(const RolloutResult& result, parallel::Bytes& bytes);
RolloutResult UnpackResult(std::span<const std::byte> bytes, size_t num_bodies);

/// Makes workers for a farm. The problem must outlive them.
parallel::WorkerFactory MakeWorkerFactory(const Problem& problem);

}  // namespace retrace::sampling
