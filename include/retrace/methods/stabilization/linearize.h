/// How a motion goes on when it is a little different: the linear system along a control, by central differences of the
/// simulation itself (Al Borno et al. 2018, equation 12).
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "retrace/control/control.h"
#include "retrace/control/feedback.h"
#include "retrace/methods/stabilization/options.h"
#include "retrace/optimization/linear_quadratic.h"
#include "retrace/parallel/task_farm.h"

namespace retrace::stabilization {

/// The motion that a control makes, at its nodes.
struct Nominal {
  int first_step = 0;
  int num_steps = 0;                     ///< from the first one on
  int interval = 0;                      ///< [steps]
  std::vector<character::State> states;  ///< (nodes + 1) of the whole world, as a controller sees it
  bool diverged = false;                 ///< then there are fewer

  int num_nodes() const { return (num_steps + interval - 1) / interval; }
};

/// A control that is to be stabilized. Immutable while the method runs. What it points to must outlive it.
struct Problem {
  const character::Character* character = nullptr;
  const control::OpenLoopControl* control = nullptr;
  std::vector<control::Push> pushes;  ///< under which it makes its motion; none for most
  Options options;
  Nominal nominal;
  /// With full servos (Options::full_servos) the control in that form; else empty.
  std::vector<control::Fragment> full_servos;

  /// What is fed back upon.
  std::span<const control::Fragment> disturbed() const {
    return full_servos.empty() ? control->fragments : full_servos;
  }
};

/// Simulates the control. Throws UsageError for options that are not valid and for a control without any step.
Problem MakeProblem(const character::Character& character, const control::OpenLoopControl& control,
                    std::vector<control::Push> pushes, const Options& options);

/// Largest torques about each axis of the joints (m): those of the servos for a turn of their targets [N m].
Eigen::VectorXd TorquesOfTurn(const character::Character& character, double turn);

/// Finds the linear systems of nodes `first` to `end` (without it), from that node to the next, with torques in N m.
/// The same bytes for any number of workers, which come from MakeWorkerFactory.
/// @param receive gets each of them, in the order in which they finish
/// @param cpu_seconds is increased by what the simulations took
void Linearize(const Problem& problem, parallel::TaskFarm& farm, int first, int end,
               const std::function<void(int node, optimization::LinearStep step)>& receive, double& cpu_seconds);

/// Makes workers for a farm. The problem must outlive them.
parallel::WorkerFactory MakeWorkerFactory(const Problem& problem);

}  // namespace retrace::stabilization
