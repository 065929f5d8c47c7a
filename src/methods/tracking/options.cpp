#include "retrace/methods/tracking/options.h"

namespace retrace::tracking {

std::optional<std::string> Options::Validate() const {
  return io::FindProblem(*this);
}

}  // namespace retrace::tracking
