/// Products with the rows of contact points, compiled for the x86-64 baseline (SSE2) and for AVX2 with the same bits.
#pragma once

#include <cstddef>

#include "retrace/math/simd.h"

namespace retrace::simulation {

/// Three rows of six numbers by columns of four, of which the last is for padding.
struct alignas(32) ContactRows {
  double numbers[24] = {};
  double& operator()(int row, int col) { return numbers[row + 4 * col]; }
  double operator()(int row, int col) const { return numbers[row + 4 * col]; }
};

/// A matrix of six rows and columns anywhere in memory: of one lane among others.
struct MatrixView {
  const double* numbers = nullptr;  ///< null: zeros
  ptrdiff_t row = 0;                ///< distance of rows
  ptrdiff_t col = 0;                ///< of columns
};

struct ContactKernels {
  /// reached = rows a, or reached += rows a.
  void (*reach)(const ContactRows& rows, const MatrixView& a, bool add, ContactRows& reached);
  /// block = reached rows^T, or block += it: three columns of four numbers, the last for padding.
  void (*block)(const ContactRows& reached, const ContactRows& rows, bool add, double* block);
  /// velocity = rows v, or velocity += rows v: three numbers, and one for padding.
  void (*along)(const ContactRows& rows, const double* v, bool add, double* velocity);
};

/// For each set of instructions.
extern const simd::KernelTables<ContactKernels> kContactKernels;

}  // namespace retrace::simulation
