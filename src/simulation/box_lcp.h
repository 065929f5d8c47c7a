/// The problem that is left when the unbounded rows are eliminated: find x with w = S x - s and low <= x <= high, where
/// w_i >= 0, <= 0 or = 0 if x_i is at its low limit, at its high limit or between. S is dense, symmetric and positive
/// definite.
///
/// Friction has the two stages of ODE's solver: first the rows without friction are solved with all friction forces at
/// zero; the normal forces x_n found then fix the friction limits at +-mu |x_n|, and the whole problem is solved with
/// these.
///
/// The method is block principal pivoting (Judice and Pires 1994): guess which rows are at a limit, solve for the free
/// ones, move every row that violates its condition to the state that the violation asks for, repeat. The first guess
/// is the outcome of the previous problem, if that had the same rows. One or two rounds usually suffice, but the method
/// need not end at all: after kMaxPivotRounds it gives up. (Measured: 8 % of the steps of a tight roll are given up,
/// with 6 rounds as with 12; none or next to none standing, walking or lying.)
#pragma once

#include <cstddef>
#include <vector>

#include "grow_buffer.h"
#include "lcp_kernels.h"

namespace retrace::simulation {

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

  /// Both stages by block pivoting. On success low() and high() hold the limits that friction led to. After a failure
  /// the caller finds x by other means, and calls LearnFromSolution() to keep a first guess for the next problem.
  bool Solve(const Kernels& kernels, LcpWarmStart& warm_start, LcpStatistics& statistics);
  void LearnFromSolution(const Kernels& kernels, LcpWarmStart& warm_start);

 private:
  void RecallStates(const LcpWarmStart& warm_start);
  void RememberStates(LcpWarmStart& warm_start) const;
  State Admissible(int i, State state) const;
  bool Pivot(const std::vector<int>& rows, State* states, const Kernels& kernels, LcpStatistics& statistics);
  bool SolveFree(const std::vector<int>& rows, const State* states, const Kernels& kernels);
  int FlipViolated(const std::vector<int>& rows, State* states, const Kernels& kernels) const;
  double Residual(int i, const Kernels& kernels) const {
    return kernels.dot(matrix_.data() + i * stride_, x_.data(), size_) - rhs_[i];
  }

  int size_ = 0;
  ptrdiff_t stride_ = 0;
  GrowBuffer<double> matrix_, rhs_, low_, high_, x_;
  GrowBuffer<int> friction_of_;
  std::vector<int> without_friction_, all_;
  double residual_tolerance_ = 0;
  GrowBuffer<State> first_, second_;  // of the two stages

  GrowBuffer<double> free_matrix_, free_x_, inverse_pivot_, coefficients_;  // scratch of SolveFree
  std::vector<int> free_;
};

}  // namespace retrace::simulation
