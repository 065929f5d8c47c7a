#include "retrace/methods/idling/options.h"

namespace retrace::idling {

std::optional<std::string> Options::Validate() const {
  if (auto problem = io::FindProblem(*this)) return problem;
  if (longest < shortest) return "the longest extension is shorter than the shortest";
  if (longest_hold < shortest_hold) return "the longest hold is shorter than the shortest";
  return std::nullopt;
}

}  // namespace retrace::idling
