/// Loops that are compiled twice, for the x86-64 baseline (SSE2) and for AVX2. Each is a template on one of two vector
/// types, inlined into one function of either kind (Compiled). Where every element sees the same operations in the same
/// order, and none is a fused multiply-add, the results of both have the same bits.
#pragma once

#include <cstring>
#include <type_traits>
#include <utility>

namespace retrace::simd {

struct Sse2 {
  static constexpr int kLanes = 2;
  using Vec = double __attribute__((vector_size(16)));
};
struct Avx2 {
  static constexpr int kLanes = 4;
  using Vec = double __attribute__((vector_size(32)));
};

// Numbers from and to any address. By reference, because a function without AVX2 can neither take nor give such a
// vector; by memcpy, because Clang drops a smaller alignment of a type that is an argument of a template.
template <class Vec>
[[gnu::always_inline]] inline void Load(const double* p, Vec& vector) {
  std::memcpy(&vector, p, sizeof(Vec));
}
template <class Vec>
[[gnu::always_inline]] inline void Store(const Vec& vector, double* p) {
  std::memcpy(p, &vector, sizeof(Vec));
}

/// Calls visit(integral constant) for kBegin, ..., kEnd - 1, unrolled.
template <int kBegin, int kEnd, class Visit>
[[gnu::always_inline]] inline void Unroll(Visit visit) {
  if constexpr (kBegin < kEnd) {
    visit(std::integral_constant<int, kBegin>());
    Unroll<kBegin + 1, kEnd>(visit);
  }
}

/// A function that is inlined into one for each set of instructions.
template <auto kKernel>
struct Compiled;
template <class Result, class... Arguments, Result (*kKernel)(Arguments...)>
struct Compiled<kKernel> {
  static Result ForBaseline(Arguments... arguments) { return kKernel(arguments...); }
#if defined(__x86_64__)
  __attribute__((target("avx2"))) static Result ForAvx2(Arguments... arguments) {
    return kKernel(arguments...);
  }
#endif
};

/// Whether this processor runs what is compiled for AVX2.
inline bool HasAvx2() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx2");
#else
  return false;
#endif
}

enum class InstructionSet { kBaseline, kAvx2 };

/// A table of functions, in the order of its members, compiled for one set of instructions. On other processors than
/// x86-64 the one for AVX2 is empty.
template <class Kernels, auto... kKernels>
constexpr Kernels ForBaseline() {
  return {Compiled<kKernels>::ForBaseline...};
}
template <class Kernels, auto... kKernels>
constexpr Kernels ForAvx2() {
#if defined(__x86_64__)
  return {Compiled<kKernels>::ForAvx2...};
#else
  return {};
#endif
}

/// Such a table for each set of instructions, and the choice between them.
template <class Kernels>
struct KernelTables {
  Kernels baseline;
  Kernels avx2;

  /// Null when the processor lacks them.
  const Kernels* Find(InstructionSet set) const {
    if (set == InstructionSet::kBaseline) return &baseline;
    return HasAvx2() ? &avx2 : nullptr;
  }
  const Kernels& Best() const { return HasAvx2() ? avx2 : baseline; }
};

/// Both of the same functions.
template <class Kernels, auto... kKernels>
constexpr KernelTables<Kernels> ForBoth() {
  return {ForBaseline<Kernels, kKernels...>(), ForAvx2<Kernels, kKernels...>()};
}

}  // namespace retrace::simd
