#include "retrace/methods/sampling/summary.h"

#include <algorithm>

#include "retrace/io/number.h"

namespace retrace::sampling {

std::string Summary::BriefReport() const {
  const auto count = [](size_t n, const char* one, const char* many) {
    return std::to_string(n).append(" ").append(n == 1 ? one : many);
  };
  std::string text = Name(ending).append(": ");
  text.append(count(control.fragments.size(), "fragment", "fragments")).append(" of control with path cost ");
  text.append(io::Fixed(path_cost, 2)).append("; ");
  text.append(count(iterations.size(), "iteration", "iterations")).append(", ");
  text.append(count(rollouts, "rollout", "rollouts")).append(", ");
  text.append(io::Fixed(simulated_seconds, 1)).append(" simulated seconds, ");
  text.append(count(static_cast<size_t>(back_offs), "back-off", "back-offs"));
  if (restarted())
    text.append(", begun once more after ").append(count(static_cast<size_t>(restarted_at), "iteration", "iterations"));
  if (refinement.empty()) return text;
  text.append(", ").append(count(refinement.size(), "refinement pass", "refinement passes"));
  const double before = refinement.front().cost_before;
  const double gain = before > 0 ? 1 - refinement.back().cost / before : 0;
  return text.append(" to ").append(io::Fixed(100 * (1 - gain), 0)).append(" % of the cost");
}

}  // namespace retrace::sampling
