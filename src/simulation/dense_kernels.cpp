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

// ---- both instruction sets -----------------------------------------------------------------------------------------

constexpr DenseKernels kBaselineKernels = {Compiled<SolveOf<Sse2>>::ForBaseline, Compiled<DotOf<Sse2>>::ForBaseline,
                                           Compiled<MultiplyOf<Sse2>>::ForBaseline};
#if defined(__x86_64__)
constexpr DenseKernels kAvx2Kernels = {Compiled<SolveOf<Avx2>>::ForAvx2, Compiled<DotOf<Avx2>>::ForAvx2,
                                       Compiled<MultiplyOf<Avx2>>::ForAvx2};
#endif

}  // namespace

#if defined(__x86_64__)
constexpr simd::KernelTables<DenseKernels> kDenseKernels = {&kBaselineKernels, &kAvx2Kernels};
#else
constexpr simd::KernelTables<DenseKernels> kDenseKernels = {&kBaselineKernels, nullptr};
#endif

}  // namespace retrace::simulation
