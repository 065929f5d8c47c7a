/// Trials over many random cases are short where every change is tested, and long where RETRACE_LONG_TRIALS is set:
///
///     RETRACE_LONG_TRIALS=1 scripts/test -R 'AMillionPrograms|StepsLikeOdeInAnyState'
#pragma once

#include <cstdlib>

namespace retrace {

inline bool LongTrials() {
  return std::getenv("RETRACE_LONG_TRIALS") != nullptr;
}

}  // namespace retrace
