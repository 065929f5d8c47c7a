#include "eliminated_lcp.h"

#include <dlfcn.h>
#include <ode/ode.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

// ---- the mathematics ------------------------------------------------------------------------------------------------------
//
// ODE asks for x with w = A x - b, low <= x <= high, and w_i >= 0, <= 0 or = 0 where x_i is at its low limit, at its high limit
// or between. A = J M^-1 J^T + CFM/h is symmetric and positive definite; x are constraint forces. The rows of joints and of
// motors without a force limit are unbounded (set u), those of contacts and joint stops are bounded (set c). For u always w = 0:
//
//     A_uu x_u + A_uc x_c = b_u        =>   x_u = A_uu^-1 (b_u - A_uc x_c)
//     A_cu x_u + A_cc x_c = b_c + w_c  =>   w_c = S x_c - s,   S = A_cc - A_cu A_uu^-1 A_uc,   s = b_c - A_cu A_uu^-1 b_u
//
// S is positive definite too, so the small problem (S, s) has the same unique solution. Two rows couple only when their joints
// share a body. A character is a tree, therefore A_uu has an elimination order without fill: leaves first. With
// A_uu = U^T D^-1 U (U upper triangular with D on its diagonal, i.e. U = D L^T) the elimination carries the other columns along:
//
//     Y = D L^-1 ... is never needed by itself; with Y := L^-1 A_uc and y := L^-1 b_u
//     S = A_cc - Y^T D^-1 Y,   s = b_c - Y^T D^-1 y,   L^T x_u = D^-1 (y - Y x_c)
//
// Friction has ODE's two stages: first all rows without friction are solved with the friction forces at zero; the normal forces
// x_n found then fix the friction limits at +-mu |x_n|, and the whole box problem is solved with these limits.
//
// The box problem is solved by block principal pivoting (Judice and Pires 1994): guess which rows are at a limit, solve for the
// free ones, flip every row that violates its condition, repeat. The first guess is the outcome of the previous step. This
// usually ends after one or two rounds but need not end at all; after a few rounds ODE's own Dantzig solver takes the problem
// (S, s), where it is cheap because the joint rows, which it would factor again at each pivot, are gone.
//
// Determinism. The bits of the result depend on the order of elimination, which is a pure function of the pattern of A_uu; a
// cache of analyses only saves time. The pattern is read from A itself, with two precautions against entries that happen to
// vanish, as many do in a pose with aligned limbs: terms that cancel come out as 1e-17 in one step and as 0 in the next, and
// each new pattern would cost an analysis. (1) Up to kPatternTolerance times the largest diagonal entry counts as zero, a
// perturbation no larger than that of rounding errors. (2) Rows are taken by threes, as ODE's ball joints and motors come; the
// 3x3 block of two joints that share a body practically never vanishes as a whole. Entries of a joint with another number of
// rows fall into several triples: the pattern is then larger than it need be, and nothing else.
//
// The only memory from step to step is the first guess of the pivoting, which ResetWarmStart() clears.

class dxWorldProcessMemArena;  // ODE's, only passed through

namespace retrace::simulation {
namespace {

static_assert(std::is_same_v<dReal, double>, "this module needs libode built with double precision");

using StockSolver = void (*)(dxWorldProcessMemArena*, unsigned, dReal*, dReal*, dReal*, unsigned, dReal*, int*);
constexpr char kSolverSymbol[] = "_Z10dxSolveLCPP22dxWorldProcessMemArenajPdS1_S1_jS1_Pi";

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kPatternTolerance = 1e-14;
constexpr int kMaxRows = 4096;          // larger problems go to ODE's solver
constexpr size_t kMaxAnalyses = 4096;   // per thread; then the cache starts anew
constexpr int kMaxPivotRounds = 6;
constexpr int kTriple = 3;
constexpr int kPad = 4;  // the kernels work on runs of columns rounded up to this many doubles

constexpr int RoundUp(int n) { return (n + kPad - 1) / kPad * kPad; }
constexpr int WordsFor(int bits) { return (bits + 63) / 64; }
constexpr int TriplesFor(int rows) { return (rows + kTriple - 1) / kTriple; }

/// Masks of triples use every third of the first 60 bits of a word.
constexpr int kColumnsPerWord = 60;
constexpr uint64_t kTripleBits = 0x0249249249249249;
constexpr int MaskWordsFor(int columns) { return (columns + kColumnsPerWord - 1) / kColumnsPerWord; }

/// Calls visit(first column) for each triple of columns in a mask.
template <class Visit>
void ForEachTriple(const uint64_t* mask, int words, Visit visit) {
  for (int k = 0; k < words; ++k) {
    for (uint64_t rest = mask[k]; rest != 0; rest &= rest - 1) visit(k * kColumnsPerWord + std::countr_zero(rest));
  }
}

template <class Visit>
void ForEachBit(const uint64_t* words, int word_count, Visit visit) {
  for (int k = 0; k < word_count; ++k) {
    for (uint64_t rest = words[k]; rest != 0; rest &= rest - 1) visit(k * 64 + std::countr_zero(rest));
  }
}

/// Memory that is only ever enlarged, aligned to cache lines. Enlarging loses the contents.
template <class T>
class Buffer {
 public:
  T* Reserve(size_t count) {
    if (count > capacity_) {
      capacity_ = count + count / 2;
      data_.reset(static_cast<T*>(::operator new(capacity_ * sizeof(T), std::align_val_t{64})));
    }
    return data_.get();
  }
  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  T& operator[](size_t i) { return data_.get()[i]; }
  const T& operator[](size_t i) const { return data_.get()[i]; }

 private:
  static_assert(std::is_trivial_v<T>);
  struct Free {
    void operator()(T* p) const { ::operator delete(p, std::align_val_t{64}); }
  };
  std::unique_ptr<T, Free> data_;
  size_t capacity_ = 0;
};

/// The arguments of dxSolveLCP. Only the lower triangle of A is meaningful.
struct Problem {
  int rows;
  ptrdiff_t skip;
  const double* a;
  double* bx;
  int nub;  // the first rows, known to be unbounded
  const double* limits;
  const int* friction;

  const double* Row(int i) const { return a + i * skip; }
  double Entry(int i, int j) const { return i > j ? Row(i)[j] : Row(j)[i]; }
  double Rhs(int i) const { return bx[2 * i]; }
  double& X(int i) const { return bx[2 * i + 1]; }
  double Low(int i) const { return limits[2 * i]; }
  double High(int i) const { return limits[2 * i + 1]; }
  int FrictionOf(int i) const { return friction == nullptr ? -1 : friction[i]; }
  bool Unbounded(int i) const {
    return i < nub || (FrictionOf(i) < 0 && Low(i) == -kInfinity && High(i) == kInfinity);
  }
};

/// Rows of one kind in a problem, and how to find them in a bit mask of all rows.
class RowList {
 public:
  void Clear() { rows_.clear(), runs_.clear(); }
  void Append(int row) {
    if (runs_.empty() || runs_.back().first + runs_.back().count != row) runs_.push_back({row, size(), 0});
    ++runs_.back().count;
    rows_.push_back(row);
  }
  int size() const { return static_cast<int>(rows_.size()); }
  int operator[](int i) const { return rows_[i]; }
  std::span<const int> rows() const { return rows_; }

  /// Takes the bits of these rows out of a mask of all rows, and ors those of three neighbours into one: adds a mask of triples.
  void AddTriples(const uint64_t* mask, uint64_t* triples) const {
    for (const Run& run : runs_) {
      for (int done = 0; done < run.count;) {
        const int from = run.first + done;
        const int to = run.place + done;
        const int count = std::min({run.count - done, 64 - from % 64, kColumnsPerWord - to % kColumnsPerWord});
        const uint64_t bits = mask[from / 64] >> (from % 64) & (~uint64_t{0} >> (64 - count));
        triples[to / kColumnsPerWord] |= bits << to % kColumnsPerWord;
        done += count;
      }
    }
    for (int k = 0; k < MaskWordsFor(size()); ++k) {
      triples[k] = (triples[k] | triples[k] >> 1 | triples[k] >> 2) & kTripleBits;
    }
  }

 private:
  struct Run {
    int first, place, count;
  };
  std::vector<int> rows_;
  std::vector<Run> runs_;
};

// ---- symbolic analysis ----------------------------------------------------------------------------------------------------

/// The pattern of A_uu, whose rows are counted from 0 here: for each triple of rows, the triples of columns before it that it couples to.
struct Pattern {
  int size = 0;   // rows
  int words = 0;  // per mask
  std::vector<uint64_t> masks;  // (triples x words)

