#include "eliminated_lcp.h"

#include <dlfcn.h>
#include <ode/ode.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <span>
#include <vector>

#include "box_lcp.h"
#include "lcp_kernels.h"
#include "lcp_pattern.h"
#include "stock_lcp.h"

// ---- the mathematics -----------------------------------------------------------------------------------------------
//
// ODE asks for x with w = A x - b, low <= x <= high, and w_i >= 0, <= 0 or = 0 where x_i is at its low limit, at its
// high limit or between. A = J M^-1 J^T + CFM/h is symmetric and positive definite; x are constraint forces. The rows
// of joints and of motors without a force limit are unbounded (set u), those of contacts and joint stops are bounded
// (set c). For u always w = 0:
//
//     A_uu x_u + A_uc x_c = b_u        =>   x_u = A_uu^-1 (b_u - A_uc x_c)
//     A_cu x_u + A_cc x_c = b_c + w_c  =>   w_c = S x_c - s
//
//     with S = A_cc - A_cu A_uu^-1 A_uc  and  s = b_c - A_cu A_uu^-1 b_u.
//
// S is positive definite too, so the small problem (S, s) has the same unique solution; box_lcp.h solves it. Two rows
// couple only when their joints share a body. A character is a tree, therefore A_uu = L D L^T has an order of
// elimination with next to no fill: leaves first (lcp_pattern.h). With U = D L^T, Y = L^-1 A_uc and y = L^-1 b_u, which
// come about row by row when the columns of A_uc and b_u take part in the elimination (lcp_kernels.h):
//
//     S = A_cc - Y^T D^-1 Y,   s = b_c - Y^T D^-1 y,   L^T x_u = D^-1 (y - Y x_c)
//
// ODE's solver, instead, solves with the factor of all of A_uu again at each pivot of a contact row.
//
// The results have the same bits for the same problem, whatever the thread did before: the order of elimination is a
// function of the pattern, and the one thing remembered from step to step, the first guess of the active set, is the
// caller's to reset (LcpWarmStart).

namespace retrace::simulation {

StockLcpSolver FindStockLcpSolver() {
  static const StockLcpSolver stock = reinterpret_cast<StockLcpSolver>(dlsym(RTLD_NEXT, kStockLcpSymbol));
  return stock;
}

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int kMaxRows = 1024;  // larger problems go to ODE's solver

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
  bool Unbounded(int i) const { return i < nub || (FrictionOf(i) < 0 && Low(i) == -kInfinity && High(i) == kInfinity); }
};

/// Everything that a thread needs to solve problems; the memory is kept from call to call.
class EliminatedLcp {
 public:
  /// Writes x and returns true, or returns false with the problem untouched.
  bool Solve(const Problem& problem, dxWorldProcessMemArena* arena, const Kernels& kernels, LcpWarmStart& warm_start,
             LcpStatistics& statistics);
  /// The problem just solved, with the limits that held in the end.
  SolvedLcp Describe(const Problem& problem);

 private:
  std::span<uint64_t> CouplingsOf(int contact) {
    return {couplings_.data() + static_cast<ptrdiff_t>(contact / kTriple) * pattern_.words,
            static_cast<size_t>(pattern_.words)};
  }
  bool ListRows(const Problem& problem);
  const uint64_t* MarkColumns(const Problem& problem, const RowList& rows, int triple, const Kernels& kernels);
  void FindPattern(const Problem& problem, const Kernels& kernels);
  void LoadUnbounded(const Problem& problem, const SymbolicFactor& symbolic);
  void ClearPadding(const SymbolicFactor& symbolic);
  template <class CopyContiguous>
  void CopyTriples(const Problem& problem, const SymbolicFactor& symbolic, std::span<const SymbolicFactor::Copy> copies,
                   CopyContiguous copy);
  void FindContacts(const SymbolicFactor& symbolic);
  void LoadCouplings(const Problem& problem, const SymbolicFactor& symbolic);
  void LoadBounded(const Problem& problem);
  bool Eliminate(const SymbolicFactor& symbolic, const Kernels& kernels);
  void SolveBounded(const Problem& problem, dxWorldProcessMemArena* arena, const Kernels& kernels,
                    LcpWarmStart& warm_start, LcpStatistics& statistics);
  void SolveBoundedByDantzig(const Problem& problem, dxWorldProcessMemArena* arena);
  void SubstituteBack(const Problem& problem, const SymbolicFactor& symbolic, const Kernels& kernels);

