/// The inner loops of the elimination, compiled for the x86-64 baseline (SSE2) and for AVX2. Every element sees the
/// same operations in the same order in both, and neither uses fused multiply-add: the results have the same bits.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "eliminated_lcp.h"
#include "lcp_pattern.h"

namespace retrace::simulation {

/// The numbers that belong to a SymbolicFactor. Rows are places in the elimination order; padding is zero.
struct NumericFactor {
  double* u = nullptr;         // (places x u_stride) upper triangle: first A_uu, then U = D L^T
  double* scaled_u = nullptr;  // (places x u_stride) D^-1 U = L^T
  ptrdiff_t u_stride = 0;
  double* y = nullptr;         // (places x y_stride) first A_uc, then Y = L^-1 A_uc
  double* scaled_y = nullptr;  // (places x y_stride) D^-1 Y
  ptrdiff_t y_stride = 0;
  double* rhs = nullptr;            // (places) first b_u, then y = L^-1 b_u
  double* inverse_pivot = nullptr;  // (places) 1 / D
  double smallest_pivot = 0;        // with a pivot up to this A_uu counts as singular
};

/// Columns [begin, end) of Y and of the matrix S of the bounded rows; multiples of kPad.
struct ColumnRange {
  int begin = 0, end = 0;

  bool empty() const { return begin == end; }
};

struct Kernels {
  /// Sets bit j of `words` where |row[j]| > tolerance (or is NaN) in any of three rows, for j < columns. Reads up to
  /// the next multiple of kPad.
  void (*mark_columns)(const std::array<const double*, kTriple>& rows, int columns, double tolerance, uint64_t* words);

  /// Computes the rows of U, Y and y of a block, and subtracts them from those of its targets. False when a pivot is
  /// too small.
  bool (*eliminate_block)(const SymbolicFactor& symbolic, const SymbolicFactor::Block& block, ColumnRange contacts,
                          const NumericFactor& f);

  /// S -= Y^T D^-1 Y in the lower triangle and s -= Y^T D^-1 y, for the rows of one block.
  void (*subtract_from_schur)(const SymbolicFactor::Block& block, ColumnRange contacts, const NumericFactor& f,
                              double* schur, ptrdiff_t stride, double* schur_rhs);

  /// Solves L^T x = D^-1 (y - Y x_c) for the rows of one block, later blocks being solved.
  void (*substitute_block)(const SymbolicFactor& symbolic, const SymbolicFactor::Block& block, ColumnRange contacts,
                           const NumericFactor& f, const double* x_contacts, double* x);

  /// Turns the upper triangle of a dense (size x size + 1) matrix [C | rhs] into [U | L^-1 rhs]. False when a pivot is
  /// not positive.
  bool (*factor_dense)(double* matrix, ptrdiff_t stride, int size, double* inverse_pivot, double* coefficients);

  /// Sum of a[i] * b[i]; the width is rounded up to a multiple of kPad.
  double (*dot)(const double* a, const double* b, int width);
};

/// Null when the processor lacks them.
const Kernels* FindKernels(LcpKernels kernels);
const Kernels& BestKernels();

}  // namespace retrace::simulation