  int triples() const { return TriplesFor(size); }
  bool operator==(const Pattern&) const = default;
};

class BitMatrix {
 public:
  explicit BitMatrix(int n) : words_(WordsFor(n)), bits_(static_cast<size_t>(n) * words_, 0) {}
  void Set(int i, int j) { Word(i, j) |= uint64_t{1} << (j & 63); }
  void SetBoth(int i, int j) { Set(i, j), Set(j, i); }
  void Clear(int i, int j) { Word(i, j) &= ~(uint64_t{1} << (j & 63)); }
  bool Get(int i, int j) const { return bits_[i * words_ + j / 64] >> (j & 63) & 1; }
  const uint64_t* Row(int i) const { return bits_.data() + i * words_; }
  int words() const { return static_cast<int>(words_); }

 private:
  uint64_t& Word(int i, int j) { return bits_[i * words_ + j / 64]; }
  ptrdiff_t words_;
  std::vector<uint64_t> bits_;
};

/// The elimination order and the pattern of U: rows in blocks, one block for the rows between the same two bodies, whose rows
/// of U have the same pattern. A pure function of the pattern.
class SymbolicFactor {
 public:
  struct Run {
    int begin, end;  // places in the elimination order
  };
  /// A range of rows that eliminating a block changes: the block itself or a later one. `run` holds its columns.
  struct Target {
    int block, begin, end, run;
  };
  /// Rows [begin, end) of U. Their columns are the runs [first_run, last_run), ascending; the first one starts at `begin`.
  struct Block {
    int begin, end;
    int first_run, last_run;
    int first_target, last_target;
  };
  /// A block of up to three by three entries of A_uu that U starts with: the places of its first row and column in A_uu, and
  /// where it goes in U.
  struct Copy {
    int row, column;
    ptrdiff_t to;
  };

  explicit SymbolicFactor(const Pattern& pattern);

  int size() const { return size_; }
  ptrdiff_t stride() const { return RoundUp(size_) + kPad; }  // of U, in doubles
  std::span<const Block> blocks() const { return blocks_; }
  const Run* runs() const { return runs_.data(); }
  const Target* targets() const { return targets_.data(); }
  std::span<const Copy> lower_copies() const { return lower_copies_; }        // row > column
  std::span<const Copy> upper_copies() const { return upper_copies_; }        // row < column
  std::span<const Copy> diagonal_copies() const { return diagonal_copies_; }  // row = column
  int RowsOfTriple(int triple) const { return std::min(kTriple, size_ - triple); }
  int PlaceOfTriple(int triple) const { return place_[triple / kTriple]; }
  int BlockOfTriple(int triple) const { return block_[triple / kTriple]; }

 private:
  using Groups = std::vector<std::vector<int>>;  // of triples

  BitMatrix Couplings(const Pattern& pattern) const;
  static Groups GroupAlike(const BitMatrix& coupled, int count);
  void Eliminate(const BitMatrix& coupled, const Groups& groups);
  void AssignPlaces(const Groups& groups, const std::vector<int>& sequence);
  void AppendRuns(const Groups& structure, const std::vector<int>& sequence);
  void AppendCopies(const std::vector<int>& row_group, const std::vector<int>& column_group);
  int RowsIn(const std::vector<int>& group) const;

  int size_;
  std::vector<Block> blocks_;
  std::vector<Run> runs_;
  std::vector<Target> targets_;
  std::vector<Copy> lower_copies_, upper_copies_, diagonal_copies_;
  std::vector<int> place_, block_;  // per triple
};

SymbolicFactor::SymbolicFactor(const Pattern& pattern) : size_(pattern.size) {
  const BitMatrix coupled = Couplings(pattern);
  Eliminate(coupled, GroupAlike(coupled, pattern.triples()));
}

BitMatrix SymbolicFactor::Couplings(const Pattern& pattern) const {
  BitMatrix coupled(pattern.triples());
  for (int i = 0; i < pattern.triples(); ++i) {
    coupled.Set(i, i);
    ForEachTriple(pattern.masks.data() + static_cast<ptrdiff_t>(i) * pattern.words, pattern.words,
                  [&](int column) { coupled.SetBoth(i, column / kTriple); });
  }
  return coupled;
}

/// Groups triples that couple to nearly the same others: those of one joint and of its motor do. A triple joins the first
/// group with a first member that it couples to and shares 4/5 of all couplings with. Neighbouring joints share less: in a
/// chain 2/3. Grouping too much or too little costs time, not correctness.
SymbolicFactor::Groups SymbolicFactor::GroupAlike(const BitMatrix& coupled, int count) {
  Groups groups;
  for (int i = 0; i < count; ++i) {
    const auto alike = [&](const std::vector<int>& group) {
      if (!coupled.Get(i, group.front())) return false;
      const uint64_t* a = coupled.Row(i);
      const uint64_t* b = coupled.Row(group.front());
      int both = 0;
      int either = 0;
      for (int k = 0; k < coupled.words(); ++k) {
        both += std::popcount(a[k] & b[k]);
        either += std::popcount(a[k] | b[k]);
      }
      return 5 * both >= 4 * either;
    };
    const auto group = std::find_if(groups.begin(), groups.end(), alike);
    if (group == groups.end()) {
      groups.push_back({i});
    } else {
      group->push_back(i);
    }
  }
  return groups;
}

int SymbolicFactor::RowsIn(const std::vector<int>& group) const {
  int rows = 0;
  for (const int triple : group) rows += RowsOfTriple(triple * kTriple);
  return rows;
}

/// Minimum degree on the graph of groups: always take the group that couples to the fewest remaining rows; these then couple
/// to one another. Among equals the one with the shortest chain of eliminated groups behind it goes first, so that a tree is
/// peeled evenly and the last groups are in its middle: the columns of a contact fill the rows from its limb to there only.
void SymbolicFactor::Eliminate(const BitMatrix& coupled, const Groups& groups) {
  const int count = static_cast<int>(groups.size());
  std::vector<int> group_of(TriplesFor(size_));
  for (int g = 0; g < count; ++g) {
    for (const int triple : groups[g]) group_of[triple] = g;
  }
  BitMatrix adjacent(count);
  for (int i = 0; i < static_cast<int>(group_of.size()); ++i) {
    ForEachBit(coupled.Row(i), coupled.words(), [&](int j) { adjacent.SetBoth(group_of[i], group_of[j]); });
  }
  for (int g = 0; g < count; ++g) adjacent.Clear(g, g);

  std::vector<int> level(count, 0);
  std::vector<bool> done(count, false);
  std::vector<int> sequence;
  Groups structure(count);  // per group: the groups it couples to when it is eliminated
  while (static_cast<int>(sequence.size()) < count) {
    std::pair<int, int> best_key{std::numeric_limits<int>::max(), 0};
    int best = -1;
    for (int g = 0; g < count; ++g) {
      if (done[g]) continue;
      int degree = RowsIn(groups[g]);
      ForEachBit(adjacent.Row(g), adjacent.words(), [&](int h) { degree += RowsIn(groups[h]); });
      if (const std::pair key{degree, level[g]}; key < best_key) best_key = key, best = g;
    }
    done[best] = true;
    sequence.push_back(best);
    ForEachBit(adjacent.Row(best), adjacent.words(), [&](int h) { structure[best].push_back(h); });
    for (const int h : structure[best]) {
      adjacent.Clear(h, best);
      level[h] = std::max(level[h], level[best] + 1);
      for (const int other : structure[best]) {
        if (other != h) adjacent.Set(h, other);
      }
    }
  }
  AssignPlaces(groups, sequence);
  AppendRuns(structure, sequence);
  for (int g = 0; g < count; ++g) {
    AppendCopies(groups[g], groups[g]);
    for (const int later : structure[g]) AppendCopies(groups[g], groups[later]);
  }
}

void SymbolicFactor::AssignPlaces(const Groups& groups, const std::vector<int>& sequence) {
  place_.resize(TriplesFor(size_));
  block_.resize(TriplesFor(size_));
  int place = 0;
  for (const int g : sequence) {
    Block block{};
    block.begin = place;
    for (const int triple : groups[g]) {
      place_[triple] = place;
      block_[triple] = static_cast<int>(blocks_.size());
      place += RowsOfTriple(triple * kTriple);
    }
    block.end = place;
    blocks_.push_back(block);
  }
}

void SymbolicFactor::AppendRuns(const Groups& structure, const std::vector<int>& sequence) {
  std::vector<int> block_of(sequence.size());
  for (int b = 0; b < static_cast<int>(sequence.size()); ++b) block_of[sequence[b]] = b;
  for (int b = 0; b < static_cast<int>(blocks_.size()); ++b) {
    std::vector<int> columns{b};
    for (const int g : structure[sequence[b]]) columns.push_back(block_of[g]);
    std::sort(columns.begin(), columns.end());
    Block& block = blocks_[b];
    block.first_run = static_cast<int>(runs_.size());
    block.first_target = static_cast<int>(targets_.size());
    for (const int c : columns) {
      // The kernels round the width of a run up, and must not touch the next run then: a narrow gap joins the run. Its
      // columns are zero.
      if (c != b && blocks_[c].begin - runs_.back().end < kPad) {
        runs_.back().end = blocks_[c].end;
      } else {
        runs_.push_back({blocks_[c].begin, blocks_[c].end});
      }
      targets_.push_back({c, blocks_[c].begin, blocks_[c].end, static_cast<int>(runs_.size()) - 1});
    }
    block.last_run = static_cast<int>(runs_.size());
    block.last_target = static_cast<int>(targets_.size());
  }
}

void SymbolicFactor::AppendCopies(const std::vector<int>& row_group, const std::vector<int>& column_group) {
  for (const int row : row_group) {
    for (const int column : column_group) {
      std::vector<Copy>& list = row > column ? lower_copies_ : row < column ? upper_copies_ : diagonal_copies_;
      list.push_back({row * kTriple, column * kTriple, place_[row] * stride() + place_[column]});
    }
  }
}

/// Remembers the analyses of this thread.
class AnalysisCache {
 public:
  const SymbolicFactor& Find(const Pattern& pattern, LcpStatistics& statistics) {
    if (last_ != nullptr && last_->first == pattern) return last_->second;
    uint64_t hash = 1469598103934665603u + static_cast<uint64_t>(pattern.size);
    const auto mix = [&hash](uint64_t word) {
      hash = (hash ^ word) * 1099511628211u;
      hash ^= hash >> 29;
    };
    for (const uint64_t word : pattern.masks) mix(word);

    auto [begin, end] = known_.equal_range(hash);
    const auto found = std::find_if(begin, end, [&](const auto& entry) { return entry.second->first == pattern; });
    if (found != end) {
      last_ = found->second.get();
      return last_->second;
    }
    ++statistics.analyses;
    if (known_.size() >= kMaxAnalyses) known_.clear();
    last_ = known_.emplace(hash, std::make_unique<Entry>(pattern, SymbolicFactor(pattern)))->second.get();
    return last_->second;
  }

