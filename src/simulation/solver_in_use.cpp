#include "retrace/simulation/solver_in_use.h"

#include <cstdlib>
#include <string_view>

#include "retrace/simulation/solver_proof.h"
#include "retrace/simulation/world.h"

namespace retrace::simulation {

std::string WhyNotReduced() {
  const char* variable = std::getenv("RETRACE_SOLVER_SELF_TEST");
  if (variable != nullptr && std::string_view(variable) == "fail") return "RETRACE_SOLVER_SELF_TEST is set to fail";
  return simulation::WhyStockSolver();
}

Solver SolverInUse(const WorldOptions& options) {
  return WhyNotReduced().empty() ? options.solver : Solver::kStock;
}

std::string NameOfSolver(const WorldOptions& options) {
  return SolverInUse(options) == Solver::kStock ? "stock" : "reduced";
}

std::string DescribeSolver(const WorldOptions& options) {
  if (options.solver == Solver::kStock) return "stock, as configured";
  const std::string why = WhyNotReduced();
  return why.empty() ? "reduced" : "stock: " + why;
}

std::string SolverWarning(const WorldOptions& options) {
  if (SolverInUse(options) == options.solver) return "";
  return "the self-test of the reduced solver failed, so the stock solver is used, which is slower and gives other "
         "bits: " +
         WhyNotReduced();
}

}  // namespace retrace::simulation
