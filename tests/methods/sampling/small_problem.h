/// A reconstruction that takes a fraction of a second.
#pragma once

#include <utility>

#include "retrace/methods/sampling/problem.h"
#include "task/synthetic_motion.h"

namespace retrace::sampling {

/// The options of a task and of the search for its control.
struct Configuration {
  task::Options task;
  Options sampling;
};

inline Configuration SmallConfiguration() {
  Configuration configuration;
  configuration.sampling.samples = 60;
  configuration.sampling.selection.saved = 12;
  configuration.sampling.refinement.passes = 0;
  configuration.task.world.time_step = 1.0 / 120;
  return configuration;
}

/// The problem of a motion, with what it refers to.
class SmallProblem {
 public:
  /// A configuration has the options of the task and of the sampling.
  template <typename AnyConfiguration>
  SmallProblem(const AnyConfiguration& configuration, const task::Course& course, double duration)
      : reference_(task::Motion(course, duration)),
        preparation_(task::Prepare(configuration.task, reference_)),
        problem_{preparation_.task, configuration.sampling} {}
  SmallProblem(const SmallProblem&) = delete;
  SmallProblem& operator=(const SmallProblem&) = delete;

  const Problem& problem() const { return problem_; }
  const character::ReferenceMotion& reference() const { return reference_; }
  const task::Preparation& preparation() const { return preparation_; }

 private:
  character::ReferenceMotion reference_;
  task::Preparation preparation_;
  Problem problem_;
};

}  // namespace retrace::sampling