 private:
  using Entry = std::pair<const Pattern, const SymbolicFactor>;
  std::unordered_multimap<uint64_t, std::unique_ptr<Entry>> known_;
  const Entry* last_ = nullptr;
};

// ---- kernels --------------------------------------------------------------------------------------------------------------
//
// Each inner loop is written once, for vectors of two or four doubles, and instantiated in a function for the baseline (SSE2)
// and in one for AVX2. Every element sees the same operations in the same order in both, and neither uses fused
// multiply-add, so the results have the same bits.

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

#define RETRACE_INLINE [[gnu::always_inline]] inline

/// For kRows targets at once: target -= sum over p of coefficients[p] * rows[p], for a few columns kept in registers. Targets
/// and their coefficients lie `target_stride` and `count` apart.
template <class Simd, int kRows, int kVectors>
RETRACE_INLINE void SubtractTile(double* target, ptrdiff_t target_stride, const double* rows, ptrdiff_t stride,
                                 const double* coefficients, int count) {
  using Vec = typename Simd::Vec;
  Vec sum[kRows][kVectors];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      sum[r][v] = *reinterpret_cast<const Vec*>(target + r * target_stride + v * Simd::kLanes);
    }
  }
  for (int p = 0; p < count; ++p, rows += stride) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      const Vec row = *reinterpret_cast<const Vec*>(rows + v * Simd::kLanes);
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r) sum[r][v] -= coefficients[r * count + p] * row;
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      *reinterpret_cast<Vec*>(target + r * target_stride + v * Simd::kLanes) = sum[r][v];
    }
  }
}

/// The same for `width` columns, rounded up to a multiple of kPad.
template <class Simd, int kRows>
RETRACE_INLINE void SubtractRows(double* target, ptrdiff_t target_stride, const double* rows, ptrdiff_t stride,
                                 const double* coefficients, int count, int width) {
  constexpr int kLanes = Simd::kLanes;
  const int end = RoundUp(width);
  int j = 0;
  for (; j + 4 * kLanes <= end; j += 4 * kLanes) {
    SubtractTile<Simd, kRows, 4>(target + j, target_stride, rows + j, stride, coefficients, count);
  }
  if (j + 2 * kLanes <= end) {
    SubtractTile<Simd, kRows, 2>(target + j, target_stride, rows + j, stride, coefficients, count);
    j += 2 * kLanes;
  }
  if (j < end) SubtractTile<Simd, kRows, 1>(target + j, target_stride, rows + j, stride, coefficients, count);
}

/// Sum of a[i] * b[i] in four partial sums; the width is rounded up to a multiple of kPad.
template <class Simd>
RETRACE_INLINE double DotOf(const double* a, const double* b, int width) {
  using Vec = typename Simd::Vec;
  constexpr int kVectors = kPad / Simd::kLanes;
  Vec sum[kVectors] = {};
  for (int j = 0; j < width; j += kPad) {
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) {
      sum[v] += *reinterpret_cast<const Vec*>(a + j + v * Simd::kLanes) *
                *reinterpret_cast<const Vec*>(b + j + v * Simd::kLanes);
    }
  }
  double lanes[kPad];
  std::memcpy(lanes, sum, sizeof lanes);
  return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
}

/// Sets bit j where |row[j]| > tolerance (or is NaN) in any of three rows. Reads columns up to the next multiple of kPad.
template <class Simd>
RETRACE_INLINE void MarkColumnsOf(const std::array<const double*, kTriple>& rows, int columns, double tolerance,
                                  uint64_t* words) {
  using Vec = typename Simd::Vec;
  using Bits = typename Simd::Bits;
  for (int begin = 0; begin < columns; begin += 64, ++words) {
    const int width = std::min(64, columns - begin);
    Bits marked = {};
    Bits lane_bits = Simd::kLaneBits;
    for (int j = begin; j < begin + RoundUp(width); j += Simd::kLanes, lane_bits <<= Simd::kLanes) {
      Bits small = ~Bits{};
#pragma GCC unroll 3
      for (const double* row : rows) {
        const Vec v = *reinterpret_cast<const Vec*>(row + j);
        small &= (v <= tolerance) & (v >= -tolerance);
      }
      marked |= lane_bits & ~small;
    }
    uint64_t word = 0;
#pragma GCC unroll 4
    for (int lane = 0; lane < Simd::kLanes; ++lane) word |= static_cast<uint64_t>(marked[lane]);
    *words = width == 64 ? word : word & ((uint64_t{1} << width) - 1);
  }
}

/// The numbers that belong to a SymbolicFactor. Rows are places in the elimination order.
struct NumericFactor {
  double* u;               // (size x u_stride) upper triangle: first A_uu, then U = D L^T
  ptrdiff_t u_stride;
  double* y;               // (size x y_stride) first A_uc, then Y = L^-1 A_uc
  ptrdiff_t y_stride;
  double* rhs;             // first b_u, then y = L^-1 b_u
  double* inverse_pivot;   // 1 / D
  double* coefficients;    // scratch
  double smallest_pivot;   // anything below is singular
};

/// A range of contact columns, aligned to kPad at both ends so that the kernels never leave it.
struct ColumnRange {
  int begin = 0, end = 0;
};

/// Subtracts the first `pivots` rows of a block, scaled, from kRows rows of a target, from row r on: row r -= (U_pr / D_p) row p
/// in U, Y and y alike. Also computes what lies left of the diagonal in the target, for nothing, but in whole vectors.
template <class Simd, int kRows>
RETRACE_INLINE void SubtractPivots(const SymbolicFactor& symbolic, const SymbolicFactor::Block& block,
                                   const SymbolicFactor::Target& target, int r, int pivots, ColumnRange contacts,
                                   const NumericFactor& f) {
  const double* pivot_rows = f.u + block.begin * f.u_stride;
#pragma GCC unroll 2
  for (int k = 0; k < kRows; ++k) {
    double rhs = f.rhs[r + k];
    for (int p = 0; p < pivots; ++p) {
      const double c = pivot_rows[p * f.u_stride + r + k] * f.inverse_pivot[block.begin + p];
      f.coefficients[k * pivots + p] = c;
      rhs -= c * f.rhs[block.begin + p];
    }
    f.rhs[r + k] = rhs;
  }
  double* rows = f.u + r * f.u_stride;
  SubtractRows<Simd, kRows>(rows + target.begin, f.u_stride, pivot_rows + target.begin, f.u_stride, f.coefficients,
                            pivots, symbolic.runs()[target.run].end - target.begin);
  for (int later = target.run + 1; later < block.last_run; ++later) {
    const SymbolicFactor::Run& run = symbolic.runs()[later];
    SubtractRows<Simd, kRows>(rows + run.begin, f.u_stride, pivot_rows + run.begin, f.u_stride, f.coefficients, pivots,
                              run.end - run.begin);
  }
  SubtractRows<Simd, kRows>(f.y + r * f.y_stride + contacts.begin, f.y_stride,
                            f.y + block.begin * f.y_stride + contacts.begin, f.y_stride, f.coefficients, pivots,
                            contacts.end - contacts.begin);
}

