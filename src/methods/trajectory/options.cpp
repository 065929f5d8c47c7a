#include "retrace/methods/trajectory/options.h"

namespace retrace::trajectory {

std::optional<std::string> Options::Validate() const {
  return io::FindProblem(*this);
}

}  // namespace retrace::trajectory
