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

// ---- target -= sum of scaled rows ----------------------------------------------------------------------------------

/// What SubtractRows works on: for each of some targets r, target_r -= sum over p of coefficient_pr * row_p.
struct Update {
  double* target;
  ptrdiff_t target_stride;  // between targets
  const double* rows;
  ptrdiff_t row_stride;  // between rows p
  const double* coefficients;
  ptrdiff_t coefficient_stride;  // between coefficients of successive p; those of successive targets are neighbours
  int count;                     // of rows p; used when it is not a constant
};

/// A few columns from `column` on, with the targets in registers. kCount = 0: see Update::count.
template <class Simd, int kTargets, int kVectors, int kCount>
RETRACE_INLINE void SubtractTile(const Update& update, int column) {
  using Vec = typename Simd::Vec;
  Vec sum[kTargets][kVectors];
  Unroll<0, kTargets>([&](auto r) __attribute__((always_inline)) {
    Unroll<0, kVectors>([&](auto v) __attribute__((always_inline)) {
      Load(update.target + r * update.target_stride + column + v * Simd::kLanes, sum[r][v]);
    });
  });
  const double* row = update.rows + column;
  const double* coefficient = update.coefficients;
  const auto subtract_row = [&](auto) __attribute__((always_inline)) {
    Unroll<0, kVectors>([&](auto v) __attribute__((always_inline)) {
      Vec part;
      Load(row + v * Simd::kLanes, part);
      Unroll<0, kTargets>([&](auto r) __attribute__((always_inline)) { sum[r][v] -= coefficient[r] * part; });
    });
    row += update.row_stride;
    coefficient += update.coefficient_stride;
  };
  if constexpr (kCount > 0) {
    Unroll<0, kCount>(subtract_row);
  } else {
    for (int p = 0; p < update.count; ++p) subtract_row(p);
  }
  Unroll<0, kTargets>([&](auto r) __attribute__((always_inline)) {
    Unroll<0, kVectors>([&](auto v) __attribute__((always_inline)) {
      Store(sum[r][v], update.target + r * update.target_stride + column + v * Simd::kLanes);
    });
  });
}

/// Columns [begin, end); the width is a multiple of kPad.
template <class Simd, int kTargets, int kCount = 0>
RETRACE_INLINE void SubtractRows(const Update& update, int begin, int end) {
  constexpr int kVectors = kTargets > 3 ? 2 : 4;  // as many as fit into 16 registers
  int column = begin;
  for (; column + kVectors * Simd::kLanes <= end; column += kVectors * Simd::kLanes) {
    SubtractTile<Simd, kTargets, kVectors, kCount>(update, column);
  }
  if (kVectors > 2 && column + 2 * Simd::kLanes <= end) {
    SubtractTile<Simd, kTargets, 2, kCount>(update, column);
    column += 2 * Simd::kLanes;
  }
  if (column < end) SubtractTile<Simd, kTargets, 1, kCount>(update, column);
}

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

template <class Simd>
RETRACE_INLINE bool FactorDenseOf(double* matrix, ptrdiff_t stride, int size, double* inverse_pivot,
                                  double* coefficients) {
  for (int r = 0; r < size; ++r) {
    for (int p = 0; p < r; ++p) coefficients[p] = matrix[p * stride + r] * inverse_pivot[p];
    double* row = matrix + r * stride;
    SubtractRows<Simd, 1>({row, 0, matrix, stride, coefficients, 1, r}, r / kPad * kPad, RoundUp(size + 1));
    if (!(row[r] > 0)) return false;
    inverse_pivot[r] = 1 / row[r];
  }
  return true;
}

template <class Simd>
RETRACE_INLINE bool SolveOf(double* matrix, ptrdiff_t stride, int size, double* x, double* inverse_pivot,
                            double* coefficients) {
  if (!FactorDenseOf<Simd>(matrix, stride, size, inverse_pivot, coefficients)) return false;
  for (int i = size; i < size + kPad; ++i) x[i] = 0;
  for (int r = size - 1; r >= 0; --r) {
    const double* row = matrix + r * stride;
    x[r] = (row[size] - DotOf<Simd>(row + r + 1, x + r + 1, size - r - 1)) * inverse_pivot[r];
  }
  return true;
}

template <class Simd>
RETRACE_INLINE void MultiplyOf(const double* matrix, ptrdiff_t stride, const int* rows, int count, const double* x,
                               int width, double* products) {
  for (int k = 0; k < count; ++k) products[k] = DotOf<Simd>(matrix + rows[k] * stride, x, width);
}

// ---- block principal pivoting

/// Solves S_FF x_F = s_F - S_FB x_B for the free rows F; x of the rows B at a limit is that limit.
template <class Simd>
RETRACE_INLINE bool SolveFree(const PivotProblem& p) {
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
  if (!SolveOf<Simd>(p.free_matrix, stride, count, p.free_x, p.inverse_pivot, p.coefficients)) return false;
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
    if (!SolveFree<Simd>(problem)) return false;
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

constexpr DenseKernels kBaselineKernels = {Compiled<PivotOf<Sse2>>::ForBaseline, Compiled<SolveOf<Sse2>>::ForBaseline,
                                           Compiled<DotOf<Sse2>>::ForBaseline, Compiled<MultiplyOf<Sse2>>::ForBaseline};
#if defined(__x86_64__)
constexpr DenseKernels kAvx2Kernels = {Compiled<PivotOf<Avx2>>::ForAvx2, Compiled<SolveOf<Avx2>>::ForAvx2,
                                       Compiled<DotOf<Avx2>>::ForAvx2, Compiled<MultiplyOf<Avx2>>::ForAvx2};
#endif

}  // namespace

#if defined(__x86_64__)
constexpr simd::KernelTables<DenseKernels> kDenseKernels = {&kBaselineKernels, &kAvx2Kernels};
#else
constexpr simd::KernelTables<DenseKernels> kDenseKernels = {&kBaselineKernels, nullptr};
#endif

}  // namespace retrace::simulation