/// Computes the rows of U, Y and y of a block, and subtracts them from all later rows. False when a pivot is not positive.
template <class Simd>
RETRACE_INLINE bool EliminateBlockOf(const SymbolicFactor& symbolic, const SymbolicFactor::Block& block,
                                     ColumnRange contacts, const NumericFactor& f) {
  const SymbolicFactor::Target* target = symbolic.targets() + block.first_target;
  for (int r = block.begin; r < block.end; ++r) {
    SubtractPivots<Simd, 1>(symbolic, block, *target, r, r - block.begin, contacts, f);
    const double pivot = f.u[r * f.u_stride + r];
    if (!(pivot > f.smallest_pivot)) return false;
    f.inverse_pivot[r] = 1 / pivot;
  }
  const int pivots = block.end - block.begin;
  for (++target; target != symbolic.targets() + block.last_target; ++target) {
    int r = target->begin;
    for (; r + 1 < target->end; r += 2) SubtractPivots<Simd, 2>(symbolic, block, *target, r, pivots, contacts, f);
    if (r < target->end) SubtractPivots<Simd, 1>(symbolic, block, *target, r, pivots, contacts, f);
  }
  return true;
}

/// S -= Y^T D^-1 Y in the lower triangle and s -= Y^T D^-1 y, for the rows of one block.
template <class Simd>
RETRACE_INLINE void SubtractFromSchurOf(const SymbolicFactor::Block& block, ColumnRange contacts,
                                        const NumericFactor& f, double* schur, ptrdiff_t stride, double* schur_rhs) {
  const int pivots = block.end - block.begin;
  const double* rows = f.y + block.begin * f.y_stride;
  const double* inverse_pivot = f.inverse_pivot + block.begin;
  for (int p = 0; p < pivots; ++p) f.coefficients[p] = f.rhs[block.begin + p] * inverse_pivot[p];
  SubtractRows<Simd, 1>(schur_rhs + contacts.begin, 0, rows + contacts.begin, f.y_stride, f.coefficients, pivots,
                        contacts.end - contacts.begin);
  for (int i = contacts.begin; i < contacts.end; i += 2) {
    for (int p = 0; p < pivots; ++p) {
      f.coefficients[p] = rows[p * f.y_stride + i] * inverse_pivot[p];
      f.coefficients[pivots + p] = rows[p * f.y_stride + i + 1] * inverse_pivot[p];
    }
    SubtractRows<Simd, 2>(schur + i * stride + contacts.begin, stride, rows + contacts.begin, f.y_stride,
                          f.coefficients, pivots, i + 2 - contacts.begin);
  }
}

/// Solves L^T x = D^-1 (y - Y x_c) for one block, later blocks being solved.
template <class Simd>
RETRACE_INLINE void SubstituteBlockOf(const SymbolicFactor& symbolic, const SymbolicFactor::Block& block,
                                      ColumnRange contacts, const NumericFactor& f, const double* x_contacts,
                                      double* x) {
  for (int p = block.end - 1; p >= block.begin; --p) {
    const double* row = f.u + p * f.u_stride;
    double sum = f.rhs[p] - DotOf<Simd>(f.y + p * f.y_stride + contacts.begin, x_contacts + contacts.begin,
                                        contacts.end - contacts.begin);
    for (int run = block.first_run; run < block.last_run; ++run) {
      const int begin = std::max(symbolic.runs()[run].begin, p + 1);
      sum -= DotOf<Simd>(row + begin, x + begin, symbolic.runs()[run].end - begin);
    }
    x[p] = sum * f.inverse_pivot[p];
  }
}

/// Turns the upper triangle of the dense (size x size+1) matrix [C | rhs] into [U | L^-1 rhs] row by row. False when a pivot
/// is not positive.
template <class Simd>
RETRACE_INLINE bool FactorDenseOf(double* matrix, ptrdiff_t stride, int size, double* inverse_pivot,
                                  double* coefficients) {
  for (int r = 0; r < size; ++r) {
    for (int p = 0; p < r; ++p) coefficients[p] = matrix[p * stride + r] * inverse_pivot[p];
    double* row = matrix + r * stride;
    SubtractRows<Simd, 1>(row + r, 0, matrix + r, stride, coefficients, r, size + 1 - r);
    if (!(row[r] > 0)) return false;
    inverse_pivot[r] = 1 / row[r];
  }
  return true;
}

/// A kernel compiled for either instruction set; the kernels above are inlined into these functions.
template <auto kKernel>
struct Compiled;
template <class Result, class... Arguments, Result (*kKernel)(Arguments...)>
struct Compiled<kKernel> {
  static Result ForBaseline(Arguments... arguments) { return kKernel(arguments...); }
#if defined(__x86_64__)
  __attribute__((target("avx2"))) static Result ForAvx2(Arguments... arguments) { return kKernel(arguments...); }
#endif
};

struct Kernels {
  void (*mark_columns)(const std::array<const double*, kTriple>& rows, int columns, double tolerance, uint64_t* words);
  bool (*eliminate_block)(const SymbolicFactor& symbolic, const SymbolicFactor::Block& block, ColumnRange contacts,
                          const NumericFactor& f);
  void (*subtract_from_schur)(const SymbolicFactor::Block& block, ColumnRange contacts, const NumericFactor& f,
                              double* schur, ptrdiff_t stride, double* schur_rhs);
  void (*substitute_block)(const SymbolicFactor& symbolic, const SymbolicFactor::Block& block, ColumnRange contacts,
                           const NumericFactor& f, const double* x_contacts, double* x);
  bool (*factor_dense)(double* matrix, ptrdiff_t stride, int size, double* inverse_pivot, double* coefficients);
  double (*dot)(const double* a, const double* b, int width);
};

constexpr Kernels kBaselineKernels = {
    Compiled<MarkColumnsOf<Sse2>>::ForBaseline, Compiled<EliminateBlockOf<Sse2>>::ForBaseline,
    Compiled<SubtractFromSchurOf<Sse2>>::ForBaseline, Compiled<SubstituteBlockOf<Sse2>>::ForBaseline, Compiled<FactorDenseOf<Sse2>>::ForBaseline,
    Compiled<DotOf<Sse2>>::ForBaseline};

/// Null when the processor lacks them.
const Kernels* FindKernels(LcpKernels kernels) {
  if (kernels == LcpKernels::kBaseline) return &kBaselineKernels;
#if defined(__x86_64__)
  static constexpr Kernels kAvx2Kernels = {
      Compiled<MarkColumnsOf<Avx2>>::ForAvx2, Compiled<EliminateBlockOf<Avx2>>::ForAvx2,
      Compiled<SubtractFromSchurOf<Avx2>>::ForAvx2, Compiled<SubstituteBlockOf<Avx2>>::ForAvx2, Compiled<FactorDenseOf<Avx2>>::ForAvx2,
      Compiled<DotOf<Avx2>>::ForAvx2};
  if (__builtin_cpu_supports("avx2")) return &kAvx2Kernels;
#endif
  return nullptr;
}

const Kernels* BestKernels() {
  static const Kernels* const best =
      FindKernels(LcpKernels::kAvx2) != nullptr ? FindKernels(LcpKernels::kAvx2) : &kBaselineKernels;
  return best;
}

// ---- the box problem of the bounded rows ----------------------------------------------------------------------------------

/// w = S x - s with limits on x; see the head of this file.
class BoxLcp {
 public:
  enum State : signed char { kAtLow, kFree, kAtHigh, kFixed };  // kFixed: both limits are equal

  /// Prepares for a problem of this size. The caller then fills in the lower triangle and the vectors.
  void Resize(int size);
  int size() const { return size_; }
  ptrdiff_t stride() const { return stride_; }
  double* matrix() { return matrix_.data(); }
  double* rhs() { return rhs_.data(); }
  double* low() { return low_.data(); }
  double* high() { return high_.data(); }
  int* friction_of() { return friction_of_.data(); }  // the place of the normal row, or -1
  double* x() { return x_.data(); }                   // padded with zeros
  void MirrorLowerTriangle();

