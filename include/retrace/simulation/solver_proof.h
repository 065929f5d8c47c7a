/// Whether the project's own solver does what ODE's does, in this build and on this machine.
#pragma once

#include <optional>
#include <string>

namespace retrace::simulation {

/// Steps a small character with ball joint, hinge, servos, ground and self contact with both solvers. Nothing when the
/// velocities agree, otherwise what does not.
std::optional<std::string> ProveTreeSolver();

/// Why the reduced solver is not in use on this machine, or empty when it is: what the proof found, which is made once.
std::string WhyStockSolver();

}  // namespace retrace::simulation
