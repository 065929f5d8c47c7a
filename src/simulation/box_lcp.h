/// The problem that is left when the unbounded rows are eliminated: find x with w = S x - s and low <= x <= high, where
/// w_i >= 0, <= 0 or = 0 if x_i is at its low limit, at its high limit or between. S is dense, symmetric and positive
/// definite.
///
/// Friction has the two stages of ODE's solver: first the rows without friction are solved with all friction forces at
/// zero; the normal forces x_n found then fix the friction limits at +-mu |x_n|, and the whole problem is solved with
/// these.
///
/// The method is block principal pivoting (Judice and Pires 1994): guess which rows are at a limit, solve for the free
/// ones, move every row that violates its condition to the state that the violation requires, repeat. The first guess
/// of a row is the outcome of the previous problem, if that had a row of the same name. One or two rounds usually
/// suffice, but the method need not end. When it does not, rows are taken up one after another (Dantzig's method, as
/// Baraff 1994 has it for contact forces), which does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dense_kernels.h"
#include "grow_buffer.h"

namespace retrace::simulation {

/// The active set that a step ended with, from which the search of the next step starts. It changes the time that the
/// search takes and, by the path taken, the last bits of its result. The caller that restores a state resets it: the
/// steps that follow are then a function of that state alone.
class LcpWarmStart {
 public:
  void Reset() { names_.clear(); }

 private:
  friend class BoxLcp;
  std::vector<uint64_t> names_;  // of the rows; empty: nothing stored
  std::vector<PivotProblem::State> first_stage_, second_stage_;
};

class BoxLcp {
 public:
  explicit BoxLcp(const DenseKernels& kernels = kDenseKernels.Best()) : kernels_(kernels) {}

  using State = PivotProblem::State;
  using enum PivotProblem::State;

  /// Prepares for a problem of this size. The caller then fills in the upper triangle and the vectors.
  void Resize(int size);
  int size() const { return size_; }
  ptrdiff_t stride() const { return stride_; }
  double* matrix() { return matrix_.data(); }
  double* rhs() { return rhs_.data(); }
  double* low() { return low_.data(); }
  double* high() { return high_.data(); }
  int* friction_of() { return friction_of_.data(); }  // the position of the normal row, or -1
  /// What a row is: the search begins where that of the step before ended for the row of the same name.
  uint64_t* names() { return names_.data(); }
  double* x() { return x_.data(); }  // padded with zeros
  void MirrorUpperTriangle();

  /// Both stages. On success low() and high() hold the limits that friction led to. False when no solution was found,
  /// which only rounding or numbers that are not finite can cause.
  bool Solve(LcpWarmStart& warm_start);

 private:
  void RecallStates(const LcpWarmStart& warm_start);
  void RememberStates(LcpWarmStart& warm_start) const;
  bool SolveRows(State* states);
  PivotProblem ProblemOf(State* states);
  bool DriveRows(State* states);
  bool SolveSystem(const double* right);
  double Residual(int i) const { return kernels_.dot(matrix_.data() + i * stride_, x_.data(), size_) - rhs_[i]; }

  const DenseKernels& kernels_;
  int size_ = 0;
  ptrdiff_t stride_ = 0;
  GrowBuffer<double> matrix_, rhs_, low_, high_, x_;
  GrowBuffer<int> friction_of_;
  GrowBuffer<uint64_t> names_;
  double largest_rhs_ = 0;
  double largest_diagonal_ = 0;
  GrowBuffer<State> first_, second_;  // of the two stages

  GrowBuffer<double> left_, free_matrix_, free_x_, inverse_pivot_, right_, direction_;  // scratch
  std::vector<int> driven_, free_;
  struct Move {
    int row;
    State state;
  };
  GrowBuffer<int> free_rows_, held_rows_;
};

}  // namespace retrace::simulation