  /// Both stages by block pivoting. On success low() and high() hold the limits that friction led to. After a failure the
  /// caller finds x by other means, and calls LearnFromSolution() to keep a first guess for the next problem.
  bool Solve(const Kernels& kernels, LcpStatistics& statistics);
  void LearnFromSolution(const Kernels& kernels);
  void ResetWarmStart() { remembered_size_ = -1; }

 private:
  void RecallStates();
  void RememberStates();
  State Admissible(int i, State state) const;
  bool Pivot(const std::vector<int>& rows, State* states, const Kernels& kernels, LcpStatistics& statistics);
  bool SolveFree(const std::vector<int>& rows, const State* states, const Kernels& kernels);
  int FlipViolated(const std::vector<int>& rows, State* states, const Kernels& kernels) const;
  double Residual(int i, const Kernels& kernels) const {
    return kernels.dot(matrix_.data() + i * stride_, x_.data(), size_) - rhs_[i];
  }

  int size_ = 0;
  ptrdiff_t stride_ = 0;
  Buffer<double> matrix_, rhs_, low_, high_, x_;
  Buffer<int> friction_of_;
  std::vector<int> without_friction_, all_;
  double residual_tolerance_ = 0;
  Buffer<State> first_, second_;  // of the two stages

  int remembered_size_ = -1;  // the outcome of the last problem; -1: none
  std::vector<int> remembered_friction_;
  std::vector<State> remembered_first_, remembered_second_;

  Buffer<double> free_matrix_, free_x_, inverse_pivot_, coefficients_;  // scratch of SolveFree
  std::vector<int> free_;
};

void BoxLcp::Resize(int size) {
  size_ = size;
  stride_ = RoundUp(size);
  const size_t padded = stride_ + 2 * kPad;
  matrix_.Reserve(padded * padded);
  for (Buffer<double>* buffer : {&rhs_, &low_, &high_, &x_, &free_x_, &inverse_pivot_, &coefficients_}) {
    std::fill_n(buffer->Reserve(padded), padded, 0.0);
  }
  friction_of_.Reserve(padded);
  first_.Reserve(padded);
  second_.Reserve(padded);
  free_matrix_.Reserve(padded * padded);
}

void BoxLcp::MirrorLowerTriangle() {
  for (int i = 0; i < size_; ++i) {
    double* row = matrix_.data() + i * stride_;
    for (int j = i + 1; j < size_; ++j) row[j] = matrix_[j * stride_ + i];
    for (ptrdiff_t j = size_; j < stride_; ++j) row[j] = 0;
  }
}

BoxLcp::State BoxLcp::Admissible(int i, State state) const {
  if (low_[i] == high_[i]) return kFixed;
  if (state == kAtLow && low_[i] > -kInfinity) return kAtLow;
  if (state == kAtHigh && high_[i] < kInfinity) return kAtHigh;
  return kFree;
}

void BoxLcp::RecallStates() {
  const bool same = remembered_size_ == size_ &&
                    std::equal(remembered_friction_.begin(), remembered_friction_.end(), friction_of_.data());
  for (int i = 0; i < size_; ++i) {
    first_[i] = same ? remembered_first_[i] : kFree;
    second_[i] = same ? remembered_second_[i] : kFree;
  }
}

void BoxLcp::RememberStates() {
  remembered_size_ = size_;
  remembered_friction_.assign(friction_of_.data(), friction_of_.data() + size_);
  remembered_first_.assign(first_.data(), first_.data() + size_);
  remembered_second_.assign(second_.data(), second_.data() + size_);
}

bool BoxLcp::Solve(const Kernels& kernels, LcpStatistics& statistics) {
  without_friction_.clear();
  all_.clear();
  double largest = 1;
  for (int i = 0; i < size_; ++i) {
    all_.push_back(i);
    if (friction_of_[i] < 0) without_friction_.push_back(i);
    largest = std::max(largest, std::fabs(rhs_[i]));
  }
  residual_tolerance_ = 1e-12 * largest;
  RecallStates();
  remembered_size_ = -1;
  if (without_friction_.size() < all_.size()) {
    if (!Pivot(without_friction_, first_.data(), kernels, statistics)) return false;
    for (int i = 0; i < size_; ++i) {
      if (friction_of_[i] < 0) continue;
      const double normal_force = x_[friction_of_[i]];
      high_[i] = normal_force == 0 ? 0 : std::fabs(high_[i] * normal_force);
      low_[i] = -high_[i];
    }
  }
  if (!Pivot(all_, second_.data(), kernels, statistics)) return false;
  RememberStates();
  return true;
}

/// Takes the states for the next warm start from a solution found elsewhere. A residual tells at which limit a row is.
void BoxLcp::LearnFromSolution(const Kernels& kernels) {
  for (int i = 0; i < size_; ++i) {
    const double w = Residual(i, kernels);
    second_[i] = w > residual_tolerance_ ? kAtLow : w < -residual_tolerance_ ? kAtHigh : kFree;
    first_[i] = second_[i];
  }
  RememberStates();
}

/// Block principal pivoting on the given rows; x of all others is zero.
bool BoxLcp::Pivot(const std::vector<int>& rows, State* states, const Kernels& kernels, LcpStatistics& statistics) {
  std::fill_n(x_.data(), size_, 0.0);
  for (const int i : rows) states[i] = Admissible(i, states[i]);
  for (int round = 0; round < kMaxPivotRounds; ++round) {
    ++statistics.iterations;
    if (!SolveFree(rows, states, kernels)) return false;
    if (FlipViolated(rows, states, kernels) == 0) return true;
  }
  return false;
}

/// x of the rows at a limit is that limit; x of the free ones solves S_FF x_F = s_F - S_FB x_B.
bool BoxLcp::SolveFree(const std::vector<int>& rows, const State* states, const Kernels& kernels) {
  free_.clear();
  bool any_force = false;
  for (const int i : rows) {
    if (states[i] == kFree) {
      free_.push_back(i);
      x_[i] = 0;
    } else {
      x_[i] = states[i] == kAtHigh ? high_[i] : low_[i];
      any_force = any_force || x_[i] != 0;
    }
  }
  const int count = static_cast<int>(free_.size());
  const ptrdiff_t stride = RoundUp(count + 1) + kPad;
  for (int r = 0; r < count; ++r) {
    const double* from = matrix_.data() + free_[r] * stride_;
    double* to = free_matrix_.data() + r * stride;
    for (int c = r; c < count; ++c) to[c] = from[free_[c]];
    to[count] = any_force ? -Residual(free_[r], kernels) : rhs_[free_[r]];
    std::fill(to + count + 1, to + stride, 0.0);
  }
  if (!kernels.factor_dense(free_matrix_.data(), stride, count, inverse_pivot_.data(), coefficients_.data())) return false;
  std::fill_n(free_x_.data() + count, kPad, 0.0);
  for (int r = count - 1; r >= 0; --r) {
    const double* row = free_matrix_.data() + r * stride;
    free_x_[r] = (row[count] - kernels.dot(row + r + 1, free_x_.data() + r + 1, count - r - 1)) * inverse_pivot_[r];
  }
  for (int r = 0; r < count; ++r) x_[free_[r]] = free_x_[r];
  return true;
}

/// Moves every row that violates its condition to the state that the violation asks for; returns how many there were.
int BoxLcp::FlipViolated(const std::vector<int>& rows, State* states, const Kernels& kernels) const {
  constexpr double kForceTolerance = 1e-12;
  int violated = 0;
  for (const int i : rows) {
    State next = states[i];
    if (states[i] == kFree) {
      if (x_[i] < low_[i] - kForceTolerance) next = kAtLow;
      if (x_[i] > high_[i] + kForceTolerance) next = kAtHigh;
    } else if (states[i] != kFixed) {
      const double w = Residual(i, kernels);
      if (states[i] == kAtLow ? w < -residual_tolerance_ : w > residual_tolerance_) next = kFree;
    }
    if (next != states[i]) {
      states[i] = next;
      ++violated;
    }
  }
  return violated;
}

// ---- the solver -----------------------------------------------------------------------------------------------------------

StockSolver FindStockSolver() {
  static const StockSolver stock = reinterpret_cast<StockSolver>(dlsym(RTLD_NEXT, kSolverSymbol));
  return stock;
}

/// Everything that a thread needs to solve problems; the memory is kept from call to call.
class EliminatedLcp {
 public:
  /// Writes x and returns true, or returns false with the problem untouched.
  bool Solve(const Problem& problem, dxWorldProcessMemArena* arena, const Kernels& kernels, LcpStatistics& statistics);
  void ResetWarmStart() { box_.ResetWarmStart(); }
  /// The problem just solved, with the limits that held in the end.
  SolvedLcp Describe(const Problem& problem);

