#include "retrace/methods/sampling/options.h"

namespace retrace::sampling {

std::optional<std::string> Options::Validate() const {
  if (auto problem = io::FindProblem(*this)) return problem;
  if (selection.saved > samples) {
    return "/search/saved: found " + std::to_string(selection.saved) + ", expected at most /search/samples, which is " +
           std::to_string(samples);
  }
  if (restart.samples > samples && restart.saved > restart.samples) {
    return "/restart/saved: found " + std::to_string(restart.saved) + ", expected at most /restart/samples, which is " +
           std::to_string(restart.samples);
  }
  return std::nullopt;
}

}  // namespace retrace::sampling
