#include "dense_kernels.h"

#define RETRACE_INLINE [[gnu::always_inline]] inline

namespace retrace::simulation {
namespace {

using simd::Avx2;
using simd::Compiled;
using simd::Load;
using simd::Sse2;
using simd::Store;
using simd::Unroll;

// ---- dot products --------------------------------------------------------------------------------------------------

/// A sum of products in four partial sums.
template <class Simd>
class DotProduct {
 public:
  RETRACE_INLINE void Add(const double* a, const double* b, int width) {
    for (int j = 0; j < width; j += kPad) {
      Unroll<0, kVectors>([&](auto v) __attribute__((always_inline)) {
        typename Simd::Vec of_a, of_b;
        Load(a + j + v * Simd::kLanes, of_a);
        Load(b + j + v * Simd::kLanes, of_b);
        sum_[v] += of_a * of_b;
      });
    }
  }
  RETRACE_INLINE double Total() const { return (Lane<0>() + Lane<1>()) + (Lane<2>() + Lane<3>()); }

 private:
  static constexpr int kVectors = kPad / Simd::kLanes;
  template <int kLane>
  RETRACE_INLINE double Lane() const {
    return sum_[kLane / Simd::kLanes][kLane % Simd::kLanes];
  }
  typename Simd::Vec sum_[kVectors] = {};
};

template <class Simd>
RETRACE_INLINE double DotOf(const double* a, const double* b, int width) {
  DotProduct<Simd> dot;
  dot.Add(a, b, width);
  return dot.Total();
}

// ---- dense matrices ------------------------------------------------------------------------------------------------

/// Row after row is finished and then taken from all that follow it, which do not wait for one another.
template <class Simd>
RETRACE_INLINE bool FactorDenseOf(double* matrix, ptrdiff_t stride, int size, double* inverse_pivot) {
  const int width = RoundUp(size + 1);
  for (int p = 0; p < size; ++p) {
    const double* pivot = matrix + p * stride;
    if (!(pivot[p] > 0)) return false;
    inverse_pivot[p] = 1 / pivot[p];
    for (int r = p + 1; r < size; ++r) {
      const double coefficient = pivot[r] * inverse_pivot[p];
      double* row = matrix + r * stride;
      for (int c = r / kPad * kPad; c < width; c += kPad) {
        Unroll<0, kPad / Simd::kLanes>([&](auto v) __attribute__((always_inline)) {
          typename Simd::Vec of_row, of_pivot;
          Load(row + c + v * Simd::kLanes, of_row);
          Load(pivot + c + v * Simd::kLanes, of_pivot);
          of_row -= coefficient * of_pivot;
          Store(of_row, row + c + v * Simd::kLanes);
        });
      }
    }
  }
  return true;
}

template <class Simd>
RETRACE_INLINE bool SolveOf(double* matrix, ptrdiff_t stride, int size, double* x, double* inverse_pivot) {
  if (!FactorDenseOf<Simd>(matrix, stride, size, inverse_pivot)) return false;
  for (int i = size; i < size + kPad; ++i) x[i] = 0;
  for (int r = size - 1; r >= 0; --r) {
    const double* row = matrix + r * stride;
    // In four partial sums, as dot products elsewhere; number by number, because a vector would wait for the numbers
    // before to reach memory.
    double sums[kPad] = {};
    for (int c = r + 1; c < size; c += kPad) {
      Unroll<0, kPad>([&](auto l) __attribute__((always_inline)) { sums[l] += row[c + l] * x[c + l]; });
    }
    x[r] = (row[size] - ((sums[0] + sums[1]) + (sums[2] + sums[3]))) * inverse_pivot[r];
  }
  return true;
}

// ---- block principal pivoting

/// Solves S_FF x_F = s_F - S_FB x_B for the free rows F; x of the rows B at a limit is that limit.
template <class Simd>
RETRACE_INLINE bool SolveFreeOf(const PivotProblem& p) {
  int count = 0;
  bool any_force = false;
  for (int k = 0; k < p.count; ++k) {
    const int i = p.rows[k];
    if (p.states[i] == PivotProblem::kFree) {
      p.free[count++] = i;
      p.x[i] = 0;
    } else {
      p.x[i] = p.states[i] == PivotProblem::kAtHigh ? p.high[i] : p.low[i];
      any_force = any_force || p.x[i] != 0;
    }
  }
  const ptrdiff_t stride = RoundUp(count + 1) + kPad;
  for (int r = 0; r < count; ++r) {
    const int row = p.free[r];
    const double* from = p.matrix + row * p.stride;
    double* to = p.free_matrix + r * stride;
    for (int c = r / kPad * kPad; c < count; ++c) to[c] = from[p.free[c]];
    to[count] = any_force ? p.rhs[row] - DotOf<Simd>(from, p.x, p.size) : p.rhs[row];
    for (ptrdiff_t c = count + 1; c < stride; ++c) to[c] = 0;
  }
  if (!SolveOf<Simd>(p.free_matrix, stride, count, p.free_x, p.inverse_pivot)) return false;
  for (int r = 0; r < count; ++r) p.x[p.free[r]] = p.free_x[r];
  return true;
}

/// Rows that violate their condition, and the states that the violations require. Returns how many.
template <class Simd>
RETRACE_INLINE int FindViolated(const PivotProblem& p) {
  double largest_force = 0;
  for (int k = 0; k < p.count; ++k) {
    const double force = __builtin_fabs(p.x[p.rows[k]]);
    largest_force = largest_force < force ? force : largest_force;
  }
  const double force_tolerance = p.force_tolerance * (1.0 < largest_force ? largest_force : 1.0);
  const double residual = p.residual_per_force * largest_force;
  const double residual_tolerance = p.smallest_residual < residual ? residual : p.smallest_residual;
  int count = 0;
  const auto violate = [&](int row, PivotProblem::State wanted) __attribute__((always_inline)) {
    p.violated[count] = row;
    p.wanted[count++] = wanted;
  };
  for (int k = 0; k < p.count; ++k) {
    const int i = p.rows[k];
    const PivotProblem::State state = p.states[i];
    if (state == PivotProblem::kFree) {
      if (p.x[i] < p.low[i] - force_tolerance) {
        violate(i, PivotProblem::kAtLow);
      } else if (p.x[i] > p.high[i] + force_tolerance) {
        violate(i, PivotProblem::kAtHigh);
      }
    } else if (state != PivotProblem::kFixed) {
      const double w = DotOf<Simd>(p.matrix + i * p.stride, p.x, p.size) - p.rhs[i];
      if (state == PivotProblem::kAtLow ? w < -residual_tolerance : w > residual_tolerance) {
        violate(i, PivotProblem::kFree);
      }
    }
  }
  return count;
}

template <class Simd>
RETRACE_INLINE bool PivotOf(const PivotProblem& problem) {
  int fewest = problem.count + 1;  // violated rows so far
  int stalls_left = problem.most_stalls;
  for (;;) {
    if (!SolveFreeOf<Simd>(problem)) return false;
    const int count = FindViolated<Simd>(problem);
    if (count == 0) return true;
    if (count < fewest) {
      fewest = count;
      stalls_left = problem.most_stalls;
    } else if (--stalls_left < 0) {
      return false;
    }
    for (int v = 0; v < count; ++v) problem.states[problem.violated[v]] = problem.wanted[v];
  }
}

// ---- both instruction sets -----------------------------------------------------------------------------------------

constexpr DenseKernels kBaselineKernels = {Compiled<PivotOf<Sse2>>::ForBaseline,
                                           Compiled<SolveFreeOf<Sse2>>::ForBaseline,
                                           Compiled<SolveOf<Sse2>>::ForBaseline, Compiled<DotOf<Sse2>>::ForBaseline};
#if defined(__x86_64__)
constexpr DenseKernels kAvx2Kernels = {Compiled<PivotOf<Avx2>>::ForAvx2, Compiled<SolveFreeOf<Avx2>>::ForAvx2,
                                       Compiled<SolveOf<Avx2>>::ForAvx2, Compiled<DotOf<Avx2>>::ForAvx2};
#endif

}  // namespace

#if defined(__x86_64__)
constexpr simd::KernelTables<DenseKernels> kDenseKernels = {&kBaselineKernels, &kAvx2Kernels};
#else
constexpr simd::KernelTables<DenseKernels> kDenseKernels = {&kBaselineKernels, nullptr};
#endif

}  // namespace retrace::simulation
