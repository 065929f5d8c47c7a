#include "retrace/methods/stabilization/options.h"

namespace retrace::stabilization {

std::optional<std::string> Options::Validate() const {
  return io::FindProblem(*this);
}

std::optional<std::string> GrowthOptions::Validate() const {
  if (smallest_force > largest_force) return "/growth/smallest_force is above /growth/largest_force";
  return io::FindProblem(*this);
}

}  // namespace retrace::stabilization
