/// Sparsity of the rows that are eliminated: recognising it, and choosing the order of elimination.
///
/// The result's bits depend on the order of elimination, so the order must be a pure function of the problem. It is one
/// of the pattern of A_uu; a cache of analyses only saves time. The pattern is read from A itself, with two precautions
/// against entries that happen to vanish, as many do in a pose with aligned limbs: terms that cancel come out as 1e-17
/// in one step and as 0 in the next, and each new pattern would cost an analysis. (1) Up to kPatternTolerance times the
/// largest diagonal entry counts as zero, a perturbation no larger than that of rounding errors. (2) Rows are taken by
/// threes, as ODE's ball joints and motors come: the 3x3 block of two joints that share a body practically never
/// vanishes as a whole. Where a joint has another number of rows, a triple may hold rows of two joints; the pattern is
/// then larger than it need be, and nothing else.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace retrace::simulation {

constexpr double kPatternTolerance = 1e-14;
constexpr int kTriple = 3;
constexpr int kPad = 4;  // the kernels work on whole vectors of this many doubles

constexpr int RoundUp(int n) {
  return (n + kPad - 1) / kPad * kPad;
}
constexpr int TriplesFor(int rows) {
  return (rows + kTriple - 1) / kTriple;
}

/// Masks of rows use all bits of a word. Masks of triples use every third bit, and 60 bits of a word, so that three
/// neighbours never lie in two words.
constexpr int kBitsPerWord = 64;
constexpr int kTripleBitsPerWord = 60;
constexpr uint64_t kTripleBits = 0x0249249249249249;
constexpr int WordsFor(int rows) {
  return (rows + kBitsPerWord - 1) / kBitsPerWord;
}
constexpr int TripleWordsFor(int rows) {
  return (rows + kTripleBitsPerWord - 1) / kTripleBitsPerWord;
}

/// Calls visit(first row) for each triple in a mask of triples.
template <class Visit>
void ForEachTriple(std::span<const uint64_t> mask, Visit visit) {
  for (size_t k = 0; k < mask.size(); ++k) {
    for (uint64_t rest = mask[k]; rest != 0; rest &= rest - 1) {
      visit(static_cast<int>(k) * kTripleBitsPerWord + std::countr_zero(rest));
    }
  }
}

/// The rows of a problem that are unbounded, or those that are bounded; their numbers ascend.
class RowList {
 public:
  void Clear() { rows_.clear(), pieces_.clear(); }
  void Append(int row);
  int size() const { return static_cast<int>(rows_.size()); }
  int operator[](int i) const { return rows_[i]; }
  std::span<const int> rows() const { return rows_; }

  /// Whether the three rows from `triple` on lie one after another in the problem.
  bool Contiguous(int triple) const { return triple + 2 < size() && rows_[triple + 2] == rows_[triple] + 2; }
  /// Takes the bits of these rows, as far as they lie before `end_row`, out of a mask of all rows, and adds them to a
  /// mask of triples of these rows. Returns whether there were any.
  bool AddTriples(const uint64_t* rows_mask, int end_row, std::span<uint64_t> triples) const;

 private:
  /// Rows next to one another whose bits lie in one word of either mask.
  struct Piece {
    int first_row;
    int from_word, from_shift;
    int to_word, to_shift;
    uint64_t bits;
  };
  std::vector<int> rows_;
  std::vector<Piece> pieces_;
};

inline void RowList::Append(int row) {
  const int place = size();
  const bool next = place > 0 && rows_.back() == row - 1;
  rows_.push_back(row);
  if (next && row % kBitsPerWord != 0 && place % kTripleBitsPerWord != 0) {
    pieces_.back().bits = pieces_.back().bits << 1 | 1;
  } else {
    pieces_.push_back(
        {row, row / kBitsPerWord, row % kBitsPerWord, place / kTripleBitsPerWord, place % kTripleBitsPerWord, 1});
  }
}

/// The pattern of A_uu, with rows counted in their RowList: for each triple of rows, the triples before it that it
/// couples to.
struct Pattern {
  int size = 0;                 // rows
  int words = 0;                // per mask
  std::vector<uint64_t> masks;  // (triples x words)

