/// After an impact that no motion leads on from, a character falls, and gets up as a recorded motion does (Liu et al.
/// 2010, section 4). Internal to the module.
#pragma once

#include <vector>

#include "retrace/planning/response/impact_simulation.h"
#include "retrace/planning/response/response_problem.h"
#include "retrace/planning/segments/segment_search.h"

namespace retrace::runs {

/// What precedes the motion of a candidate: a fall, and a drive to the pose in which the motion is entered.
struct Lead {
  std::vector<control::Fragment> fragments;
  std::vector<character::State> states;  ///< of the character, from its beginning on, that of its end left out
  character::State end;                  ///< of all in the world
  int end_step = 0;
};

struct GetUpPlan {
  ResponseCandidate candidate;
  Lead lead;
};

/// How a body lies decides how it can get up. So several falls are simulated. From each, servos drive to the poses of
/// the library that are nearest and from which a motion gets up; the nearest result comes first.
/// @param from where the run's own control ends; its poses do not count
/// @param most plans, all by different motions
std::vector<GetUpPlan> PlanGetUps(const ImpactSimulation& struck, const SegmentProblem& from, size_t most);

}  // namespace retrace::runs
