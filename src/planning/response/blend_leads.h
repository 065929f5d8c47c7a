/// What may lead to a kinematic transition besides servos: feedback along a motion until it is lost, or a fall.
/// Internal to the module.
#pragma once

#include <memory>
#include <vector>

#include "retrace/planning/response/impact_simulation.h"
#include "retrace/planning/response/response_problem.h"

namespace retrace::runs {

/// The receiver is simulated from the beginning on.
struct SimulatedLead {
  std::vector<control::Fragment> fragments;  ///< from the exit on
  std::vector<character::State> states;      ///< (steps + 1) of the receiver alone
};

/// A candidate, and what leads there; nothing where servos or its own control do.
struct LedCandidate {
  ResponseCandidate candidate;
  std::shared_ptr<const SimulatedLead> lead;
};

/// By how much a candidate is expected to show [m]: its gap, and what it hides, more than half of the impulse most.
double ExpectedFault(const ImpactSimulation& struck, const ResponseCandidate& candidate);

/// The receiver with these fragments from the exit on, among all in the world.
std::shared_ptr<const SimulatedLead> SimulateLead(const ImpactSimulation& struck,
                                                  std::vector<control::Fragment> fragments, int end);

/// Instants of a lead at which a motion may be entered: those where the two differ least, as a blend hides it. The
/// motion may be entered some tenths of a second earlier or later than it was followed.
/// @param followed at its start time the lead was to be at its time in the motion
/// @param from, to steps of the lead between which it may be entered
/// @param shift by which the motion may be entered earlier or later [s]
/// @param most instants
std::vector<LedCandidate> NearestInstants(const ImpactSimulation& struck,
                                          const std::shared_ptr<const SimulatedLead>& lead,
                                          const ResponseCandidate& followed, int from, int to, double shift,
                                          size_t most);

}  // namespace retrace::runs