 private:
  bool ListRows(const Problem& problem);
  const uint64_t* MarkColumns(const Problem& problem, const RowList& rows, int first, const Kernels& kernels);
  void FindPattern(const Problem& problem, const Kernels& kernels);
  void LoadUnbounded(const Problem& problem, const SymbolicFactor& symbolic);
  void ClearPadding(const SymbolicFactor& symbolic);
  bool Regular(int triple) const;
  void SpreadContacts(const SymbolicFactor& symbolic);
  void LoadCouplings(const Problem& problem, const SymbolicFactor& symbolic);
  void LoadBounded(const Problem& problem);
  bool Eliminate(const SymbolicFactor& symbolic, const Kernels& kernels);
  void SolveBounded(const Problem& problem, dxWorldProcessMemArena* arena, const Kernels& kernels,
                    LcpStatistics& statistics);
  void SolveBoundedByDantzig(const Problem& problem, dxWorldProcessMemArena* arena);
  void SubstituteBack(const Problem& problem, const SymbolicFactor& symbolic, const Kernels& kernels);

  RowList unbounded_, bounded_;
  std::vector<int> place_;  // per row of the problem: its place in the list it is in
  double tolerance_ = 0;    // up to here an entry of A counts as zero
  std::vector<uint64_t> marked_, marked_triples_;  // scratch
  Pattern pattern_;
  AnalysisCache analyses_;
  NumericFactor factor_{};
  Buffer<double> u_, y_, rhs_, inverse_pivot_, coefficients_, x_;
  std::vector<ColumnRange> contacts_;  // per block: the bounded rows that its rows of Y couple to
  std::vector<uint64_t> coupling_;     // (triples of bounded rows x words of the pattern): the triples they couple to
  BoxLcp box_;
  bool limits_known_ = false;
  Buffer<double> dantzig_matrix_, dantzig_bx_, dantzig_limits_;
  Buffer<int> dantzig_friction_;
};

bool EliminatedLcp::Solve(const Problem& problem, dxWorldProcessMemArena* arena, const Kernels& kernels,
                          LcpStatistics& statistics) {
  if (!ListRows(problem)) return false;
  FindPattern(problem, kernels);
  const SymbolicFactor& symbolic = analyses_.Find(pattern_, statistics);
  LoadUnbounded(problem, symbolic);
  LoadCouplings(problem, symbolic);
  LoadBounded(problem);
  if (!Eliminate(symbolic, kernels)) return false;
  SolveBounded(problem, arena, kernels, statistics);
  SubstituteBack(problem, symbolic, kernels);
  ++statistics.eliminated;
  return true;
}

/// False when there is nothing to eliminate or the problem is of a kind that characters do not lead to.
bool EliminatedLcp::ListRows(const Problem& problem) {
  if (problem.rows < 2 || problem.rows > kMaxRows) return false;
  unbounded_.Clear();
  bounded_.Clear();
  place_.resize(problem.rows);
  double largest = 0;
  for (int i = 0; i < problem.rows; ++i) {
    const bool unbounded = problem.Unbounded(i);
    RowList& list = unbounded ? unbounded_ : bounded_;
    place_[i] = list.size();
    list.Append(i);
    if (unbounded) largest = std::max(largest, problem.Row(i)[i]);
  }
  tolerance_ = kPatternTolerance * largest;
  for (const int i : bounded_.rows()) {
    if (problem.FrictionOf(i) >= 0 && problem.Unbounded(problem.FrictionOf(i))) return false;
  }
  return unbounded_.size() > 0;
}

/// Bits of the columns that the triple of rows from `first` on couples to, among the rows of the problem before it.
const uint64_t* EliminatedLcp::MarkColumns(const Problem& problem, const RowList& rows, int first,
                                           const Kernels& kernels) {
  const int count = std::min(kTriple, rows.size() - first);
  const int words = WordsFor(problem.rows);
  marked_.assign(2 * words, 0);
  if (rows[first + count - 1] == rows[first] + count - 1) {
    const double* row = problem.Row(rows[first]);
    kernels.mark_columns({row, row + std::min(1, count - 1) * problem.skip, row + (count - 1) * problem.skip},
                         rows[first], tolerance_, marked_.data());
    return marked_.data();
  }
  for (int i = first; i < first + count; ++i) {
    const double* row = problem.Row(rows[i]);
    kernels.mark_columns({row, row, row}, rows[i], tolerance_, marked_.data() + words);
    for (int k = 0; k < WordsFor(rows[i]); ++k) marked_[k] |= marked_[words + k];
  }
  return marked_.data();
}

/// Which triples of unbounded rows couple to one another and to which bounded rows.
void EliminatedLcp::FindPattern(const Problem& problem, const Kernels& kernels) {
  pattern_.size = unbounded_.size();
  pattern_.words = MaskWordsFor(unbounded_.size());
  pattern_.masks.assign(static_cast<size_t>(pattern_.triples()) * pattern_.words, 0);
  coupling_.assign(static_cast<size_t>(TriplesFor(bounded_.size())) * pattern_.words, 0);
  uint64_t* mask = pattern_.masks.data();
  for (int row = 0; row < unbounded_.size(); row += kTriple, mask += pattern_.words) {
    const uint64_t* marked = MarkColumns(problem, unbounded_, row, kernels);
    unbounded_.AddTriples(marked, mask);
    marked_triples_.assign(MaskWordsFor(bounded_.size()), 0);
    bounded_.AddTriples(marked, marked_triples_.data());
    ForEachTriple(marked_triples_.data(), MaskWordsFor(bounded_.size()), [&](int contact) {
      coupling_[contact / kTriple * pattern_.words + row / kColumnsPerWord] |= uint64_t{1} << row % kColumnsPerWord;
    });
  }
  mask = coupling_.data();
  for (int contact = 0; contact < bounded_.size(); contact += kTriple, mask += pattern_.words) {
    unbounded_.AddTriples(MarkColumns(problem, bounded_, contact, kernels), mask);
  }
}

/// A triple of rows that lie one after another in the problem can be copied from A without looking up each row.
bool EliminatedLcp::Regular(int triple) const {
  return triple + 2 < unbounded_.size() && unbounded_[triple + 2] == unbounded_[triple] + 2;
}

/// Copies A_uu to its places in U, and b_u.
void EliminatedLcp::LoadUnbounded(const Problem& problem, const SymbolicFactor& symbolic) {
  const int size = symbolic.size();
  const ptrdiff_t stride = symbolic.stride();
  factor_.u_stride = stride;
  factor_.u = u_.Reserve(size * stride + kPad);
  factor_.rhs = rhs_.Reserve(size);
  factor_.inverse_pivot = inverse_pivot_.Reserve(size);
  factor_.coefficients = coefficients_.Reserve(2 * size);
  factor_.smallest_pivot = tolerance_;
  ClearPadding(symbolic);
  const auto copy_each = [&](const SymbolicFactor::Copy& copy) {
    for (int i = 0; i < symbolic.RowsOfTriple(copy.row); ++i) {
      for (int j = 0; j < symbolic.RowsOfTriple(copy.column); ++j) {
        factor_.u[copy.to + i * stride + j] = problem.Entry(unbounded_[copy.row + i], unbounded_[copy.column + j]);
      }
    }
  };
  for (const SymbolicFactor::Copy& copy : symbolic.diagonal_copies()) copy_each(copy);
  for (const SymbolicFactor::Copy& copy : symbolic.lower_copies()) {
    if (!Regular(copy.row) || !Regular(copy.column)) {
      copy_each(copy);
      continue;
    }
    const double* from = problem.Row(unbounded_[copy.row]) + unbounded_[copy.column];
    double* to = factor_.u + copy.to;
    for (int i = 0; i < kTriple; ++i, from += problem.skip, to += stride) to[0] = from[0], to[1] = from[1], to[2] = from[2];
  }
  for (const SymbolicFactor::Copy& copy : symbolic.upper_copies()) {
    if (!Regular(copy.row) || !Regular(copy.column)) {
      copy_each(copy);
      continue;
    }
    const double* from = problem.Row(unbounded_[copy.column]) + unbounded_[copy.row];
    double* to = factor_.u + copy.to;
    for (int j = 0; j < kTriple; ++j, from += problem.skip, ++to) {
      to[0] = from[0], to[stride] = from[1], to[2 * stride] = from[2];
    }
  }
  for (int triple = 0; triple < size; triple += kTriple) {
    for (int i = 0; i < symbolic.RowsOfTriple(triple); ++i) {
      factor_.rhs[symbolic.PlaceOfTriple(triple) + i] = problem.Rhs(unbounded_[triple + i]);
    }
  }
}

