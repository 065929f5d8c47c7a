#include "retrace/methods/idling/summary.h"

namespace retrace::idling {

std::string Name(Status status) {
  switch (status) {
    case Status::kReachedEnd:
      return "reached the end";
    case Status::kDeadEnd:
      return "dead end";
    default:
      return "stopped";
  }
}

}  // namespace retrace::idling