  RowList unbounded_, bounded_;
  std::vector<int> place_;  // per row of the problem: its place in the list it is in
  double tolerance_ = 0;    // up to here an entry of A counts as zero
  Pattern pattern_;
  std::vector<uint64_t> couplings_;  // per triple of bounded rows: a mask of the triples of unbounded rows
  std::vector<uint64_t> marked_, marked_triples_;  // scratch
  AnalysisCache analyses_;
  NumericFactor factor_;
  GrowBuffer<double> u_, scaled_u_, y_, scaled_y_, rhs_, inverse_pivot_, x_;
  std::vector<ColumnRange> contacts_;  // per block: the columns of Y in which its rows are not zero
  BoxLcp box_;
  bool limits_known_ = false;
  GrowBuffer<double> dantzig_matrix_, dantzig_bx_, dantzig_limits_;
  GrowBuffer<int> dantzig_friction_;
};

bool EliminatedLcp::Solve(const Problem& problem, dxWorldProcessMemArena* arena, const Kernels& kernels,
                          LcpWarmStart& warm_start, LcpStatistics& statistics) {
  if (!ListRows(problem)) return false;
  FindPattern(problem, kernels);
  const SymbolicFactor& symbolic = analyses_.Find(pattern_, statistics.analyses);
  LoadUnbounded(problem, symbolic);
  LoadCouplings(problem, symbolic);
  LoadBounded(problem);
  if (!Eliminate(symbolic, kernels)) return false;
  SolveBounded(problem, arena, kernels, warm_start, statistics);
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

/// Bits of the columns before it that a triple of rows couples to, counted in rows of the problem.
const uint64_t* EliminatedLcp::MarkColumns(const Problem& problem, const RowList& rows, int triple,
                                           const Kernels& kernels) {
  const int words = WordsFor(problem.rows);
  marked_.assign(2 * words, 0);
  if (rows.Contiguous(triple)) {
    const double* row = problem.Row(rows[triple]);
    kernels.mark_columns({row, row + problem.skip, row + 2 * problem.skip}, rows[triple], tolerance_, marked_.data());
    return marked_.data();
  }
  for (int i = triple; i < std::min(triple + kTriple, rows.size()); ++i) {
    const double* row = problem.Row(rows[i]);
    kernels.mark_columns({row, row, row}, rows[i], tolerance_, marked_.data() + words);
    for (int k = 0; k < WordsFor(rows[i]); ++k) marked_[k] |= marked_[words + k];
  }
  return marked_.data();
}

/// Which triples of unbounded rows couple to one another and to which bounded ones.
void EliminatedLcp::FindPattern(const Problem& problem, const Kernels& kernels) {
  pattern_.Clear(unbounded_.size());
  couplings_.assign(static_cast<size_t>(TriplesFor(bounded_.size())) * pattern_.words, 0);
  for (int triple = 0; triple < unbounded_.size(); triple += kTriple) {
    const int end_row = unbounded_[std::min(triple + kTriple, unbounded_.size()) - 1];
    const uint64_t* marked = MarkColumns(problem, unbounded_, triple, kernels);
    unbounded_.AddTriples(marked, end_row, pattern_.Mask(triple));
    marked_triples_.assign(TripleWordsFor(bounded_.size()), 0);
    if (!bounded_.AddTriples(marked, end_row, marked_triples_)) continue;
    ForEachTriple(marked_triples_, [&](int contact) {
      CouplingsOf(contact)[triple / kTripleBitsPerWord] |= uint64_t{1} << triple % kTripleBitsPerWord;
    });
  }
  for (int contact = 0; contact < bounded_.size(); contact += kTriple) {
    unbounded_.AddTriples(MarkColumns(problem, bounded_, contact, kernels), problem.rows, CouplingsOf(contact));
  }
}

/// Copies three by three entries each with copy(row, column, to) where the rows of the problem allow it, and else one
/// by one.
template <class CopyContiguous>
void EliminatedLcp::CopyTriples(const Problem& problem, const SymbolicFactor& symbolic,
                                std::span<const SymbolicFactor::Copy> copies, CopyContiguous copy) {
  for (const auto& [row, column, to] : copies) {
    if (unbounded_.Contiguous(row) && unbounded_.Contiguous(column)) {
      copy(unbounded_[row], unbounded_[column], factor_.u + to);
      continue;
    }
    for (int i = 0; i < kTriple; ++i) {
      for (int j = 0; j < kTriple; ++j) {
        const bool exists = i < symbolic.RowsOf(row) && j < symbolic.RowsOf(column);
        const double identity = row == column && i == j ? 1 : 0;  // fills up a triple of fewer rows
        factor_.u[to + i * factor_.u_stride + j] =
            exists ? problem.Entry(unbounded_[row + i], unbounded_[column + j]) : identity;
      }
    }
  }
}

/// Copies A_uu to its places in U, and b_u.
void EliminatedLcp::LoadUnbounded(const Problem& problem, const SymbolicFactor& symbolic) {
  const int places = symbolic.places();
  factor_.u_stride = symbolic.stride();
  factor_.u = u_.Reserve(places * symbolic.stride());
  factor_.scaled_u = scaled_u_.Reserve(places * symbolic.stride());
  factor_.rhs = rhs_.Reserve(places);
  factor_.inverse_pivot = inverse_pivot_.Reserve(places);
  factor_.smallest_pivot = tolerance_;
  ClearPadding(symbolic);
  const ptrdiff_t skip = problem.skip;
  const ptrdiff_t stride = symbolic.stride();
  CopyTriples(problem, symbolic, symbolic.lower_copies(), [&](int row, int column, double* to) {
    const double* a = problem.Row(row) + column;
    for (int i = 0; i < kTriple; ++i, a += skip, to += stride) to[0] = a[0], to[1] = a[1], to[2] = a[2];
  });
  CopyTriples(problem, symbolic, symbolic.upper_copies(), [&](int row, int column, double* to) {
    const double* a = problem.Row(column) + row;
    for (int j = 0; j < kTriple; ++j, a += skip, ++to) to[0] = a[0], to[stride] = a[1], to[2 * stride] = a[2];
  });
  CopyTriples(problem, symbolic, symbolic.diagonal_copies(), [&](int row, int, double* to) {
    const double* a = problem.Row(row) + row;
    to[0] = a[0];
    to[1] = to[stride] = a[skip];
    to[2] = to[2 * stride] = a[2 * skip];
    to[stride + 1] = a[skip + 1];
    to[stride + 2] = to[2 * stride + 1] = a[2 * skip + 1];
    to[2 * stride + 2] = a[2 * skip + 2];
  });
  for (int triple = 0; triple < unbounded_.size(); triple += kTriple) {
    for (int i = 0; i < symbolic.RowsOf(triple); ++i) {
      factor_.rhs[symbolic.Place(triple) + i] = problem.Rhs(unbounded_[triple + i]);
    }
  }
}

/// Zeros columns and right-hand sides that belong to no row.
void EliminatedLcp::ClearPadding(const SymbolicFactor& symbolic) {
  std::fill_n(factor_.rhs, symbolic.places(), 0.0);
  for (const SymbolicFactor::Block& block : symbolic.blocks()) {
    const auto clear = [&](int begin, int rows) {  // the last two places of eight, or the last one of four
      double* to = factor_.u + block.begin * factor_.u_stride + begin;
      for (int p = 0; p < block.rows; ++p, to += factor_.u_stride) to[rows] = to[RoundUp(rows) - 1] = 0;
    };
    clear(block.begin, block.rows);
    for (const SymbolicFactor::Target& target : symbolic.targets(block)) clear(target.begin, target.rows);
  }
}

/// Finds which bounded rows each block couples to, in A and then by elimination.
void EliminatedLcp::FindContacts(const SymbolicFactor& symbolic) {
  const auto include = [](ColumnRange& range, ColumnRange other) {
    if (other.empty()) return;
    if (range.empty()) range = other;
    range = {std::min(range.begin, other.begin), std::max(range.end, other.end)};
  };
  contacts_.assign(symbolic.blocks().size(), {});
  for (int contact = 0; contact < bounded_.size(); contact += kTriple) {
    const ColumnRange range{contact / kPad * kPad, RoundUp(std::min(contact + kTriple, bounded_.size()))};
    ForEachTriple(CouplingsOf(contact), [&](int triple) { include(contacts_[symbolic.BlockOf(triple)], range); });
  }
  // Eliminating a block hands its contacts on to its targets.
  for (size_t b = 0; b < contacts_.size(); ++b) {
    for (const SymbolicFactor::Target& target : symbolic.targets(symbolic.blocks()[b])) {
      include(contacts_[target.block], contacts_[b]);
    }
  }
}

/// Copies A_uc to its places in Y.
void EliminatedLcp::LoadCouplings(const Problem& problem, const SymbolicFactor& symbolic) {
  FindContacts(symbolic);
  const ptrdiff_t stride = RoundUp(bounded_.size());
  factor_.y_stride = stride;
  factor_.y = y_.Reserve(symbolic.places() * stride);
  factor_.scaled_y = scaled_y_.Reserve(symbolic.places() * stride);
  for (size_t b = 0; b < contacts_.size(); ++b) {
    if (contacts_[b].empty()) continue;
    const SymbolicFactor::Block& block = symbolic.blocks()[b];
    std::fill_n(factor_.y + block.begin * stride, block.rows * stride, 0.0);
  }
  for (int contact = 0; contact < bounded_.size(); contact += kTriple) {
    const int columns = std::min(kTriple, bounded_.size() - contact);
    ForEachTriple(CouplingsOf(contact), [&](int triple) {
      double* to = factor_.y + symbolic.Place(triple) * stride + contact;
      for (int i = 0; i < symbolic.RowsOf(triple); ++i, to += stride) {
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
  std::fill(box_.matrix() + size * box_.stride(), box_.matrix() + RoundUp(size) * box_.stride(), 0.0);
}

bool EliminatedLcp::Eliminate(const SymbolicFactor& symbolic, const Kernels& kernels) {
  for (size_t b = 0; b < contacts_.size(); ++b) {
    const SymbolicFactor::Block& block = symbolic.blocks()[b];
    if (!kernels.eliminate_block(symbolic, block, contacts_[b], factor_)) return false;
    if (contacts_[b].empty()) continue;
    kernels.subtract_from_schur(block, contacts_[b], factor_, box_.matrix(), box_.stride(), box_.rhs());
  }
  box_.MirrorLowerTriangle();
  return true;
}

void EliminatedLcp::SolveBounded(const Problem& problem, dxWorldProcessMemArena* arena, const Kernels& kernels,
                                 LcpWarmStart& warm_start, LcpStatistics& statistics) {
  limits_known_ = true;
  if (box_.size() == 0) return;
  if (!box_.Solve(kernels, warm_start, statistics)) {
    ++statistics.fallbacks;
    limits_known_ = false;
    SolveBoundedByDantzig(problem, arena);
    box_.LearnFromSolution(kernels, warm_start);
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
  FindStockLcpSolver()(arena, size, matrix, bx, nullptr, 0, limits, friction);
  for (int i = 0; i < size; ++i) box_.x()[i] = bx[2 * i + 1];
}

void EliminatedLcp::SubstituteBack(const Problem& problem, const SymbolicFactor& symbolic, const Kernels& kernels) {
  double* x = x_.Reserve(symbolic.places());
  std::fill_n(x, symbolic.places(), 0.0);
  for (size_t b = contacts_.size(); b-- > 0;) {
    kernels.substitute_block(symbolic, symbolic.blocks()[b], contacts_[b], factor_, box_.x(), x);
  }
  for (int triple = 0; triple < unbounded_.size(); triple += kTriple) {
    for (int i = 0; i < symbolic.RowsOf(triple); ++i) {
      problem.X(unbounded_[triple + i]) = x[symbolic.Place(triple) + i];
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

// ---- the calling thread --------------------------------------------------------------------------------------------

struct ThreadState {
  LcpSolver solver = LcpSolver::kStock;
  LcpWarmStart own_warm_start;
  LcpWarmStart* warm_start = &own_warm_start;
  const Kernels* kernels = &BestKernels();
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
  if (!thread.eliminated.Solve(problem, arena, *thread.kernels, *thread.warm_start, thread.statistics)) return false;
  if (thread.observer != nullptr) thread.observer(thread.eliminated.Describe(problem), thread.observer_context);
  return true;
}

}  // namespace

void SelectLcpSolver(LcpSolver solver, LcpWarmStart* warm_start) {
  ThreadState& thread = Thread();
  thread.solver = solver;
  thread.warm_start = warm_start != nullptr ? warm_start : &thread.own_warm_start;
}

LcpSolver SelectedLcpSolver() {
  return Thread().solver;
}
void ResetWarmStart() {
  Thread().own_warm_start.Reset();
}
LcpStatistics& ThreadLcpStatistics() {
  return Thread().statistics;
}

bool SelectLcpKernels(LcpKernels kernels) {
  const Kernels* found = FindKernels(kernels);
  if (found != nullptr) Thread().kernels = found;
  return found != nullptr;
}

void ObserveLcp(LcpObserver observer, void* context) {
  Thread().observer = observer;
  Thread().observer_context = context;
}

}  // namespace retrace::simulation

/// Takes the place of libode's function of this name; see eliminated_lcp.h. The first `nub` rows are unbounded, `bx`
/// and `lh` hold pairs (b, x) and (low, high), `outer_w` receives w unless it is null.
__attribute__((used, visibility("default"))) void dxSolveLCP(dxWorldProcessMemArena* arena, unsigned n, dReal* A,
                                                             dReal* bx, dReal* outer_w, unsigned nub, dReal* lh,
                                                             int* findex) {
  using namespace retrace::simulation;
  ThreadState& thread = Thread();
  ++thread.statistics.calls;
  const int rows = static_cast<int>(n);
  const Problem problem{rows, rows > 1 ? RoundUp(rows) : rows, A, bx, static_cast<int>(nub), lh, findex};
  if (thread.solver == LcpSolver::kEliminated && outer_w == nullptr && SolveByElimination(thread, problem, arena))
    return;
  const StockLcpSolver stock = FindStockLcpSolver();
  if (stock == nullptr) {
    std::fputs("retrace: libode calls this executable's dxSolveLCP, but its own cannot be found\n", stderr);
    std::abort();
  }
  stock(arena, n, A, bx, outer_w, nub, lh, findex);
}