  void Clear(int rows);
  int triples() const { return TriplesFor(size); }
  std::span<uint64_t> Mask(int triple) {
    return {masks.data() + static_cast<ptrdiff_t>(triple / kTriple) * words, static_cast<size_t>(words)};
  }
  std::span<const uint64_t> Mask(int triple) const {
    return {masks.data() + static_cast<ptrdiff_t>(triple / kTriple) * words, static_cast<size_t>(words)};
  }
  bool operator==(const Pattern&) const = default;
};

class BitMatrix;

/// The elimination order and the pattern of the factor U. Rows come in blocks of three or six: a block is the part of U
/// between two bodies, usually a joint with its motor. Blocks start at multiples of kPad: a block of six rows has eight
/// places, two of them without a row, so that the kernels work on whole vectors. A pure function of the pattern.
class SymbolicFactor {
 public:
  /// Columns [begin, end) of U without a gap.
  struct Run {
    int begin, end;
  };
  /// A block that eliminating an earlier one changes, and the run of the earlier one's columns that it is in.
  struct Target {
    int block, begin, rows, run;
  };
  /// Rows [begin, begin + rows) and columns [begin, begin + RoundUp(rows)) of U. `runs` are the other columns in which
  /// these rows of U are not zero, `targets` the blocks that these columns belong to, both ascending.
  struct Block {
    int begin, rows;
    int first_run, last_run;
    int first_target, last_target;
  };
  /// Three by three entries of A_uu that U starts with: the first row and the first column, and where they go in U.
  struct Copy {
    int row, column;
    ptrdiff_t to;
  };

  explicit SymbolicFactor(const Pattern& pattern);

  int places() const { return places_; }
  ptrdiff_t stride() const { return stride_; }  // between rows of U, in doubles
  std::span<const Block> blocks() const { return blocks_; }
  std::span<const Run> runs(const Block& block) const {
    return {runs_.data() + block.first_run, runs_.data() + block.last_run};
  }
  std::span<const Target> targets(const Block& block) const {
    return {targets_.data() + block.first_target, targets_.data() + block.last_target};
  }
  const Run* runs() const { return runs_.data(); }
  std::span<const Copy> lower_copies() const { return lower_copies_; }        // row > column
  std::span<const Copy> upper_copies() const { return upper_copies_; }        // row < column
  std::span<const Copy> diagonal_copies() const { return diagonal_copies_; }  // row = column
  int Place(int triple) const { return place_[triple / kTriple]; }
  int BlockOf(int triple) const { return block_[triple / kTriple]; }
  /// The last triple may hold fewer than three rows of the problem; rows of the identity matrix stand for the others.
  int RowsOf(int triple) const { return std::min(kTriple, size_ - triple); }

 private:
  using Groups = std::vector<std::vector<int>>;  // of triples

  static BitMatrix Couplings(const Pattern& pattern);
  static Groups GroupAlike(const BitMatrix& coupled, int count);
  static std::vector<int> OrderByDegree(const Groups& groups, BitMatrix& adjacent, Groups& structure);
  void AppendBlocks(const Groups& groups, const std::vector<int>& sequence, const Groups& structure);
  void AppendColumns(Block& block, const std::vector<int>& columns);
  void AppendCopies(const std::vector<int>& row_triples, const std::vector<int>& column_triples);

  int size_;
  int places_ = 0;
  ptrdiff_t stride_ = 0;
  std::vector<Block> blocks_;
  std::vector<Run> runs_;
  std::vector<Target> targets_;
  std::vector<Copy> lower_copies_, upper_copies_, diagonal_copies_;
  std::vector<int> place_, block_;  // per triple
};

/// Remembers analyses. Not shared between threads.
class AnalysisCache {
 public:
  /// The reference is valid until the next call. Counts in `analyses` when the pattern is new.
  const SymbolicFactor& Find(const Pattern& pattern, uint64_t& analyses);

 private:
  using Entry = std::pair<const Pattern, const SymbolicFactor>;
  std::unordered_multimap<uint64_t, std::unique_ptr<Entry>> known_;
  const Entry* last_ = nullptr;
};

}  // namespace retrace::simulation
