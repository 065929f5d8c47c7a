/// After a blow that no motion leads on from, a character falls, and gets up as a recorded motion does (Liu et al.
/// 2010, section 4). Internal to the module.
#pragma once

#include <vector>

#include "retrace/planning/response/impact_simulation.h"
#include "retrace/planning/response/response_problem.h"
#include "retrace/planning/segments/segment_search.h"

namespace retrace::runs {

/// What is done before the way of a candidate begins: a fall, and a drive to the pose in which its motion is entered.
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

/// How a body lies decides how it can get up. So it falls in some ways; from each servos go to those places of the
/// library that are nearest to how it lies, and from which a motion gets up; what they bring nearest comes first.
/// @param from where the run's own control ends; its poses do not count
/// @param most ways, all by different motions
std::vector<GetUpPlan> PlanGetUps(const ImpactSimulation& struck, const SegmentProblem& from, size_t most);

}  // namespace retrace::runs
