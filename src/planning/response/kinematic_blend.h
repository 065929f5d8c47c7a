/// A recorded motion that is blended in behind a simulation (Zordan et al. 2005, section 3), and what that hides. It is
/// kinematic. Internal to the module.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "retrace/character/character.h"
#include "retrace/character/state.h"
#include "retrace/control/control.h"
#include "retrace/planning/response/response_problem.h"

namespace retrace::runs {

/// What is blended. All that it points at must outlive the call.
struct BlendProblem {
  const character::Character& character;
  double time_step = 0;  ///< [s]
  Blend blend = Blend::kMatched;
  int blow_step = 0;  ///< of the motion, at which the impact begins
  int exit_step = 0;  ///< before which no pose may take the place of what is simulated
  int step = 0;       ///< of the motion, at which the recorded motion is entered: T
  /// What is simulated up to there, the states of T and of the step before it last.
  std::span<const character::State> simulated;
  /// The recorded motion, put where it is shown: a time is counted from T, and may be negative [s].
  std::function<void(double time, character::Pose& pose)> motion;
  double duration = 0;  ///< of it, from T on [s]
};

/// The poses that are shown from the beginning of the blend on: for a linear one the recorded motion itself, which the
/// simulation goes over to by even shares between the impact and T; for a matched one what is simulated is shown up to
/// T, shortly before it by its poses alone, and the motion then begins with its pose and velocity, and their
/// differences fade away.
control::KinematicEnding BlendIn(const BlendProblem& problem);

/// Raises poses where a body would be in the floor, by a smooth curve, from nothing at the first pose on.
/// @return by how much at most [m]
double LiftOutOfFloor(const character::Character& character, control::KinematicEnding& ending);

/// Figures of it.
/// @param shown states of all steps of the motion, from step 0 on, as a replay shows them
/// @param simulated the same without the ending, at least as far as the blend begins and a step more
ResponseBlend MeasureBlend(const BlendProblem& problem, const control::KinematicEnding& ending,
                           std::span<const character::State> shown, std::span<const character::State> simulated);

}  // namespace retrace::runs
