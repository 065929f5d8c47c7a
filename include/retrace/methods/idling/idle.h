/// Idling between key poses without any recorded trajectory (Liu et al. 2010, section 3.3).
///
/// 1. Each key pose is simulated with soft servos until it rests on the furniture (relaxing).
/// 2. For each ordered pair of relaxed keys several paths are planned: a tree of simulated motions grows from the one,
///    by control targets in a tube about the spherical interpolation of the two, until it reaches the other. Each path
///    is simplified and smoothed as far as it still reaches the key.
/// 3. The player strings them together. It looks ahead from the actual state: of several continuations, which are
///    simulated with random noise on their targets, the first is played that stays where it belongs at every step.
///
/// The result is an open-loop control of any length.
#pragma once

#include "retrace/methods/idling/problem.h"
#include "retrace/methods/idling/summary.h"

namespace retrace::idling {

/// Throws UsageError for options or a world that cannot be used, InputError as Relax does, and where the keys rest on
/// different things.
Summary Run(const Problem& problem, const Hooks& hooks = {});

}  // namespace retrace::idling
