/// A segment of a motion that takes milliseconds: the human goes on standing.
#pragma once

#include <cmath>
#include <vector>

#include "retrace/planning/segments/frame_sequence.h"
#include "retrace/planning/segments/joined_control.h"
#include "retrace/planning/segments/segment_search.h"
#include "task/synthetic_motion.h"

namespace retrace::runs {

/// What a SegmentProblem of it points at.
struct StandingSegment {
  explicit StandingSegment(double seconds) : poses(Sampled(task::Standing, seconds)) {
    character::ForwardKinematics(task::Human(), poses.front(), start);
    world.time_step = 1.0 / 120;
    configuration.sampling.samples = 20;
    configuration.sampling.selection.saved = 5;
    configuration.sampling.refinement.passes = 0;
    configuration.sampling.max_back_offs = 0;
  }

  static std::vector<character::Pose> Sampled(const task::Course& course, double seconds) {
    return task::Sampled(course, seconds, kCompositionFrame);
  }

  SegmentProblem problem(int first_step = 0) const {
    return {.character = task::Human(),
            .world = world,
            .start = start,
            .first_step = first_step,
            .poses = poses,
            .configuration = configuration,
            .threads = 1};
  }

  std::vector<character::Pose> poses;
  character::State start;
  simulation::WorldOptions world;
  Configuration configuration = CompositionConfiguration();
};

/// Fragments without gaps from a step on.
inline void ExpectWithoutGaps(const std::vector<control::Fragment>& fragments, int first_step, int end_step) {
  for (const control::Fragment& fragment : fragments) {
    EXPECT_EQ(fragment.first_step, first_step);
    first_step = fragment.end_step();
  }
  EXPECT_EQ(first_step, end_step);
}

}  // namespace retrace::runs
