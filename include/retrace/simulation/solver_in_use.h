/// Which solver finds the constraint forces in this process. The reduced solver proves itself once per process against
/// ODE's stock step; where that fails, every world uses the stock step instead, whose results differ in their bits.
/// A run therefore names the solver that it used, and ranks that use different ones are refused.
#pragma once

#include <string>

#include "retrace/simulation/world_options.h"

namespace retrace::simulation {

/// Why the reduced solver is not used in this process; empty: it is. This is simulation::WhyStockSolver(), or a message
/// when the environment variable RETRACE_SOLVER_SELF_TEST is `fail`: runs then behave as if the self-test had failed.
/// The variable is read here alone, and is for tests of that case.
std::string WhyNotReduced();

/// The solver that a world with these options really uses here.
Solver SolverInUse(const WorldOptions& options);

/// Its name: "reduced" or "stock".
std::string NameOfSolver(const WorldOptions& options);

/// For the manifest: "reduced", "stock, as configured", or "stock: " and why.
std::string DescribeSolver(const WorldOptions& options);

/// A line for people where the solver in use is not the one that the options ask for; empty where it is.
std::string SolverWarning(const WorldOptions& options);

}  // namespace retrace::simulation
