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
  if (smoothing.empty()) return text;
  const auto accepted = std::count_if(smoothing.begin(), smoothing.end(), [](const auto& p) { return p.accepted; });
  text.append(", ").append(std::to_string(accepted)).append(" of ");
  return text.append(count(smoothing.size(), "smoothing pass", "smoothing passes")).append(" accepted");
}

}  // namespace retrace::sampling
