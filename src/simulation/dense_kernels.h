/// The inner loops of dense linear algebra, compiled for the x86-64 baseline (SSE2) and for AVX2. Every element sees
/// the same operations in the same order in both, and neither uses fused multiply-add: the results have the same bits.
#pragma once

#include <cstddef>

#include "retrace/math/simd.h"

namespace retrace::simulation {

constexpr int kPad = 4;  // the kernels work on whole vectors of this many doubles

constexpr int RoundUp(int n) {
  return (n + kPad - 1) / kPad * kPad;
}

/// A problem for block principal pivoting (box_lcp.h), and the memory for it. Everything that is (size) is padded to
/// whole vectors: rows of the matrix, right sides and limits with zeros, states with kLeftOut.
struct PivotProblem {
  enum State : long long {
    kAtLow,
    kFree,
    kAtHigh,
    kFixed,  ///< both limits are equal
    kDriven,
    kLeftOut  ///< not solved for: x is zero
  };

  const double* matrix = nullptr;
  ptrdiff_t stride = 0;
  int size = 0;
  const double* rhs = nullptr;
  const double* low = nullptr;
  const double* high = nullptr;
  double force_tolerance = 0;     ///< beside the largest force
  double smallest_residual = 0;   ///< tolerances of residuals: at least this,
  double residual_per_force = 0;  ///< and this beside the largest force
  int most_stalls = 0;            ///< rounds that bring no fewer violations
  double* x = nullptr;            ///< (size)
  State* states = nullptr;        ///< (size) where the search begins; becomes where it ends
  // Scratch.
  double* left = nullptr;  ///< (size) what the free rows are to make up for
  double* free_matrix = nullptr;
  double* free_x = nullptr;
  double* inverse_pivot = nullptr;
  int* free = nullptr;  ///< (size + 1)
  int* held = nullptr;  ///< (size + 1)
};

struct DenseKernels {
  /// False when pivoting does not come to an end.
  bool (*pivot)(const PivotProblem& problem);

  /// One round of it: x of the rows at a limit is that limit, x of the free ones solves S_FF x_F = s_F - S_FB x_B.
  bool (*solve_free)(const PivotProblem& problem);

  /// Solves C x = rhs for a symmetric positive definite C. `matrix` is the upper triangle of [C | rhs] (size x size +
  /// 1), which is overwritten; its rows and x are padded, by kPad at least, what follows rhs in a row being zero. False
  /// when a pivot is not positive.
  bool (*solve)(double* matrix, ptrdiff_t stride, int size, double* x, double* inverse_pivot);

  /// Sum of a[i] * b[i]; the width is rounded up to a multiple of kPad.
  double (*dot)(const double* a, const double* b, int width);
};

/// For each set of instructions.
extern const simd::KernelTables<DenseKernels> kDenseKernels;

}  // namespace retrace::simulation
