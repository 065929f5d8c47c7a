#include "retrace/methods/stabilization/options.h"

namespace retrace::stabilization {

std::optional<std::string> Options::Validate() const {
  return io::FindProblem(*this);
}

}  // namespace retrace::stabilization