/// The kernels round the width of a run up. What lies behind it must be zero, and so must gaps that a run includes.
void EliminatedLcp::ClearPadding(const SymbolicFactor& symbolic) {
  for (const SymbolicFactor::Block& block : symbolic.blocks()) {
    for (int target = block.first_target; target < block.last_target; ++target) {
      double* to = factor_.u + block.begin * factor_.u_stride + symbolic.targets()[target].end;
      for (int p = block.begin; p < block.end; ++p, to += factor_.u_stride) to[0] = to[1] = to[2] = 0;
    }
  }
}

/// Enlarges a range to hold another one.
void Include(ColumnRange& range, ColumnRange other) {
  if (other.begin == other.end) return;
  if (range.begin == range.end) range = other;
  range = {std::min(range.begin, other.begin), std::max(range.end, other.end)};
}

/// Finds which bounded rows each block couples to, in A and then by elimination.
void EliminatedLcp::SpreadContacts(const SymbolicFactor& symbolic) {
  const std::span<const SymbolicFactor::Block> blocks = symbolic.blocks();
  contacts_.assign(blocks.size(), {});
  const uint64_t* mask = coupling_.data();
  for (int contact = 0; contact < bounded_.size(); contact += kTriple, mask += pattern_.words) {
    const ColumnRange range{contact / kPad * kPad, RoundUp(std::min(contact + kTriple, bounded_.size()))};
    ForEachTriple(mask, pattern_.words, [&](int triple) { Include(contacts_[symbolic.BlockOfTriple(triple)], range); });
  }
  // Eliminating a block hands its contacts on to all the rows that it couples to.
  for (const SymbolicFactor::Block& block : blocks) {
    const ColumnRange handed_on = contacts_[symbolic.targets()[block.first_target].block];
    for (int target = block.first_target + 1; target < block.last_target; ++target) {
      Include(contacts_[symbolic.targets()[target].block], handed_on);
    }
  }
}

void EliminatedLcp::LoadCouplings(const Problem& problem, const SymbolicFactor& symbolic) {
  SpreadContacts(symbolic);
  const ptrdiff_t stride = RoundUp(bounded_.size());
  factor_.y_stride = stride;
  factor_.y = y_.Reserve(symbolic.size() * stride);
  for (size_t b = 0; b < contacts_.size(); ++b) {
    for (int p = symbolic.blocks()[b].begin; p < symbolic.blocks()[b].end; ++p) {
      std::fill(factor_.y + p * stride + contacts_[b].begin, factor_.y + p * stride + contacts_[b].end, 0.0);
    }
  }
  const uint64_t* mask = coupling_.data();
  for (int contact = 0; contact < bounded_.size(); contact += kTriple, mask += pattern_.words) {
    const int columns = std::min(kTriple, bounded_.size() - contact);
    ForEachTriple(mask, pattern_.words, [&](int triple) {
      double* to = factor_.y + symbolic.PlaceOfTriple(triple) * stride + contact;
      for (int i = 0; i < symbolic.RowsOfTriple(triple); ++i, to += stride) {
        const int row = unbounded_[triple + i];
        for (int j = 0; j < columns; ++j) to[j] = problem.Entry(row, bounded_[contact + j]);
      }
    });
  }
}

void EliminatedLcp::LoadBounded(const Problem& problem) {
  const int size = bounded_.size();
  box_.Resize(size);
  for (int i = 0; i < size; ++i) {
    const int row = bounded_[i];
    double* to = box_.matrix() + i * box_.stride();
    for (int j = 0; j <= i; ++j) to[j] = problem.Row(row)[bounded_[j]];
    std::fill(to + i + 1, to + box_.stride(), 0.0);
    box_.rhs()[i] = problem.Rhs(row);
    box_.low()[i] = problem.Low(row);
    box_.high()[i] = problem.High(row);
    const int normal = problem.FrictionOf(row);
    box_.friction_of()[i] = normal < 0 ? -1 : place_[normal];
  }
}

bool EliminatedLcp::Eliminate(const SymbolicFactor& symbolic, const Kernels& kernels) {
  for (size_t b = 0; b < contacts_.size(); ++b) {
    const SymbolicFactor::Block& block = symbolic.blocks()[b];
    if (!kernels.eliminate_block(symbolic, block, contacts_[b], factor_)) return false;
    if (contacts_[b].begin == contacts_[b].end) continue;
    kernels.subtract_from_schur(block, contacts_[b], factor_, box_.matrix(), box_.stride(), box_.rhs());
  }
  box_.MirrorLowerTriangle();
  return true;
}

void EliminatedLcp::SolveBounded(const Problem& problem, dxWorldProcessMemArena* arena, const Kernels& kernels,
                                 LcpStatistics& statistics) {
  limits_known_ = true;
  if (box_.size() == 0) return;
  if (!box_.Solve(kernels, statistics)) {
    ++statistics.fallbacks;
    limits_known_ = false;
    SolveBoundedByDantzig(problem, arena);
    box_.LearnFromSolution(kernels);
  }
  for (int i = 0; i < box_.size(); ++i) problem.X(bounded_[i]) = box_.x()[i];
}

/// ODE's solver on the Schur complement. It wants its arguments in its own layout, and overwrites them.
void EliminatedLcp::SolveBoundedByDantzig(const Problem& problem, dxWorldProcessMemArena* arena) {
  const int size = box_.size();
  const ptrdiff_t skip = size > 1 ? RoundUp(size) : size;
  double* matrix = dantzig_matrix_.Reserve(size * skip);
  double* bx = dantzig_bx_.Reserve(2 * size);
  double* limits = dantzig_limits_.Reserve(2 * size);
  int* friction = dantzig_friction_.Reserve(size);
  for (int i = 0; i < size; ++i) {
    std::copy_n(box_.matrix() + i * box_.stride(), size, matrix + i * skip);
    bx[2 * i] = box_.rhs()[i];
    bx[2 * i + 1] = 0;
    limits[2 * i] = problem.Low(bounded_[i]);
    limits[2 * i + 1] = problem.High(bounded_[i]);
    friction[i] = box_.friction_of()[i];
  }
  FindStockSolver()(arena, size, matrix, bx, nullptr, 0, limits, friction);
  for (int i = 0; i < size; ++i) box_.x()[i] = bx[2 * i + 1];
}

void EliminatedLcp::SubstituteBack(const Problem& problem, const SymbolicFactor& symbolic, const Kernels& kernels) {
  double* x = x_.Reserve(symbolic.size() + kPad);
  std::fill_n(x + symbolic.size(), kPad, 0.0);
  for (size_t b = contacts_.size(); b-- > 0;) {
    kernels.substitute_block(symbolic, symbolic.blocks()[b], contacts_[b], factor_, box_.x(), x);
  }
  for (int triple = 0; triple < symbolic.size(); triple += kTriple) {
    for (int i = 0; i < symbolic.RowsOfTriple(triple); ++i) {
      problem.X(unbounded_[triple + i]) = x[symbolic.PlaceOfTriple(triple) + i];
    }
  }
}

SolvedLcp EliminatedLcp::Describe(const Problem& problem) {
  SolvedLcp solved;
  solved.rows = problem.rows;
  solved.row_skip = static_cast<int>(problem.skip);
  solved.matrix = problem.a;
  solved.rhs_and_x = problem.bx;
  solved.low_and_high = problem.limits;
  solved.friction_of = problem.friction;
  solved.bounded_rows = bounded_.rows();
  if (limits_known_) {
    solved.bounded_low = {box_.low(), static_cast<size_t>(bounded_.size())};
    solved.bounded_high = {box_.high(), static_cast<size_t>(bounded_.size())};
  }
  return solved;
}

// ---- the calling thread ---------------------------------------------------------------------------------------------------

struct ThreadState {
  LcpSolver solver = LcpSolver::kStock;
  const Kernels* kernels = BestKernels();
  LcpStatistics statistics;
  LcpObserver observer = nullptr;
  void* observer_context = nullptr;
  EliminatedLcp eliminated;
};

ThreadState& Thread() {
  static thread_local ThreadState state;
  return state;
}

bool SolveByElimination(ThreadState& thread, const Problem& problem, dxWorldProcessMemArena* arena) {
  if (!thread.eliminated.Solve(problem, arena, *thread.kernels, thread.statistics)) return false;
  if (thread.observer != nullptr) thread.observer(thread.eliminated.Describe(problem), thread.observer_context);
  return true;
}

}  // namespace

void SelectLcpSolver(LcpSolver solver) { Thread().solver = solver; }
LcpSolver SelectedLcpSolver() { return Thread().solver; }
void ResetWarmStart() { Thread().eliminated.ResetWarmStart(); }
LcpStatistics& ThreadLcpStatistics() { return Thread().statistics; }

bool SelectLcpKernels(LcpKernels kernels) {
  const Kernels* found = FindKernels(kernels);
  if (found != nullptr) Thread().kernels = found;
  return found != nullptr;
}

