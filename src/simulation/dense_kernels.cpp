#include "dense_kernels.h"

#define RETRACE_INLINE [[gnu::always_inline]] inline

namespace retrace::simulation {
namespace {

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
// What varies from row to row is a mask, not a branch: the processor could not foresee it.

using FourStates = long long __attribute__((vector_size(sizeof(Four))));  // or masks: all bits of a number or none
static_assert(sizeof(PivotProblem::State) == sizeof(long long));

RETRACE_INLINE void LoadStates(const PivotProblem::State* p, FourStates& states) {
  __builtin_memcpy(&states, p, sizeof(states));
}
RETRACE_INLINE void StoreStates(const FourStates& states, PivotProblem::State* p) {
  __builtin_memcpy(p, &states, sizeof(states));
}
constexpr long long kAtLow = PivotProblem::kAtLow, kFree = PivotProblem::kFree, kAtHigh = PivotProblem::kAtHigh,
                    kFixed = PivotProblem::kFixed, kLeftOut = PivotProblem::kLeftOut;

/// Rows whose limits are equal are fixed, and no row is at a limit that is infinite.
RETRACE_INLINE void MakeAdmissible(const PivotProblem& p) {
  constexpr double kNoLimit = __builtin_huge_val();
  for (int j = 0; j < p.size; j += kPad) {
    Four low, high;
    FourStates states;
    Load(p.low + j, low);
    Load(p.high + j, high);
    LoadStates(p.states + j, states);
    const FourStates held = ((states == kAtLow) & (low > -kNoLimit)) | ((states == kAtHigh) & (high < kNoLimit));
    const FourStates all_free = FourStates{} + kFree, all_fixed = FourStates{} + kFixed;
    FourStates admissible = held ? states : all_free;
    admissible = low == high ? all_fixed : admissible;
    StoreStates(states == kLeftOut ? states : admissible, p.states + j);
  }
}

/// Puts x of the rows at a limit there and of all others to 0; lists the free rows F. `left` becomes s - S_B x_B, which
/// the free rows are to make up for. Returns the largest of these forces.
RETRACE_INLINE double HoldAtLimits(const PivotProblem& p, int& num_free) {
  Four largest = {};
  int free_so_far = 0, pushing = 0;  // rows at a limit that is a force
  for (int j = 0; j < p.size; j += kPad) {
    Four low, high, rhs;
    FourStates states;
    Load(p.low + j, low);
    Load(p.high + j, high);
    Load(p.rhs + j, rhs);
    LoadStates(p.states + j, states);
    constexpr Four kNone = {};
    const FourStates at_low = (states == kAtLow) | (states == kFixed);
    const Four of_high = states == kAtHigh ? high : kNone;
    const Four x = at_low ? low : of_high;
    const Four size = x < 0 ? -x : x;
    largest = largest < size ? size : largest;
    Store(x, p.x + j);
    Store(rhs, p.left + j);
  }
  for (int i = 0; i < p.size; ++i) {
    p.free[free_so_far] = i;
    free_so_far += p.states[i] == kFree ? 1 : 0;
  }
  num_free = free_so_far;
  const double first = largest[0] < largest[1] ? largest[1] : largest[0];
  const double second = largest[2] < largest[3] ? largest[3] : largest[2];
  const double most = first < second ? second : first;
  if (most == 0) return most;
  for (int i = 0; i < p.size; ++i) {
    p.held[pushing] = i;
    pushing += p.x[i] != 0 ? 1 : 0;
  }
  for (int j = 0; j < p.size; j += kPad) {
    Four left;
    Load(p.left + j, left);
    for (int k = 0; k < pushing; ++k) {
      Four of_row;
      Load(p.matrix + p.held[k] * p.stride + j, of_row);
      left -= p.x[p.held[k]] * of_row;
    }
    Store(left, p.left + j);
  }
  return most;
}

/// Solves S_FF x_F = left_F for so few free rows F that their matrix stays in registers: each row in turn is taken from
/// all others, those above it, too, so that nothing is left but the diagonal. Of the symmetric matrix the upper
/// triangle is worked on.
template <int kSize>
RETRACE_INLINE bool SolveFewFreeRows(const PivotProblem& p) {
  constexpr int kVectors = kSize / kPad + 1;  // of a row, the right side behind it
  Four rows[kSize][kVectors];
  Unroll<0, kSize>([&](auto r) __attribute__((always_inline)) {
    const int row = p.free[r];
    const double* from = p.matrix + row * p.stride;
    const double right = p.left[row];
    Unroll<r / kPad, kVectors>([&](auto v) __attribute__((always_inline)) {
      Four numbers = {};
      Unroll<0, kPad>([&](auto l) __attribute__((always_inline)) {
        constexpr int kColumn = kPad * v + l;
        if constexpr (kColumn >= r && kColumn < kSize) numbers[int{l}] = from[p.free[kColumn]];
        if constexpr (kColumn == kSize) numbers[int{l}] = right;
      });
      rows[r][v] = numbers;
    });
  });
  double inverse[kSize];
  bool positive = true;
  Unroll<0, kSize>([&](auto pivot) __attribute__((always_inline)) {
    constexpr int kFirst = pivot / kPad;
    const double on_diagonal = rows[pivot][kFirst][int{pivot} % kPad];
    positive = positive && on_diagonal > 0;
    inverse[pivot] = 1 / on_diagonal;
    Four scaled[kVectors];
    Unroll<kFirst, kVectors>([&](auto v)
                                 __attribute__((always_inline)) { scaled[v] = rows[pivot][v] * inverse[pivot]; });
    Unroll<0, kSize>([&](auto r) __attribute__((always_inline)) {
      if constexpr (r < pivot) {
        const double coupling = rows[r][kFirst][int{pivot} % kPad];
        Unroll<kFirst, kVectors>([&](auto v) __attribute__((always_inline)) { rows[r][v] -= coupling * scaled[v]; });
      }
      if constexpr (r > pivot) {
        const double coupling = rows[pivot][r / kPad][int{r} % kPad];
        Unroll<r / kPad, kVectors>([&](auto v) __attribute__((always_inline)) { rows[r][v] -= coupling * scaled[v]; });
      }
    });
  });
  if (!positive) return false;
  Unroll<0, kSize>([&](auto r) __attribute__((always_inline)) {
    p.free_x[r] = rows[r][kSize / kPad][kSize % kPad] * inverse[r];
  });
  return true;
}

/// The same for any number of them.
RETRACE_INLINE bool SolveManyFreeRows(const PivotProblem& p, int count) {
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
    to[count] = p.left[row];
  }
  return SolveOf(p.free_matrix, stride, count, p.free_x, p.inverse_pivot);
}

RETRACE_INLINE bool SolveFreeRows(const PivotProblem& p, int count) {
  constexpr int kFew = 11;
  if (count > kFew) return SolveManyFreeRows(p, count);
  bool solved = true;  // where none is free
  Unroll<1, kFew + 1>([&](auto n) __attribute__((always_inline)) {
    if (count == n) solved = SolveFewFreeRows<n>(p);
  });
  return solved;
}

/// x of the rows at a limit is that limit, that of the free rows F solves S_FF x_F = s_F - S_FB x_B. False when a pivot
/// is not positive.
RETRACE_INLINE bool SolveForStates(const PivotProblem& p, int& num_free, double& largest_force) {
  double largest = HoldAtLimits(p, num_free);
  if (!SolveFreeRows(p, num_free)) return false;
  for (int r = 0; r < num_free; ++r) {
    const double x = p.free_x[r];
    p.x[p.free[r]] = x;
    const double size = __builtin_fabs(x);
    largest = largest < size ? size : largest;
  }
  largest_force = largest;
  return true;
}

/// Gives the rows that violate their condition the states that these violations require. Returns how many.
RETRACE_INLINE int ChangeViolated(const PivotProblem& p, int num_free, double largest_force) {
  const double force_tolerance = p.force_tolerance * (1.0 < largest_force ? largest_force : 1.0);
  const double residual = p.residual_per_force * largest_force;
  const double residual_tolerance = p.smallest_residual < residual ? residual : p.smallest_residual;
  FourStates count = {};
  for (int j = 0; j < p.size; j += kPad) {
    Four w = {}, left, x, low, high;
    FourStates states;
    for (int r = 0; r < num_free; ++r) {
      Four of_row;
      Load(p.matrix + p.free[r] * p.stride + j, of_row);
      w += p.free_x[r] * of_row;
    }
    Load(p.left + j, left);
    Load(p.low + j, low);
    Load(p.high + j, high);
    LoadStates(p.states + j, states);
    Load(p.x + j, x);
    w -= left;
    const FourStates is_free = states == kFree;
    const FourStates to_low = is_free & (x < low - force_tolerance);
    const FourStates to_high = is_free & (x > high + force_tolerance);
    const FourStates to_free =
        ((states == kAtLow) & (w < -residual_tolerance)) | ((states == kAtHigh) & (w > residual_tolerance));
    const FourStates violated = to_low | to_high | to_free;
    const FourStates all_free = FourStates{} + kFree, all_low = FourStates{} + kAtLow,
                     all_high = FourStates{} + kAtHigh;
    FourStates wanted = to_low ? all_low : all_high;
    wanted = to_free ? all_free : wanted;
    StoreStates(violated ? wanted : states, p.states + j);
    count -= violated;
  }
  return static_cast<int>((count[0] + count[1]) + (count[2] + count[3]));
}

RETRACE_INLINE bool SolveFreeOf(const PivotProblem& problem) {
  int num_free = 0;
  double largest_force = 0;
  MakeAdmissible(problem);
  return SolveForStates(problem, num_free, largest_force);
}

RETRACE_INLINE bool PivotOf(const PivotProblem& problem) {
  const PivotProblem p = problem;  // what it points at is not in it
  MakeAdmissible(p);
  int fewest = p.size + 1;  // violated rows so far
  int stalls_left = p.most_stalls;
  for (;;) {
    int num_free = 0;
    double largest_force = 0;
    if (!SolveForStates(p, num_free, largest_force)) return false;
    const int count = ChangeViolated(p, num_free, largest_force);
    if (count == 0) return true;
    if (count < fewest) {
      fewest = count;
      stalls_left = p.most_stalls;
    } else if (--stalls_left < 0) {
      return false;
    }
  }
}

}  // namespace

constexpr simd::KernelTables<DenseKernels> kDenseKernels =
    simd::ForBoth<DenseKernels, PivotOf, SolveFreeOf, SolveOf, DotOf>();

}  // namespace retrace::simulation
