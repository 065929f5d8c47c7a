#include "dense_kernels.h"

#define RETRACE_INLINE [[gnu::always_inline]] inline

namespace retrace::simulation {
namespace {

using simd::Compiled;
using simd::Load;
using simd::Store;
using simd::Unroll;
using Four = simd::Avx2::Vec;  // two of SSE2 where there is no AVX2

static_assert(sizeof(Four) == kPad * sizeof(double));

/// The sum of products in four partial sums.
RETRACE_INLINE double SumOf(const Four& sums) {
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

RETRACE_INLINE double DotOf(const double* a, const double* b, int width) {
  Four sums = {};
  for (int j = 0; j < width; j += kPad) {
    Four of_a, of_b;
    Load(a + j, of_a);
    Load(b + j, of_b);
    sums += of_a * of_b;
  }
  return SumOf(sums);
}

// ---- dense matrices ------------------------------------------------------------------------------------------------

constexpr int kMostVectors = 4;  // of a row, where the code is unrolled

/// The rows from kPad * kFirst on, of which the numbers before are not needed: the rows before are taken from each, one
/// after the other, while it is in registers. `scaled` are those rows times their inverse pivots. False when a pivot is
/// not positive.
template <int kFirst, int kVectors>
RETRACE_INLINE bool FactorRowsOf(double* matrix, ptrdiff_t stride, int size, double (*scaled)[kPad * kMostVectors],
                                 double* inverse_pivot) {
  constexpr int kCount = kVectors - kFirst;
  const int end = size < kPad * (kFirst + 1) ? size : kPad * (kFirst + 1);
  for (int r = kPad * kFirst; r < end; ++r) {
    double* row = matrix + r * stride + ptrdiff_t{kPad} * kFirst;
    Four rest[kCount];
    Unroll<0, kCount>([&](auto v) __attribute__((always_inline)) { Load(row + kPad * v, rest[v]); });
    for (int p = 0; p < r; ++p) {
      const double* pivot = matrix + p * stride + ptrdiff_t{kPad} * kFirst;
      const double coefficient = scaled[p][r];
      Unroll<0, kCount>([&](auto v) __attribute__((always_inline)) {
        Four of_pivot;
        Load(pivot + kPad * v, of_pivot);
        rest[v] -= coefficient * of_pivot;
      });
    }
    Unroll<0, kCount>([&](auto v) __attribute__((always_inline)) { Store(rest[v], row + kPad * v); });
    const double pivot = row[r - kPad * kFirst];
    if (!(pivot > 0)) return false;
    const double inverse = 1 / pivot;
    inverse_pivot[r] = inverse;
    Unroll<0, kCount>([&](auto v) __attribute__((always_inline)) {
      Store(Four(rest[v] * inverse), scaled[r] + kPad * (kFirst + v));
    });
  }
  return true;
}

/// x of the rows from the last to the first, where U x is the column behind U. The numbers of x that a row needs, those
/// after it, are in vectors that move on by one number with each row: in memory, a vector would have to wait until the
/// single numbers arrive there.
template <int kVectors>
RETRACE_INLINE void SubstituteBackOf(const double* matrix, ptrdiff_t stride, int size, double* x,
                                     const double* inverse_pivot) {
  Four after[kVectors] = {};
  for (int r = size - 1; r >= 0; --r) {
    const double* row = matrix + r * stride;
    Four sums = {};
    Unroll<0, kVectors>([&](auto v) __attribute__((always_inline)) {
      if (r + 1 + kPad * v >= size) return;
      Four of_row;
      Load(row + r + 1 + kPad * v, of_row);
      sums += of_row * after[v];
    });
    const double number = (row[size] - SumOf(sums)) * inverse_pivot[r];
    x[r] = number;
    Unroll<0, kVectors - 1>([&](auto v) __attribute__((always_inline)) {
      constexpr int kTo = kVectors - 1 - v;
      after[kTo] = __builtin_shufflevector(after[kTo - 1], after[kTo], 3, 4, 5, 6);
    });
    const Four first = {number};
    after[0] = __builtin_shufflevector(first, after[0], 0, 4, 5, 6);
  }
}

template <int kVectors>
RETRACE_INLINE bool SolveSmallOf(double* matrix, ptrdiff_t stride, int size, double* x, double* inverse_pivot) {
  alignas(32) double scaled[kPad * kVectors][kPad * kMostVectors];
  bool positive = true;
  Unroll<0, kVectors>([&](auto first) __attribute__((always_inline)) {
    positive = positive && FactorRowsOf<first, kVectors>(matrix, stride, size, scaled, inverse_pivot);
  });
  if (!positive) return false;
  SubstituteBackOf<kVectors>(matrix, stride, size, x, inverse_pivot);
  return true;
}

/// As SolveSmallOf, for any size: row after row is finished and then taken from all that follow it.
RETRACE_INLINE bool SolveLargeOf(double* matrix, ptrdiff_t stride, int size, double* x, double* inverse_pivot) {
  const int width = RoundUp(size + 1);
  for (int p = 0; p < size; ++p) {
    const double* pivot = matrix + p * stride;
    if (!(pivot[p] > 0)) return false;
    inverse_pivot[p] = 1 / pivot[p];
    for (int r = p + 1; r < size; ++r) {
      const double coefficient = pivot[r] * inverse_pivot[p];
      double* row = matrix + r * stride;
      for (int c = r / kPad * kPad; c < width; c += kPad) {
        Four of_row, of_pivot;
        Load(row + c, of_row);
        Load(pivot + c, of_pivot);
        of_row -= coefficient * of_pivot;
        Store(of_row, row + c);
      }
    }
  }
  for (int i = size; i < size + kPad; ++i) x[i] = 0;
  for (int r = size - 1; r >= 0; --r) {
    const double* row = matrix + r * stride;
    x[r] = (row[size] - DotOf(row + r + 1, x + r + 1, size - (r + 1))) * inverse_pivot[r];
  }
  return true;
}

RETRACE_INLINE bool SolveOf(double* matrix, ptrdiff_t stride, int size, double* x, double* inverse_pivot) {
  switch (size / kPad) {  // the column behind the matrix counts
    case 0:
      return SolveSmallOf<1>(matrix, stride, size, x, inverse_pivot);
    case 1:
      return SolveSmallOf<2>(matrix, stride, size, x, inverse_pivot);
    case 2:
      return SolveSmallOf<3>(matrix, stride, size, x, inverse_pivot);
    case 3:
      return SolveSmallOf<4>(matrix, stride, size, x, inverse_pivot);
    default:
      return SolveLargeOf(matrix, stride, size, x, inverse_pivot);
  }
}

// ---- block principal pivoting --------------------------------------------------------------------------------------

/// Puts x of the rows at a limit there, lists these and the free ones, whose x becomes 0. What varies from row to row
/// is counted, not asked for: the processor could not foresee it. Returns whether any x is not 0.
RETRACE_INLINE bool HoldAtLimits(const PivotProblem& p, int& num_free, int& num_held) {
  num_free = 0;
  num_held = 0;
  bool any_force = false;
  for (int k = 0; k < p.count; ++k) {
    const int i = p.rows[k];
    const PivotProblem::State state = p.states[i];
    const bool is_free = state == PivotProblem::kFree;
    p.free[num_free] = i;
    p.held[num_held] = i;
    num_free += is_free ? 1 : 0;
    num_held += is_free ? 0 : 1;
    const double* limit = state == PivotProblem::kAtHigh ? p.high : p.low;
    const double x = is_free ? 0.0 : limit[i];
    p.x[i] = x;
    any_force = any_force | (x != 0);
  }
  return any_force;
}

/// Solves S_FF x_F = s_F - S_FB x_B for the free rows F; x of the rows B at a limit is that limit.
RETRACE_INLINE bool SolveFreeRows(const PivotProblem& p, int count, bool any_force) {
  const ptrdiff_t stride = RoundUp(count + 1) + kPad;
  const int whole = count / kPad * kPad;
  for (int r = 0; r < count; ++r) {
    const int row = p.free[r];
    const double* from = p.matrix + row * p.stride;
    double* to = p.free_matrix + r * stride;
    for (int c = r / kPad * kPad; c < whole; c += kPad) {
      Unroll<0, kPad>([&](auto l) __attribute__((always_inline)) { to[c + l] = from[p.free[c + l]]; });
    }
    constexpr Four kZeros = {};
    Store(kZeros, to + whole);
    Store(kZeros, to + whole + kPad);
    for (int c = whole; c < count; ++c) to[c] = from[p.free[c]];
    to[count] = any_force ? p.rhs[row] - DotOf(from, p.x, p.size) : p.rhs[row];
  }
  if (!SolveOf(p.free_matrix, stride, count, p.free_x, p.inverse_pivot)) return false;
  for (int r = 0; r < count; ++r) p.x[p.free[r]] = p.free_x[r];
  return true;
}

RETRACE_INLINE double LargestForce(const PivotProblem& p) {
  Four largest = {};
  for (int j = 0; j < p.size; j += kPad) {
    Four x;
    Load(p.x + j, x);
    x = x < 0 ? -x : x;
    largest = largest < x ? x : largest;
  }
  const double first = largest[0] < largest[1] ? largest[1] : largest[0];
  const double second = largest[2] < largest[3] ? largest[3] : largest[2];
  return first < second ? second : first;
}

/// Rows that violate their condition, and the states that the violations require. Returns how many.
RETRACE_INLINE int FindViolated(const PivotProblem& p, int num_free, int num_held) {
  const double largest_force = LargestForce(p);
  const double force_tolerance = p.force_tolerance * (1.0 < largest_force ? largest_force : 1.0);
  const double residual = p.residual_per_force * largest_force;
  const double residual_tolerance = p.smallest_residual < residual ? residual : p.smallest_residual;
  int count = 0;
  for (int k = 0; k < num_free; ++k) {
    const int i = p.free[k];
    const bool below = p.x[i] < p.low[i] - force_tolerance;
    const bool above = p.x[i] > p.high[i] + force_tolerance;
    p.violated[count] = i;
    p.wanted[count] = below ? PivotProblem::kAtLow : PivotProblem::kAtHigh;
    count += below | above ? 1 : 0;
  }
  for (int k = 0; k < num_held; ++k) {
    const int i = p.held[k];
    if (p.states[i] == PivotProblem::kFixed) continue;
    const double w = DotOf(p.matrix + i * p.stride, p.x, p.size) - p.rhs[i];
    p.violated[count] = i;
    p.wanted[count] = PivotProblem::kFree;
    count += (p.states[i] == PivotProblem::kAtLow ? w < -residual_tolerance : w > residual_tolerance) ? 1 : 0;
  }
  return count;
}

RETRACE_INLINE bool SolveFreeOf(const PivotProblem& problem) {
  int num_free = 0, num_held = 0;
  const bool any_force = HoldAtLimits(problem, num_free, num_held);
  return SolveFreeRows(problem, num_free, any_force);
}

RETRACE_INLINE bool PivotOf(const PivotProblem& problem) {
  const PivotProblem p = problem;  // what it points at is not in it
  int fewest = p.count + 1;        // violated rows so far
  int stalls_left = p.most_stalls;
  for (;;) {
    int num_free = 0, num_held = 0;
    const bool any_force = HoldAtLimits(p, num_free, num_held);
    if (!SolveFreeRows(p, num_free, any_force)) return false;
    const int count = FindViolated(p, num_free, num_held);
    if (count == 0) return true;
    if (count < fewest) {
      fewest = count;
      stalls_left = p.most_stalls;
    } else if (--stalls_left < 0) {
      return false;
    }
    for (int v = 0; v < count; ++v) p.states[p.violated[v]] = p.wanted[v];
  }
}

// ---- both instruction sets -----------------------------------------------------------------------------------------

constexpr DenseKernels kBaselineKernels = {Compiled<PivotOf>::ForBaseline, Compiled<SolveFreeOf>::ForBaseline,
                                           Compiled<SolveOf>::ForBaseline, Compiled<DotOf>::ForBaseline};
#if defined(__x86_64__)
constexpr DenseKernels kAvx2Kernels = {Compiled<PivotOf>::ForAvx2, Compiled<SolveFreeOf>::ForAvx2,
                                       Compiled<SolveOf>::ForAvx2, Compiled<DotOf>::ForAvx2};
#endif

}  // namespace

#if defined(__x86_64__)
constexpr simd::KernelTables<DenseKernels> kDenseKernels = {&kBaselineKernels, &kAvx2Kernels};
#else
constexpr simd::KernelTables<DenseKernels> kDenseKernels = {&kBaselineKernels, nullptr};
#endif

}  // namespace retrace::simulation