void ObserveLcp(LcpObserver observer, void* context) {
  Thread().observer = observer;
  Thread().observer_context = context;
}

// ---- the proof at start ---------------------------------------------------------------------------------------------------

namespace {

/// Three boxes in a chain, ball joints with motors between them, dropped onto a plane.
class ProofChain {
 public:
  static constexpr int kBodies = 3;
  static constexpr int kStateSize = 13;  // position, quaternion, velocity, angular velocity
  using States = std::array<std::array<double, kStateSize>, kBodies>;

  ProofChain() {
    // Without an implementation of its own a world shares one that is not safe with several threads.
    dWorldSetStepThreadingImplementation(world_, dThreadingImplementationGetFunctions(threading_), threading_);
    dWorldSetGravity(world_, 0, -9.81, 0);
    for (int i = 0; i < kBodies; ++i) AddBody(i);
    for (int i = 1; i < kBodies; ++i) Connect(i);
  }
  ~ProofChain() {
    dJointGroupDestroy(contacts_);
    for (const dGeomID box : boxes_) dGeomDestroy(box);
    dGeomDestroy(plane_);
    dWorldDestroy(world_);
    dThreadingFreeImplementation(threading_);
  }
  ProofChain(const ProofChain&) = delete;
  ProofChain& operator=(const ProofChain&) = delete;

  void Step(LcpSolver solver);
  States Get() const;
  void Set(const States& states);

 private:
  void AddBody(int i);
  void Connect(int i);

  dWorldID world_ = dWorldCreate();
  dThreadingImplementationID threading_ = dThreadingAllocateSelfThreadedImplementation();
  dJointGroupID contacts_ = dJointGroupCreate(0);
  dGeomID plane_ = dCreatePlane(nullptr, 0, 1, 0, 0);
  std::array<dBodyID, kBodies> bodies_{};
  std::array<dGeomID, kBodies> boxes_{};
};

void ProofChain::AddBody(int i) {
  dMass mass;
  dMassSetBoxTotal(&mass, 2.0 + i, 0.3, 0.1, 0.2);
  bodies_[i] = dBodyCreate(world_);
  dBodySetMass(bodies_[i], &mass);
  dBodySetPosition(bodies_[i], 0.35 * i, 0.06, 0);
  dBodySetAngularVel(bodies_[i], 0.3 * i, 0.2, -0.5);
  boxes_[i] = dCreateBox(nullptr, 0.3, 0.1, 0.2);
  dGeomSetBody(boxes_[i], bodies_[i]);
}

void ProofChain::Connect(int i) {
  const dJointID ball = dJointCreateBall(world_, nullptr);
  dJointAttach(ball, bodies_[i - 1], bodies_[i]);
  dJointSetBallAnchor(ball, 0.35 * i - 0.175, 0.06, 0);
  const dJointID motor = dJointCreateAMotor(world_, nullptr);
  dJointAttach(motor, bodies_[i - 1], bodies_[i]);
  dJointSetAMotorMode(motor, dAMotorUser);
  dJointSetAMotorNumAxes(motor, 3);
  for (int axis = 0; axis < 3; ++axis) {
    dJointSetAMotorAxis(motor, axis, 1, axis == 0, axis == 1, axis == 2);
    dJointSetAMotorParam(motor, dParamFMax + dParamGroup * axis, dInfinity);
    dJointSetAMotorParam(motor, dParamCFM + dParamGroup * axis, 0.1);
    dJointSetAMotorParam(motor, dParamVel + dParamGroup * axis, 0.2 * axis);
  }
}

void ProofChain::Step(LcpSolver solver) {
  for (int i = 0; i < kBodies; ++i) {
    std::array<dContactGeom, 4> points;
    const int count = dCollide(boxes_[i], plane_, 4, points.data(), sizeof points[0]);
    for (int c = 0; c < count; ++c) {
      dContact contact{};
      contact.geom = points[c];
      contact.surface.mode = dContactApprox1 | dContactSoftCFM;
      contact.surface.mu = 0.5;
      contact.surface.soft_cfm = 1e-5;
      dJointAttach(dJointCreateContact(world_, contacts_, &contact), bodies_[i], nullptr);
    }
  }
  SelectLcpSolver(solver);
  dWorldStep(world_, 1.0 / 240);
  dJointGroupEmpty(contacts_);
}

ProofChain::States ProofChain::Get() const {
  States states;
  for (int i = 0; i < kBodies; ++i) {
    double* to = states[i].data();
    to = std::copy_n(dBodyGetPosition(bodies_[i]), 3, to);
    to = std::copy_n(dBodyGetQuaternion(bodies_[i]), 4, to);
    to = std::copy_n(dBodyGetLinearVel(bodies_[i]), 3, to);
    std::copy_n(dBodyGetAngularVel(bodies_[i]), 3, to);
  }
  return states;
}

void ProofChain::Set(const States& states) {
  for (int i = 0; i < kBodies; ++i) {
    const double* s = states[i].data();
    const dQuaternion q = {s[3], s[4], s[5], s[6]};
    dBodySetPosition(bodies_[i], s[0], s[1], s[2]);
    dBodySetQuaternion(bodies_[i], q);
    dBodySetLinearVel(bodies_[i], s[7], s[8], s[9]);
    dBodySetAngularVel(bodies_[i], s[10], s[11], s[12]);
  }
}

/// Puts the thread's selection and statistics back at the end of a scope.
class ThreadSettingsGuard {
 public:
  ThreadSettingsGuard() = default;
  ~ThreadSettingsGuard() {
    SelectLcpSolver(solver_);
    ThreadLcpStatistics() = statistics_;
    ResetWarmStart();
  }
  ThreadSettingsGuard(const ThreadSettingsGuard&) = delete;
  ThreadSettingsGuard& operator=(const ThreadSettingsGuard&) = delete;

 private:
  LcpSolver solver_ = SelectedLcpSolver();
  LcpStatistics statistics_ = ThreadLcpStatistics();
};

}  // namespace

std::optional<std::string> ProveEliminatedSolver() {
  constexpr int kSteps = 30;
  constexpr double kTolerance = 1e-9;
  if (FindStockSolver() == nullptr) {
    return std::string("libode's own solver was not found: it exports no symbol ") + kSolverSymbol;
  }
  dInitODE2(0);
  const ThreadSettingsGuard guard;
  LcpStatistics& statistics = ThreadLcpStatistics();
  statistics = {};
  double largest = 0;
  {
    ProofChain chain;
    for (int step = 0; step < kSteps; ++step) {
      const ProofChain::States start = chain.Get();
      chain.Step(LcpSolver::kStock);
      const ProofChain::States expected = chain.Get();
      chain.Set(start);
      chain.Step(LcpSolver::kEliminated);
      const ProofChain::States found = chain.Get();
      for (int i = 0; i < ProofChain::kBodies; ++i) {
        for (int k = 0; k < 7; ++k) largest = std::max(largest, std::fabs(found[i][k] - expected[i][k]));
      }
    }
  }
  dCloseODE();
  if (statistics.calls == 0) return "libode does not call this executable's dxSolveLCP: it is not linked as a shared library";
  if (statistics.calls != 2 * kSteps || statistics.eliminated != kSteps) {
    return "of " + std::to_string(kSteps) + " problems " + std::to_string(statistics.eliminated) +
           " were solved by elimination";
  }
  if (!(largest < kTolerance)) {
    return "the poses of the two solvers differ by " + std::to_string(largest) + " m after a step";
  }
  return std::nullopt;
}

}  // namespace retrace::simulation

/// Takes the place of libode's function of this name; see eliminated_lcp.h. The first `nub` rows are unbounded, `bx` and `lh`
/// hold pairs (b, x) and (low, high), `outer_w` receives w unless it is null.
__attribute__((used, visibility("default"))) void dxSolveLCP(dxWorldProcessMemArena* arena, unsigned n, dReal* A,
                                                             dReal* bx, dReal* outer_w, unsigned nub, dReal* lh,
                                                             int* findex) {
  using namespace retrace::simulation;
  ThreadState& thread = Thread();
  ++thread.statistics.calls;
  const int rows = static_cast<int>(n);
  const Problem problem{rows, rows > 1 ? RoundUp(rows) : rows, A, bx, static_cast<int>(nub), lh, findex};
  if (thread.solver == LcpSolver::kEliminated && outer_w == nullptr && SolveByElimination(thread, problem, arena)) return;
  const StockSolver stock = FindStockSolver();
  if (stock == nullptr) {
    std::fputs("retrace: libode calls this executable's dxSolveLCP, but its own cannot be found\n", stderr);
    std::abort();
  }
  stock(arena, n, A, bx, outer_w, nub, lh, findex);
}
