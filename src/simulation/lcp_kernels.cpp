#include "lcp_kernels.h"

#include <algorithm>
#include <limits>
#include <type_traits>
#include <utility>

// Each loop is a template on the vector type, inlined into one function for the baseline and one for AVX2 (Compiled,
// below).
#define RETRACE_INLINE [[gnu::always_inline]] inline

namespace retrace::simulation {
namespace {

struct Sse2 {
  static constexpr int kLanes = 2;
  typedef double Vec __attribute__((vector_size(16), aligned(8), may_alias));
  typedef int64_t Bits __attribute__((vector_size(16)));
  static constexpr Bits kLaneBits = {1, 2};
};
struct Avx2 {
  static constexpr int kLanes = 4;
  typedef double Vec __attribute__((vector_size(32), aligned(8), may_alias));
  typedef int64_t Bits __attribute__((vector_size(32)));
  static constexpr Bits kLaneBits = {1, 2, 4, 8};
};

template <class Simd>
RETRACE_INLINE const typename Simd::Vec& At(const double* p) {
  return *reinterpret_cast<const typename Simd::Vec*>(p);
}
template <class Simd>
RETRACE_INLINE typename Simd::Vec& At(double* p) {
  return *reinterpret_cast<typename Simd::Vec*>(p);
}

/// Calls visit(integral constant) for kBegin, ..., kEnd - 1, unrolled.
template <int kBegin, int kEnd, class Visit>
RETRACE_INLINE void Unroll(Visit visit) {
  if constexpr (kBegin < kEnd) {
    visit(std::integral_constant<int, kBegin>());
    Unroll<kBegin + 1, kEnd>(visit);
  }
}

// ---- target -= sum of scaled rows ----------------------------------------------------------------------------------

/// What SubtractRows works on: for each of some targets r, target_r -= sum over p of coefficient_pr * row_p.
struct Update {
  double* target;
  ptrdiff_t target_stride;  // between targets
  const double* rows;
  ptrdiff_t row_stride;  // between rows p
  const double* coefficients;
  ptrdiff_t coefficient_stride;  // between coefficients of successive p; those of successive targets are neighbours
  int count;                     // of rows p; used when it is no constant
};

/// A few columns from `column` on, with the targets in registers. kCount = 0: see Update::count.
template <class Simd, int kTargets, int kVectors, int kCount>
RETRACE_INLINE void SubtractTile(const Update& update, int column) {
  using Vec = typename Simd::Vec;
  Vec sum[kTargets][kVectors];
  Unroll<0, kTargets>([&](auto r) __attribute__((always_inline)) {
    Unroll<0, kVectors>([&](auto v) __attribute__((always_inline)) {
      sum[r][v] = At<Simd>(update.target + r * update.target_stride + column + v * Simd::kLanes);
    });
  });
  const double* row = update.rows + column;
  const double* coefficient = update.coefficients;
  const auto subtract_row = [&](auto) __attribute__((always_inline)) {
    Unroll<0, kVectors>([&](auto v) __attribute__((always_inline)) {
      const Vec part = At<Simd>(row + v * Simd::kLanes);
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
      At<Simd>(update.target + r * update.target_stride + column + v * Simd::kLanes) = sum[r][v];
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
        sum_[v] += At<Simd>(a + j + v * Simd::kLanes) * At<Simd>(b + j + v * Simd::kLanes);
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

// ---- the pattern ---------------------------------------------------------------------------------------------------

template <class Simd>
RETRACE_INLINE void MarkColumnsOf(const std::array<const double*, kTriple>& rows, int columns, double tolerance,
                                  uint64_t* words) {
  using Vec = typename Simd::Vec;
  using Bits = typename Simd::Bits;
  constexpr int64_t kMagnitude = std::numeric_limits<int64_t>::max();  // all bits but the sign
  for (int begin = 0; begin < columns; begin += kBitsPerWord, ++words) {
    const int width = std::min(kBitsPerWord, columns - begin);
    Bits marked = {};
    Bits lane_bits = Simd::kLaneBits;
    for (int j = begin; j < begin + RoundUp(width); j += Simd::kLanes, lane_bits <<= Simd::kLanes) {
      Bits small = ~Bits{};
      Unroll<0, kTriple>([&](auto r) __attribute__((always_inline)) {
        const Bits magnitude = reinterpret_cast<Bits>(At<Simd>(rows[r] + j)) & kMagnitude;
        small &= reinterpret_cast<Vec>(magnitude) <= tolerance;
      });
      marked |= lane_bits & ~small;
    }
    uint64_t word = 0;
    for (int lane = 0; lane < Simd::kLanes; ++lane) word |= static_cast<uint64_t>(marked[lane]);
    *words = width == kBitsPerWord ? word : word & ((uint64_t{1} << width) - 1);
  }
}

// ---- the elimination of a block ------------------------------------------------------------------------------------

/// L of the diagonal block of a block of rows: row r -= l[p][r] * row p.
template <int kRows>
struct DiagonalFactor {
  double l[kRows][kRows];
  double inverse_pivot[kRows];
};

/// Factors the diagonal block, and finds y of its rows.
template <int kRows>
RETRACE_INLINE bool FactorDiagonal(int begin, const NumericFactor& f, DiagonalFactor<kRows>& factor) {
  double a[kRows][kRows];
  Unroll<0, kRows>([&](auto p) __attribute__((always_inline)) {
    Unroll<p, kRows>([&](auto c)
                         __attribute__((always_inline)) { a[p][c] = f.u[(begin + p) * f.u_stride + begin + c]; });
  });
  bool positive = true;
  Unroll<0, kRows>([&](auto p) __attribute__((always_inline)) {
    positive = positive && a[p][p] > f.smallest_pivot;
    factor.inverse_pivot[p] = 1 / a[p][p];
    Unroll<p + 1, kRows>([&](auto r) __attribute__((always_inline)) {
      factor.l[p][r] = a[p][r] * factor.inverse_pivot[p];
      Unroll<r, kRows>([&](auto c) __attribute__((always_inline)) { a[r][c] -= factor.l[p][r] * a[p][c]; });
    });
  });
  double* y = f.rhs + begin;
  Unroll<0, kRows>([&](auto p) __attribute__((always_inline)) {
    f.inverse_pivot[begin + p] = factor.inverse_pivot[p];
    Unroll<p + 1, kRows>([&](auto r) __attribute__((always_inline)) {
      f.scaled_u[(begin + p) * f.u_stride + begin + r] = factor.l[p][r];
      y[r] -= factor.l[p][r] * y[p];
    });
  });
  return positive;
}

/// Finds the rows of a block in the columns [begin, end) of U or Y, and scales them by the pivots.
template <class Simd, int kRows, int kVectors>
RETRACE_INLINE void SolveTile(const DiagonalFactor<kRows>& factor, double* rows, double* scaled, ptrdiff_t stride) {
  typename Simd::Vec row[kRows][kVectors];
  Unroll<0, kRows>([&](auto r) __attribute__((always_inline)) {
    Unroll<0, kVectors>([&](auto v) __attribute__((always_inline)) {
      row[r][v] = At<Simd>(rows + r * stride + v * Simd::kLanes);
    });
    Unroll<0, r>([&](auto p) __attribute__((always_inline)) {
      Unroll<0, kVectors>([&](auto v) __attribute__((always_inline)) { row[r][v] -= factor.l[p][r] * row[p][v]; });
    });
    Unroll<0, kVectors>([&](auto v) __attribute__((always_inline)) {
      At<Simd>(rows + r * stride + v * Simd::kLanes) = row[r][v];
      At<Simd>(scaled + r * stride + v * Simd::kLanes) = factor.inverse_pivot[r] * row[r][v];
    });
  });
}

template <class Simd, int kRows>
RETRACE_INLINE void SolveRows(const DiagonalFactor<kRows>& factor, double* rows, double* scaled, ptrdiff_t stride,
                              int begin, int end) {
  constexpr int kWidth = 2 * Simd::kLanes;
  int column = begin;
  for (; column + kWidth <= end; column += kWidth) {
    SolveTile<Simd, kRows, 2>(factor, rows + column, scaled + column, stride);
  }
  if (column < end) SolveTile<Simd, kRows, 1>(factor, rows + column, scaled + column, stride);
}

/// Subtracts the rows of a block from three rows of a target, in U and Y. Within the diagonal block of the target the
/// part left of the diagonal is computed for nothing, but in whole vectors.
template <class Simd, int kRows>
RETRACE_INLINE void SubtractFromTriple(const SymbolicFactor& symbolic, const SymbolicFactor::Block& block,
                                       const SymbolicFactor::Target& target, int r, ColumnRange contacts,
                                       const NumericFactor& f) {
  const double* coefficients = f.scaled_u + block.begin * f.u_stride + r;
  const Update in_u = {f.u + r * f.u_stride, f.u_stride, f.u + block.begin * f.u_stride, f.u_stride, coefficients,
                       f.u_stride,           kRows};
  const Update in_y = {f.y + r * f.y_stride, f.y_stride, f.y + block.begin * f.y_stride, f.y_stride, coefficients,
                       f.u_stride,           kRows};
  // One loop for U and Y, so that the unrolled code is there once.
  for (int k = target.run; k <= block.last_run; ++k) {
    const bool last = k == block.last_run;
    const int begin = last ? contacts.begin : std::max(target.begin, symbolic.runs()[k].begin);
    const int end = last ? contacts.end : symbolic.runs()[k].end;
    SubtractRows<Simd, kTriple, kRows>(last ? in_y : in_u, begin, end);
  }
}

template <class Simd, int kRows>
RETRACE_INLINE bool EliminateRows(const SymbolicFactor& symbolic, const SymbolicFactor::Block& block,
                                  ColumnRange contacts, const NumericFactor& f) {
  DiagonalFactor<kRows> factor;
  if (!FactorDiagonal<kRows>(block.begin, f, factor)) return false;
  const ptrdiff_t u_row = block.begin * f.u_stride;
  const ptrdiff_t y_row = block.begin * f.y_stride;
  for (const SymbolicFactor::Run& run : symbolic.runs(block)) {
    SolveRows<Simd, kRows>(factor, f.u + u_row, f.scaled_u + u_row, f.u_stride, run.begin, run.end);
  }
  SolveRows<Simd, kRows>(factor, f.y + y_row, f.scaled_y + y_row, f.y_stride, contacts.begin, contacts.end);
  for (const SymbolicFactor::Target& target : symbolic.targets(block)) {
    for (int r = target.begin; r < target.begin + target.rows; r += kTriple) {
      SubtractFromTriple<Simd, kRows>(symbolic, block, target, r, contacts, f);
    }
    const Update in_rhs = {f.rhs, 0, f.scaled_u + u_row, f.u_stride, f.rhs + block.begin, 1, kRows};
    SubtractRows<Simd, 1, kRows>(in_rhs, target.begin, target.begin + RoundUp(target.rows));
  }
  return true;
}

template <class Simd>
RETRACE_INLINE bool EliminateBlockOf(const SymbolicFactor& symbolic, const SymbolicFactor::Block& block,
                                     ColumnRange contacts, const NumericFactor& f) {
  return block.rows == kTriple ? EliminateRows<Simd, kTriple>(symbolic, block, contacts, f)
                               : EliminateRows<Simd, 2 * kTriple>(symbolic, block, contacts, f);
}

template <class Simd>
RETRACE_INLINE void SubtractFromSchurOf(const SymbolicFactor::Block& block, ColumnRange contacts,
                                        const NumericFactor& f, double* schur, ptrdiff_t stride, double* schur_rhs) {
  const double* rows = f.y + block.begin * f.y_stride;
  const double* scaled = f.scaled_y + block.begin * f.y_stride;
  const Update in_rhs = {schur_rhs, 0, scaled, f.y_stride, f.rhs + block.begin, 1, block.rows};
  SubtractRows<Simd, 1>(in_rhs, contacts.begin, contacts.end);
  for (int i = contacts.begin; i < contacts.end; i += kPad) {
    const Update in_schur = {schur + i * stride, stride, rows, f.y_stride, scaled + i, f.y_stride, block.rows};
    SubtractRows<Simd, kPad>(in_schur, contacts.begin, i + kPad);
  }
}

template <class Simd>
RETRACE_INLINE void SubstituteBlockOf(const SymbolicFactor& symbolic, const SymbolicFactor::Block& block,
                                      ColumnRange contacts, const NumericFactor& f, const double* x_contacts,
                                      double* x) {
  const int end = block.begin + block.rows;
  for (int p = block.begin; p < end; ++p) {
    const double* row = f.scaled_u + p * f.u_stride;
    DotProduct<Simd> dot;
    dot.Add(f.scaled_y + p * f.y_stride + contacts.begin, x_contacts + contacts.begin, contacts.end - contacts.begin);
    for (const SymbolicFactor::Run& run : symbolic.runs(block))
      dot.Add(row + run.begin, x + run.begin, run.end - run.begin);
    x[p] = f.rhs[p] * f.inverse_pivot[p] - dot.Total();
  }
  for (int q = end - 1; q > block.begin; --q) {
    for (int p = block.begin; p < q; ++p) x[p] -= f.scaled_u[p * f.u_stride + q] * x[q];
  }
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

// ---- both instruction sets -----------------------------------------------------------------------------------------

template <auto kKernel>
struct Compiled;
template <class Result, class... Arguments, Result (*kKernel)(Arguments...)>
struct Compiled<kKernel> {
  static Result ForBaseline(Arguments... arguments) { return kKernel(arguments...); }
#if defined(__x86_64__)
  __attribute__((target("avx2"))) static Result ForAvx2(Arguments... arguments) {
    return kKernel(arguments...);
  }
#endif
};

constexpr Kernels kBaselineKernels = {
    Compiled<MarkColumnsOf<Sse2>>::ForBaseline,       Compiled<EliminateBlockOf<Sse2>>::ForBaseline,
    Compiled<SubtractFromSchurOf<Sse2>>::ForBaseline, Compiled<SubstituteBlockOf<Sse2>>::ForBaseline,
    Compiled<FactorDenseOf<Sse2>>::ForBaseline,       Compiled<DotOf<Sse2>>::ForBaseline};
#if defined(__x86_64__)
constexpr Kernels kAvx2Kernels = {
    Compiled<MarkColumnsOf<Avx2>>::ForAvx2,       Compiled<EliminateBlockOf<Avx2>>::ForAvx2,
    Compiled<SubtractFromSchurOf<Avx2>>::ForAvx2, Compiled<SubstituteBlockOf<Avx2>>::ForAvx2,
    Compiled<FactorDenseOf<Avx2>>::ForAvx2,       Compiled<DotOf<Avx2>>::ForAvx2};
#endif

}  // namespace

const Kernels* FindKernels(LcpKernels kernels) {
  if (kernels == LcpKernels::kBaseline) return &kBaselineKernels;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return &kAvx2Kernels;
#endif
  return nullptr;
}

const Kernels& BestKernels() {
  static const Kernels* const avx2 = FindKernels(LcpKernels::kAvx2);
  return avx2 != nullptr ? *avx2 : kBaselineKernels;
}

}  // namespace retrace::simulation
