/// Motions that are written down, as problems of tracking.
#pragma once

#include "retrace/methods/tracking/problem.h"
#include "task/synthetic_motion.h"

namespace retrace::tracking {

/// A motion to track, with what the problem refers to.
class SampleCourse {
 public:
  SampleCourse(const task::Course& course, double duration, const Options& options = {})
      : reference_(task::Motion(course, duration)),
        prepared_(PrepareReference(reference_, {}, simulation::WorldOptions(), options)),
        problem_{task::Prepare({}, reference_).task, &prepared_.motion, options} {
    problem_.task.world.contact_scale.clear();
  }
  SampleCourse(const SampleCourse&) = delete;
  SampleCourse& operator=(const SampleCourse&) = delete;

  const Problem& problem() const { return problem_; }

 private:
  character::ReferenceMotion reference_;
  PreparedReference prepared_;
  Problem problem_;
};

}  // namespace retrace::tracking
