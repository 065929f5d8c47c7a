/// Growth of a tree of feedback around a control (Al Borno et al. 2018, section 4.2 and algorithm 1): the motion is
/// pushed at random, and where the feedback with the present tree does not bring it back, a path back is searched for
/// and becomes a branch.
#pragma once

#include <functional>
#include <vector>

#include "retrace/control/feedback_tree.h"
#include "retrace/math/random.h"
#include "retrace/methods/stabilization/linearize.h"
#include "retrace/methods/stabilization/options.h"
#include "retrace/metrics/gates.h"
#include "retrace/parallel/task_farm.h"

namespace retrace::stabilization {

/// What a tree is grown around. Immutable while the method runs. What it points to must outlive it.
struct TreeProblem {
  const Problem* problem = nullptr;  ///< with which the feedback was made
  const control::Feedback* feedback = nullptr;
  GrowthOptions growth;
  ReindexingOptions reindexing;
  metrics::GateLimits gates;  ///< of the human, about the motion of the control
  int body = 0;               ///< that is pushed
};

/// The push of a state, a pure function of seed and number: horizontal, on a node of the control.
control::Push PushOf(const TreeProblem& problem, int state);

/// The spline of torques, in turns of the servos' targets: knots (m x knots) are spread evenly from its first node to
/// its last one of `nodes`. Linear, or cubic with the slopes of Catmull and Rom. Writes those at a node (m).
void SplineAt(const Eigen::Ref<const Eigen::MatrixXd>& knots, bool cubic, int node, int nodes,
              Eigen::Ref<Eigen::VectorXd> value);

struct GrowthSummary {
  bool stopped = false;              ///< by Hooks::stop
  bool is_full = false;              ///< the branches that were asked for are there
  double search_cpu_seconds = 0;     ///< of pushes and of searches
  double linearize_cpu_seconds = 0;  ///< of the control and of branches
};

struct GrowthHooks {
  std::function<void(const control::FeedbackTree& tree)> on_batch = {};  ///< after each batch of states
  std::function<bool()> stop = {};
};

/// Grows a tree, which may have grown before, until so many branches are there or so many states were tried. What
/// results is the same for any number of workers, which come from MakeTreeWorkerFactory, and wherever it was
/// interrupted between two batches.
GrowthSummary GrowTree(const TreeProblem& problem, parallel::TaskFarm& farm, int branches, int states,
                       control::FeedbackTree& tree, const GrowthHooks& hooks = {});

/// Makes workers for a farm. The problem must outlive them.
parallel::WorkerFactory MakeTreeWorkerFactory(const TreeProblem& problem);

}  // namespace retrace::stabilization
