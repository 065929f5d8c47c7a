#include "lcp_pattern.h"

#include <limits>

namespace retrace::simulation {

bool RowList::AddTriples(const uint64_t* rows_mask, int end_row, std::span<uint64_t> triples) const {
  uint64_t any = 0;
  for (const Piece& piece : pieces_) {
    if (piece.first_row >= end_row) break;
    const uint64_t bits = rows_mask[piece.from_word] >> piece.from_shift & piece.bits;
    triples[piece.to_word] |= bits << piece.to_shift;
    any |= bits;
  }
  for (uint64_t& word : triples) word = (word | word >> 1 | word >> 2) & kTripleBits;
  return any != 0;
}

void Pattern::Clear(int rows) {
  size = rows;
  words = TripleWordsFor(rows);
  masks.assign(static_cast<size_t>(triples()) * words, 0);
}

/// A symmetric relation between a few dozen things.
class BitMatrix {
 public:
  explicit BitMatrix(int size) : size_(size), words_(WordsFor(size)), bits_(static_cast<size_t>(size) * words_, 0) {}
  int size() const { return size_; }
  void Set(int i, int j) {
    Word(i, j) |= uint64_t{1} << j % kBitsPerWord;
    Word(j, i) |= uint64_t{1} << i % kBitsPerWord;
  }
  void Clear(int i, int j) {
    Word(i, j) &= ~(uint64_t{1} << j % kBitsPerWord);
    Word(j, i) &= ~(uint64_t{1} << i % kBitsPerWord);
  }
  bool Get(int i, int j) const { return Row(i)[j / kBitsPerWord] >> j % kBitsPerWord & 1; }
  std::span<const uint64_t> Row(int i) const {
    return {bits_.data() + static_cast<ptrdiff_t>(i) * words_, static_cast<size_t>(words_)};
  }
  template <class Visit>
  void ForEachIn(int i, Visit visit) const {
    for (int k = 0; k < words_; ++k) {
      for (uint64_t rest = Row(i)[k]; rest != 0; rest &= rest - 1) visit(k * kBitsPerWord + std::countr_zero(rest));
    }
  }

