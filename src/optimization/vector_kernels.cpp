#include "vector_kernels.h"

#define RETRACE_INLINE [[gnu::always_inline]] inline

namespace retrace::optimization {
namespace {

using simd::Avx2;
using simd::Load;
using simd::Sse2;
using simd::Store;
using simd::Unroll;

/// A few rows from `row` on, with their sums in registers.
template <class Simd, int kVectors>
RETRACE_INLINE void CombineTile(const double* matrix, ptrdiff_t stride, ptrdiff_t columns, const double* x,
                                double* sum) {
  typename Simd::Vec sums[kVectors] = {};
  for (ptrdiff_t k = 0; k < columns; ++k, matrix += stride) {
    Unroll<0, kVectors>([&](auto v) __attribute__((always_inline)) {
      typename Simd::Vec part;
      Load(matrix + v * Simd::kLanes, part);
      sums[v] += part * x[k];
    });
  }
  Unroll<0, kVectors>([&](auto v) __attribute__((always_inline)) { Store(sums[v], sum + v * Simd::kLanes); });
}

template <class Simd>
RETRACE_INLINE void CombineOf(const double* matrix, ptrdiff_t stride, ptrdiff_t rows, ptrdiff_t columns,
                              const double* x, double* sum) {
  constexpr int kVectors = 8;
  constexpr ptrdiff_t kTile = kVectors * Simd::kLanes;
  ptrdiff_t row = 0;
  for (; row + kTile <= rows; row += kTile) {
    CombineTile<Simd, kVectors>(matrix + row, stride, columns, x, sum + row);
  }
  constexpr int kFew = kPad / Simd::kLanes;
  for (; row + 2 * kPad <= rows; row += 2 * kPad) {
    CombineTile<Simd, 2 * kFew>(matrix + row, stride, columns, x, sum + row);
  }
  for (; row < rows; row += kPad) CombineTile<Simd, kFew>(matrix + row, stride, columns, x, sum + row);
}

template <class Simd>
RETRACE_INLINE void SubtractProductOf(double* matrix, ptrdiff_t stride, ptrdiff_t rows, ptrdiff_t columns,
                                      const double* x, const double* y) {
  for (ptrdiff_t k = 0; k < columns; ++k, matrix += stride) {
    for (ptrdiff_t i = 0; i < rows; i += kPad) {
      Unroll<0, kPad / Simd::kLanes>([&](auto v) __attribute__((always_inline)) {
        typename Simd::Vec to, from;
        Load(matrix + i + v * Simd::kLanes, to);
        Load(y + i + v * Simd::kLanes, from);
        to -= x[k] * from;
        Store(to, matrix + i + v * Simd::kLanes);
      });
    }
  }
}

/// Two numbers from one address and, in a longer vector, two from another.
template <class Vec>
RETRACE_INLINE void LoadPairs(const double* a, const double* b, Vec& pairs) {
  if constexpr (sizeof(Vec) == sizeof(Sse2::Vec)) {
    Load(a, pairs);
  } else {
    Sse2::Vec low, high;
    Load(a, low);
    Load(b, high);
    pairs = __builtin_shufflevector(low, high, 0, 1, 2, 3);
  }
}

/// Products of kColumns columns: two lanes for each.
template <class Simd, int kColumns>
RETRACE_INLINE void MultiplyTile(const double* matrix, ptrdiff_t stride, ptrdiff_t rows, const int* which,
                                 const double* x, double* products) {
  constexpr int kTogether = Simd::kLanes / 2;  // columns in a vector
  constexpr int kVectors = kColumns / kTogether;
  const double* column[kColumns];
  for (int c = 0; c < kColumns; ++c) column[c] = matrix + which[c] * stride;
  typename Simd::Vec sums[kVectors] = {};
  const ptrdiff_t even = rows / 2 * 2;
  for (ptrdiff_t i = 0; i < even; i += 2) {
    typename Simd::Vec factor;
    LoadPairs(x + i, x + i, factor);
    Unroll<0, kVectors>([&](auto v) __attribute__((always_inline)) {
      typename Simd::Vec part;
      LoadPairs(column[v * kTogether] + i, column[v * kTogether + kTogether - 1] + i, part);
      sums[v] += part * factor;
    });
  }
  double lanes[2 * kColumns];
  Unroll<0, kVectors>([&](auto v) __attribute__((always_inline)) { Store(sums[v], lanes + v * Simd::kLanes); });
  for (int c = 0; c < kColumns; ++c) {
    products[c] = lanes[2 * c] + lanes[2 * c + 1];
    if (even < rows) products[c] += column[c][even] * x[even];
  }
}

template <class Simd>
RETRACE_INLINE void MultiplyOf(const double* matrix, ptrdiff_t stride, ptrdiff_t rows, const int* which,
                               ptrdiff_t count, const double* x, double* products) {
  constexpr int kMost = 4 * Simd::kLanes;
  ptrdiff_t k = 0;
  for (; k + kMost <= count; k += kMost) {
    MultiplyTile<Simd, kMost>(matrix, stride, rows, which + k, x, products + k);
  }
  for (; k + 2 <= count; k += 2) MultiplyTile<Simd, 2>(matrix, stride, rows, which + k, x, products + k);
  if (k < count) MultiplyTile<Sse2, 1>(matrix, stride, rows, which + k, x, products + k);
}

}  // namespace

constexpr simd::KernelTables<VectorKernels> kVectorKernels = {
    simd::ForBaseline<VectorKernels, CombineOf<Sse2>, SubtractProductOf<Sse2>, MultiplyOf<Sse2>>(),
    simd::ForAvx2<VectorKernels, CombineOf<Avx2>, SubtractProductOf<Avx2>, MultiplyOf<Avx2>>()};

}  // namespace retrace::optimization
