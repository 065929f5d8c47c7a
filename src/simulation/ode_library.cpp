#include "ode_library.h"

#include <cstdarg>
#include <mutex>
#include <stdexcept>

namespace retrace::simulation {
namespace {

/// ODE reports broken states (not-a-number quaternions) through these handlers and would abort the process; a diverged
/// rollout is a value, so they throw and a step turns that into `false`.
[[noreturn]] void ThrowOdeError(int, const char* message, va_list) {
  throw std::runtime_error(message);
}
void IgnoreOdeMessage(int, const char*, va_list) {}

}  // namespace

void InitializeOde() {
  static std::once_flag once;
  std::call_once(once, [] {
    dInitODE2(0);
    dSetErrorHandler(ThrowOdeError);
    dSetDebugHandler(ThrowOdeError);
    dSetMessageHandler(IgnoreOdeMessage);
  });
  dAllocateODEDataForThread(dAllocateMaskAll);
}

}  // namespace retrace::simulation
