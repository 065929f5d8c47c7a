/// Counts allocations at malloc itself, which C++ and C libraries both end in. For the one source file of a test
/// program.
#pragma once

#include <atomic>
#include <cstddef>

#if defined(RETRACE_SANITIZED) || !defined(__GLIBC__)
#define RETRACE_COUNTS_MALLOC 0  // sanitizers have a malloc of their own
#else
#define RETRACE_COUNTS_MALLOC 1
namespace {
std::atomic<size_t> allocations{0};
}
extern "C" {
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* memory, size_t size);
void* __libc_memalign(size_t alignment, size_t size);
void* malloc(size_t size) {
  ++allocations;
  return __libc_malloc(size);
}
void* calloc(size_t count, size_t size) {
  ++allocations;
  return __libc_calloc(count, size);
}
void* realloc(void* memory, size_t size) {
  ++allocations;
  return __libc_realloc(memory, size);
}
void* memalign(size_t alignment, size_t size) {
  ++allocations;
  return __libc_memalign(alignment, size);
}
void* aligned_alloc(size_t alignment, size_t size) {
  ++allocations;
  return __libc_memalign(alignment, size);
}
}
#endif
