/// A reconstruction that takes a fraction of a second.
#pragma once

#include <utility>

#include "reconstruction/synthetic_motion.h"
#include "retrace/reconstruction/configuration.h"

namespace retrace::reconstruction {

inline Configuration SmallConfiguration() {
  Configuration configuration;
  configuration.search.samples = 60;
  configuration.search.selection.saved = 12;
  configuration.smoothing.passes = 0;
  configuration.world.time_step = 1.0 / 120;
  return configuration;
}

/// The problem of a motion, with what it refers to.
class SmallProblem {
 public:
  SmallProblem(const Configuration& configuration, const Course& course, double duration)
      : reference_(Motion(course, duration)), preparation_(Prepare(configuration, reference_)) {}
  SmallProblem(const SmallProblem&) = delete;
  SmallProblem& operator=(const SmallProblem&) = delete;

  const Problem& problem() const { return preparation_.problem; }
  const character::ReferenceMotion& reference() const { return reference_; }
  const Preparation& preparation() const { return preparation_; }

 private:
  character::ReferenceMotion reference_;
  Preparation preparation_;
};

}  // namespace retrace::reconstruction
