/// Products of a matrix, stored column by column, and a vector, compiled for SSE2 and for AVX2 (math/simd.h): the bits
/// are the same with both, and those of Eigen's products with SSE2.
#pragma once

#include <cstddef>

#include "retrace/math/simd.h"

namespace retrace::optimization {

constexpr ptrdiff_t kPad = 4;

constexpr ptrdiff_t RoundUp(ptrdiff_t n) {
  return (n + kPad - 1) / kPad * kPad;
}

/// `stride` is the distance of columns. Rows are padded to a multiple of kPad where it says so.
struct VectorKernels {
  /// sum[i] = sum over k, in this order, of matrix(i, k) x[k]. Rows, at least kPad, are padded, and so is sum.
  void (*combine)(const double* matrix, ptrdiff_t stride, ptrdiff_t rows, ptrdiff_t columns, const double* x,
                  double* sum);
  /// matrix(i, k) -= x[k] y[i]. Rows are padded, and so is y.
  void (*subtract_product)(double* matrix, ptrdiff_t stride, ptrdiff_t rows, ptrdiff_t columns, const double* x,
                           const double* y);
  /// products[k] = sum over i of matrix(i, which[k]) x[i]: the even and the odd terms apart, and an odd last one to
  /// their sum.
  void (*multiply)(const double* matrix, ptrdiff_t stride, ptrdiff_t rows, const int* which, ptrdiff_t count,
                   const double* x, double* products);
};

/// For each set of instructions.
extern const simd::KernelTables<VectorKernels> kVectorKernels;

}  // namespace retrace::optimization