 private:
  uint64_t& Word(int i, int j) { return bits_[static_cast<ptrdiff_t>(i) * words_ + j / kBitsPerWord]; }
  int size_, words_;
  std::vector<uint64_t> bits_;
};

SymbolicFactor::SymbolicFactor(const Pattern& pattern) : size_(pattern.size) {
  const BitMatrix coupled = Couplings(pattern);
  const Groups groups = GroupAlike(coupled, pattern.triples());
  std::vector<int> group_of(pattern.triples());
  for (int g = 0; g < static_cast<int>(groups.size()); ++g) {
    for (const int triple : groups[g]) group_of[triple] = g;
  }
  BitMatrix adjacent(static_cast<int>(groups.size()));
  for (int i = 0; i < pattern.triples(); ++i) {
    coupled.ForEachIn(i, [&](int j) {
      if (group_of[i] != group_of[j]) adjacent.Set(group_of[i], group_of[j]);
    });
  }
  Groups structure;
  const std::vector<int> sequence = OrderByDegree(groups, adjacent, structure);
  AppendBlocks(groups, sequence, structure);
}

BitMatrix SymbolicFactor::Couplings(const Pattern& pattern) {
  BitMatrix coupled(pattern.triples());
  for (int i = 0; i < pattern.triples(); ++i) {
    coupled.Set(i, i);
    ForEachTriple(pattern.Mask(i * kTriple), [&](int other) { coupled.Set(i, other / kTriple); });
  }
  return coupled;
}

/// Groups triples that couple to nearly the same others: those of one joint and of its motor do. A triple joins the
/// first group with a first member that it couples to and shares 4/5 of all couplings with. Neighbouring joints share
/// less: in a chain 2/3. Grouping too much or too little costs time, not correctness.
SymbolicFactor::Groups SymbolicFactor::GroupAlike(const BitMatrix& coupled, int count) {
  Groups groups;
  for (int i = 0; i < count; ++i) {
    const auto alike = [&](const std::vector<int>& group) {
      if (!coupled.Get(i, group.front())) return false;
      int both = 0;
      int either = 0;
      for (size_t k = 0; k < coupled.Row(i).size(); ++k) {
        both += std::popcount(coupled.Row(i)[k] & coupled.Row(group.front())[k]);
        either += std::popcount(coupled.Row(i)[k] | coupled.Row(group.front())[k]);
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

/// Minimum degree: always take the group that couples to the fewest remaining triples; the groups that it couples to,
/// its structure, then couple to one another. Among equals the one with the shortest chain of eliminated groups behind
/// it goes first, so that a tree is peeled evenly and the last groups are in its middle: the columns of a contact fill
/// the rows from its limb to there only.
std::vector<int> SymbolicFactor::OrderByDegree(const Groups& groups, BitMatrix& adjacent, Groups& structure) {
  const int count = static_cast<int>(groups.size());
  structure.assign(count, {});
  std::vector<int> level(count, 0);
  std::vector<bool> done(count, false);
  std::vector<int> sequence;
  while (static_cast<int>(sequence.size()) < count) {
    std::pair best_key{std::numeric_limits<int>::max(), 0};
    int best = -1;
    for (int g = 0; g < count; ++g) {
      if (done[g]) continue;
      int degree = static_cast<int>(groups[g].size());
      adjacent.ForEachIn(g, [&](int h) { degree += static_cast<int>(groups[h].size()); });
      if (const std::pair key{degree, level[g]}; key < best_key) best_key = key, best = g;
    }
    done[best] = true;
    sequence.push_back(best);
    std::vector<int>& coupled = structure[best];
    adjacent.ForEachIn(best, [&](int h) { coupled.push_back(h); });
    for (const int h : coupled) {
      adjacent.Clear(h, best);
      level[h] = std::max(level[h], level[best] + 1);
      for (const int other : coupled) {
        if (other != h) adjacent.Set(h, other);
      }
    }
  }
  return sequence;
}

/// Cuts the groups, in their sequence, into blocks of two triples or one, and finds the columns of each block: the
/// later blocks of its group, and all blocks of the group's structure.
void SymbolicFactor::AppendBlocks(const Groups& groups, const std::vector<int>& sequence, const Groups& structure) {
  place_.resize(TriplesFor(size_));
  block_.resize(TriplesFor(size_));
  Groups triples_of_block;
  Groups blocks_of_group(groups.size());
  std::vector<int> group_of_block;
  for (const int g : sequence) {
    for (size_t first = 0; first < groups[g].size(); first += 2) {
      const int count = static_cast<int>(std::min<size_t>(2, groups[g].size() - first));
      const int block = static_cast<int>(blocks_.size());
      triples_of_block.emplace_back(groups[g].begin() + first, groups[g].begin() + first + count);
      for (int k = 0; k < count; ++k) {
        place_[groups[g][first + k]] = places_ + k * kTriple;
        block_[groups[g][first + k]] = block;
      }
      blocks_.push_back({places_, count * kTriple, 0, 0, 0, 0});
      blocks_of_group[g].push_back(block);
      group_of_block.push_back(g);
      places_ += RoundUp(count * kTriple);
    }
  }
  stride_ = places_ / 8 % 2 == 0 ? places_ + 8 : places_;  // no power of two: rows would share cache sets
  for (int b = 0; b < static_cast<int>(blocks_.size()); ++b) {
    std::vector<int> columns;
    for (const int own : blocks_of_group[group_of_block[b]]) {
      if (own > b) columns.push_back(own);
    }
    for (const int g : structure[group_of_block[b]]) {
      columns.insert(columns.end(), blocks_of_group[g].begin(), blocks_of_group[g].end());
    }
    std::sort(columns.begin(), columns.end());
    AppendColumns(blocks_[b], columns);
    AppendCopies(triples_of_block[b], triples_of_block[b]);
    for (const int c : columns) AppendCopies(triples_of_block[b], triples_of_block[c]);
  }
}

void SymbolicFactor::AppendColumns(Block& block, const std::vector<int>& columns) {
  block.first_run = static_cast<int>(runs_.size());
  block.first_target = static_cast<int>(targets_.size());
  for (const int c : columns) {
    const int begin = blocks_[c].begin;
    const int end = begin + RoundUp(blocks_[c].rows);
    if (static_cast<int>(runs_.size()) > block.first_run && runs_.back().end == begin) {
      runs_.back().end = end;
    } else {
      runs_.push_back({begin, end});
    }
    targets_.push_back({c, begin, blocks_[c].rows, static_cast<int>(runs_.size()) - 1});
  }
  block.last_run = static_cast<int>(runs_.size());
  block.last_target = static_cast<int>(targets_.size());
}

void SymbolicFactor::AppendCopies(const std::vector<int>& row_triples, const std::vector<int>& column_triples) {
  for (const int row : row_triples) {
    for (const int column : column_triples) {
      std::vector<Copy>& list = row > column ? lower_copies_ : row < column ? upper_copies_ : diagonal_copies_;
      list.push_back({row * kTriple, column * kTriple, place_[row] * stride_ + place_[column]});
    }
  }
}

const SymbolicFactor& AnalysisCache::Find(const Pattern& pattern, uint64_t& analyses) {
  constexpr size_t kMaxKnown = 4096;  // then the cache starts anew
  if (last_ != nullptr && last_->first == pattern) return last_->second;
  uint64_t hash = 1469598103934665603u + static_cast<uint64_t>(pattern.size);
  for (const uint64_t word : pattern.masks) {
    hash = (hash ^ word) * 1099511628211u;
    hash ^= hash >> 29;
  }
  const auto [begin, end] = known_.equal_range(hash);
  const auto found = std::find_if(begin, end, [&](const auto& entry) { return entry.second->first == pattern; });
  if (found != end) {
    last_ = found->second.get();
    return last_->second;
  }
  ++analyses;
  if (known_.size() >= kMaxKnown) known_.clear();
  last_ = known_.emplace(hash, std::make_unique<Entry>(pattern, SymbolicFactor(pattern)))->second.get();
  return last_->second;
}

}  // namespace retrace::simulation
