#include "box_lcp.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace retrace::simulation {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int kMaxPivotRounds = 6;

}  // namespace

void BoxLcp::Resize(int size) {
  size_ = size;
  stride_ = RoundUp(size);
  const size_t padded = stride_ + 2 * kPad;
  matrix_.Reserve(padded * padded);
  for (GrowBuffer<double>* buffer : {&rhs_, &low_, &high_, &x_, &free_x_, &inverse_pivot_, &coefficients_}) {
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

void BoxLcp::RecallStates(const LcpWarmStart& warm_start) {
  const bool same = warm_start.size_ == size_ &&
                    std::equal(warm_start.friction_of_.begin(), warm_start.friction_of_.end(), friction_of_.data());
  for (int i = 0; i < size_; ++i) {
    first_[i] = same ? static_cast<State>(warm_start.first_stage_[i]) : kFree;
    second_[i] = same ? static_cast<State>(warm_start.second_stage_[i]) : kFree;
  }
}

void BoxLcp::RememberStates(LcpWarmStart& warm_start) const {
  warm_start.size_ = size_;
  warm_start.friction_of_.assign(friction_of_.data(), friction_of_.data() + size_);
  warm_start.first_stage_.assign(first_.data(), first_.data() + size_);
  warm_start.second_stage_.assign(second_.data(), second_.data() + size_);
}

bool BoxLcp::Solve(const Kernels& kernels, LcpWarmStart& warm_start, LcpStatistics& statistics) {
  without_friction_.clear();
  all_.clear();
  double largest = 1;
  for (int i = 0; i < size_; ++i) {
    all_.push_back(i);
    if (friction_of_[i] < 0) without_friction_.push_back(i);
    largest = std::max(largest, std::fabs(rhs_[i]));
  }
  residual_tolerance_ = 1e-12 * largest;
  RecallStates(warm_start);
  warm_start.Reset();
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
  RememberStates(warm_start);
  return true;
}

/// Takes the states for the next warm start from a solution found elsewhere. A residual tells at which limit a row is.
void BoxLcp::LearnFromSolution(const Kernels& kernels, LcpWarmStart& warm_start) {
  for (int i = 0; i < size_; ++i) {
    const double w = Residual(i, kernels);
    second_[i] = w > residual_tolerance_ ? kAtLow : w < -residual_tolerance_ ? kAtHigh : kFree;
    first_[i] = second_[i];
  }
  RememberStates(warm_start);
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
    for (int c = r / kPad * kPad; c < count; ++c) to[c] = from[free_[c]];
    to[count] = any_force ? -Residual(free_[r], kernels) : rhs_[free_[r]];
    std::fill(to + count + 1, to + stride, 0.0);
  }
  if (!kernels.factor_dense(free_matrix_.data(), stride, count, inverse_pivot_.data(), coefficients_.data()))
    return false;
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

}  // namespace retrace::simulation
