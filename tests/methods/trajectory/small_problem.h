/// A problem of windows that takes a fraction of a second.
#pragma once

#include "retrace/methods/trajectory/problem.h"
#include "task/synthetic_motion.h"

namespace retrace::trajectory {

/// Two and a half windows of 0.2 s, a few iterations each.
inline Options SmallOptions() {
  Options options;
  options.window = 0.2;
  options.knots = 3;
  options.population = 12;
  options.budget = 120;
  return options;
}

/// The problem of a motion, with what it refers to.
class SmallProblem {
 public:
  explicit SmallProblem(const Options& options = SmallOptions(), const task::Course& course = task::Squatting,
                        double duration = 0.5)
      : reference_(task::Motion(course, duration)),
        preparation_(task::Prepare(TaskOptions(), reference_)),
        problem_{preparation_.task, options} {}
  SmallProblem(const SmallProblem&) = delete;
  SmallProblem& operator=(const SmallProblem&) = delete;

  const Problem& problem() const { return problem_; }

 private:
  static task::Options TaskOptions() {
    task::Options options;
    options.world.time_step = 1.0 / 120;
    return options;
  }

  character::ReferenceMotion reference_;
  task::Preparation preparation_;
  Problem problem_;
};

}  // namespace retrace::trajectory
