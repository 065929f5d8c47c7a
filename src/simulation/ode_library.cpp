#include "ode_library.h"

#include <algorithm>
#include <cstdarg>
#include <cstdlib>
#include <mutex>
#include <new>
#include <stdexcept>

namespace retrace::simulation {
namespace {

/// ODE reports broken states (not-a-number quaternions) through these handlers and would abort the process; a diverged
/// rollout is a value, so they throw and a step turns that into `false`.
[[noreturn]] void ThrowOdeError(int, const char* message, va_list) {
  throw std::runtime_error(message);
}
void IgnoreOdeMessage(int, const char*, va_list) {}

/// ODE goes on with the null pointers that it gets where memory runs out.
void* Allocated(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void* AllocateForOde(dsizeint size) {
  return Allocated(std::malloc(std::max<size_t>(size, 1)));
}
void* ReallocateForOde(void* memory, dsizeint, dsizeint size) {
  return Allocated(std::realloc(memory, std::max<size_t>(size, 1)));
}

}  // namespace

void InitializeOde() {
  static std::once_flag once;
  std::call_once(once, [] {
    dSetAllocHandler(AllocateForOde);
    dSetReallocHandler(ReallocateForOde);
    if (dInitODE2(0) == 0) throw std::bad_alloc();
    dSetErrorHandler(ThrowOdeError);
    dSetDebugHandler(ThrowOdeError);
    dSetMessageHandler(IgnoreOdeMessage);
  });
  if (dAllocateODEDataForThread(dAllocateMaskAll) == 0) throw std::bad_alloc();
}

}  // namespace retrace::simulation
