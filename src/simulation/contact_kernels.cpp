#include "contact_kernels.h"

#define RETRACE_INLINE [[gnu::always_inline]] inline

namespace retrace::simulation {
namespace {

using simd::Load;
using simd::Store;
using simd::Unroll;
using Four = simd::Avx2::Vec;  // two of SSE2 where there is no AVX2

/// The sum of six products. The first two rows: one after another; the third in halves, as matrices elsewhere
/// (lanes.h).
RETRACE_INLINE void SumOf(const Four (&products)[6], Four& sum) {
  const Four in_sequence = ((((products[0] + products[1]) + products[2]) + products[3]) + products[4]) + products[5];
  const Four in_halves = (products[0] + (products[1] + products[2])) + (products[3] + (products[4] + products[5]));
  sum = __builtin_shufflevector(in_sequence, in_halves, 0, 1, 6, 7);
}

/// Unrolled: as a loop it becomes a copy in memory, for which the processor waits.
RETRACE_INLINE void LoadColumns(const ContactRows& rows, Four (&columns)[6]) {
  Unroll<0, 6>([&](auto k) __attribute__((always_inline)) { Load(rows.numbers + 4 * k, columns[k]); });
}

RETRACE_INLINE void PutSum(const Four& sum, bool add, double* to) {
  Four before = {};
  if (add) Load(to, before);
  Store(add ? Four(before + sum) : sum, to);
}

RETRACE_INLINE void ReachOf(const ContactRows& rows, const MatrixView& a, bool add, ContactRows& reached) {
  if (a.numbers == nullptr) {
    if (!add) reached = {};
    return;
  }
  Four columns[6], products[6], sum;
  LoadColumns(rows, columns);
  const double* of_row[6];
  Unroll<0, 6>([&](auto k) __attribute__((always_inline)) { of_row[k] = a.numbers + k * a.row; });
  for (int c = 0; c < 6; ++c) {
    Unroll<0, 6>([&](auto k) __attribute__((always_inline)) { products[k] = columns[k] * of_row[k][c * a.col]; });
    SumOf(products, sum);
    PutSum(sum, add, reached.numbers + ptrdiff_t{4} * c);
  }
}

RETRACE_INLINE void BlockOf(const ContactRows& reached, const ContactRows& rows, bool add, double* block) {
  Four columns[6], products[6], sum;
  LoadColumns(reached, columns);
  for (int l = 0; l < 3; ++l) {
    for (int k = 0; k < 6; ++k) products[k] = columns[k] * rows(l, k);
    SumOf(products, sum);
    PutSum(sum, add, block + ptrdiff_t{4} * l);
  }
}

RETRACE_INLINE void AlongOf(const ContactRows& rows, const double* v, bool add, double* velocity) {
  Four columns[6], products[6], sum;
  LoadColumns(rows, columns);
  for (int k = 0; k < 6; ++k) products[k] = columns[k] * v[k];
  SumOf(products, sum);
  PutSum(sum, add, velocity);
}

}  // namespace

constexpr simd::KernelTables<ContactKernels> kContactKernels =
    simd::ForBoth<ContactKernels, ReachOf, BlockOf, AlongOf>();

}  // namespace retrace::simulation
