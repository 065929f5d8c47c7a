/// Whether the project's own solver does what ODE's does, in this build and on this machine.
#pragma once

#include <optional>
#include <string>

namespace retrace::simulation {

/// Steps a small character with ball joint, hinge, servos, ground and self contact with both solvers. Nothing when the
/// velocities agree, otherwise what does not.
std::optional<std::string> ProveTreeSolver();

}  // namespace retrace::simulation
