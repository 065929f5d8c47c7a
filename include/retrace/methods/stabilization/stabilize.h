/// Feedback along a control, by the linear quadratic regulator of the motion that the control makes (Al Borno et al.
/// 2018, section 4.1).
#pragma once

#include <functional>
#include <string>

#include "retrace/control/feedback.h"
#include "retrace/methods/stabilization/linearize.h"

namespace retrace::stabilization {

/// How it ended.
enum class Status {
  kDone,
  kNotFinite,  ///< the regulator overflowed: the feedback is empty
  kStopped,    ///< by Hooks::stop: the same
};

struct Summary {
  Status status = Status::kDone;
  control::Feedback feedback;  ///< without the hashes of what it belongs to
  size_t simulations = 0;      ///< of an interval each
  double largest_gain = 0;     ///< [N m per unit of the difference]
  double simulation_cpu_seconds = 0;
  double regulator_cpu_seconds = 0;

  /// One line for people, without a line end.
  std::string BriefReport() const;
};

/// What is called during the work, on the thread that called Run; each function may be empty.
struct Hooks {
  std::function<void(double share)> on_progress = {};  ///< receives what is done, from 0 to 1
  std::function<bool()> stop = {};                     ///< whether to stop here
};

/// The weights of the regulator.
optimization::QuadraticCost CostOf(const character::Character& character, const Options& options);

/// Whether a joint has two ends of limbs or more on both of its sides (joints): of a human the waist.
std::vector<bool> TrunkJoints(const character::Character& character);

/// The workers of the farm come from MakeWorkerFactory. Throws std::invalid_argument for a nominal motion that
/// diverged.
Summary Run(const Problem& problem, parallel::TaskFarm& farm, const Hooks& hooks = {});

}  // namespace retrace::stabilization
