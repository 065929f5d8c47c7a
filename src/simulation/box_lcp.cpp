#include "box_lcp.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace retrace::simulation {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int kMostStalls = 4;        // rounds of block pivoting that bring no fewer violations
constexpr int kMaxChanges = 20;       // of states when rows are driven, for each row
constexpr double kTolerance = 1e-12;  // of forces and residuals beside the largest

}  // namespace

void BoxLcp::Resize(int size) {
  size_ = size;
  stride_ = RoundUp(size);
  const auto padded = static_cast<size_t>(stride_ + ptrdiff_t{2} * kPad);
  matrix_.Reserve(padded * padded);
  for (GrowBuffer<double>* buffer : {&rhs_, &low_, &high_, &x_, &left_}) {
    buffer->Reserve(padded);
    std::fill(buffer->data() + size, buffer->data() + stride_, 0.0);
  }
  for (GrowBuffer<double>* buffer : {&free_x_, &inverse_pivot_, &right_, &direction_}) buffer->Reserve(padded);
  for (GrowBuffer<State>* buffer : {&first_, &second_}) {
    buffer->Reserve(padded);
    std::fill(buffer->data() + size, buffer->data() + stride_, kLeftOut);
  }
  friction_of_.Reserve(padded);
  names_.Reserve(padded);
  free_rows_.Reserve(padded);
  held_rows_.Reserve(padded);
  free_matrix_.Reserve(padded * padded);
}

void BoxLcp::MirrorUpperTriangle() {
  for (int i = 0; i < size_; ++i) {
    double* row = matrix_.data() + i * stride_;
    for (int j = 0; j < i; ++j) row[j] = matrix_[j * stride_ + i];
    for (ptrdiff_t j = size_; j < stride_; ++j) row[j] = 0;
  }
}

/// Where the search of both stages begins. A row that the step before did not have begins at its limit where it would
/// part without a force; in the second stage, which is marked by kLeftOut here, where the first ended.
void BoxLcp::RecallStates(const LcpWarmStart& warm_start) {
  const size_t stored = warm_start.names_.size();
  size_t next = 0;  // rows mostly keep their order
  for (int i = 0; i < size_; ++i) {
    const bool is_friction = friction_of_[i] >= 0;
    size_t place = next;
    if (place >= stored || warm_start.names_[place] != names_[i]) {
      place = static_cast<size_t>(std::ranges::find(warm_start.names_, names_[i]) - warm_start.names_.begin());
    }
    if (place < stored) {
      first_[i] = is_friction ? kLeftOut : warm_start.first_stage_[place];
      second_[i] = warm_start.second_stage_[place];
      next = place + 1;
    } else {
      const State guess = low_[i] == 0 && rhs_[i] <= 0 ? kAtLow : kFree;
      first_[i] = is_friction ? kLeftOut : guess;
      second_[i] = is_friction ? kFree : kLeftOut;
    }
  }
}

void BoxLcp::RememberStates(LcpWarmStart& warm_start) const {
  warm_start.names_.assign(names_.data(), names_.data() + size_);
  warm_start.first_stage_.assign(first_.data(), first_.data() + size_);
  warm_start.second_stage_.assign(second_.data(), second_.data() + size_);
}

bool BoxLcp::Solve(LcpWarmStart& warm_start) {
  bool friction = false;
  largest_rhs_ = 1;
  largest_diagonal_ = 0;
  for (int i = 0; i < size_; ++i) {
    friction = friction || friction_of_[i] >= 0;
    largest_rhs_ = std::max(largest_rhs_, std::fabs(rhs_[i]));
    largest_diagonal_ = std::max(largest_diagonal_, matrix_[i * stride_ + i]);
  }
  RecallStates(warm_start);
  warm_start.Reset();
  if (friction) {
    if (!SolveRows(first_.data())) return false;
    for (int i = 0; i < size_; ++i) {
      if (friction_of_[i] < 0) continue;
      const double normal_force = x_[friction_of_[i]];
      high_[i] = normal_force == 0 ? 0 : std::fabs(high_[i] * normal_force);
      low_[i] = -high_[i];
    }
  }
  for (int i = 0; i < size_; ++i) {
    if (second_[i] == kLeftOut) second_[i] = first_[i];
  }
  if (!SolveRows(second_.data())) return false;
  RememberStates(warm_start);
  return true;
}

/// x of the rows that are not left out, all others being zero.
bool BoxLcp::SolveRows(State* states) {
  if (kernels_.pivot(ProblemOf(states))) return true;
  return DriveRows(states);
}

PivotProblem BoxLcp::ProblemOf(State* states) {
  PivotProblem problem;
  problem.matrix = matrix_.data();
  problem.stride = stride_;
  problem.size = size_;
  problem.rhs = rhs_.data();
  problem.low = low_.data();
  problem.high = high_.data();
  problem.force_tolerance = kTolerance;
  problem.smallest_residual = kTolerance * largest_rhs_;
  problem.residual_per_force = kTolerance * largest_diagonal_;
  problem.most_stalls = kMostStalls;
  problem.x = x_.data();
  problem.states = states;
  problem.left = left_.data();
  problem.free_matrix = free_matrix_.data();
  problem.free_x = free_x_.data();
  problem.inverse_pivot = inverse_pivot_.data();
  problem.free = free_rows_.data();
  problem.held = held_rows_.data();
  return problem;
}

/// Solves S_FF free_x = right for the rows in free_.
bool BoxLcp::SolveSystem(const double* right) {
  const int count = static_cast<int>(free_.size());
  const ptrdiff_t stride = RoundUp(count + 1) + kPad;
  for (int r = 0; r < count; ++r) {
    const double* from = matrix_.data() + free_[r] * stride_;
    double* to = free_matrix_.data() + r * stride;
    for (int c = r / kPad * kPad; c < count; ++c) to[c] = from[free_[c]];
    to[count] = right[r];
    std::fill(to + count + 1, to + stride, 0.0);
  }
  return kernels_.solve(free_matrix_.data(), stride, count, free_x_.data(), inverse_pivot_.data());
}

/// Dantzig's method: the rows are taken up one after another. The force of the new one grows until its condition holds;
/// meanwhile the free rows give way, and whenever one of them reaches a limit, or the residual of one at a limit
/// reaches zero, that one changes its state. All limits include zero, where every force begins.
bool BoxLcp::DriveRows(State* states) {
  std::vector<int>& rows = driven_;
  rows.clear();
  for (int i = 0; i < size_; ++i) {
    if (states[i] != kLeftOut) rows.push_back(i);
  }
  std::fill_n(x_.data(), stride_, 0.0);
  free_.clear();
  const double tolerance = kTolerance * largest_rhs_;
  int changes = kMaxChanges * static_cast<int>(rows.size());
  for (size_t taken = 0; taken < rows.size(); ++taken) {
    const int i = rows[taken];
    if (low_[i] == high_[i]) {
      states[i] = kFixed;
      continue;
    }
    const double w = Residual(i);
    if ((low_[i] == 0 && w >= -tolerance) || (high_[i] == 0 && w <= tolerance)) {
      states[i] = low_[i] == 0 ? kAtLow : kAtHigh;
      continue;
    }
    const double sign = w < 0 ? 1 : -1;
    while (states[i] = kDriven, true) {
      if (--changes < 0) return false;
      for (size_t r = 0; r < free_.size(); ++r) right_[r] = -sign * matrix_[free_[r] * stride_ + i];
      if (!SolveSystem(right_.data())) return false;
      std::fill_n(direction_.data(), stride_, 0.0);
      direction_[i] = sign;
      for (size_t r = 0; r < free_.size(); ++r) direction_[free_[r]] = free_x_[r];
      // The shortest step to a change of state.
      const auto rate = [&](int row) { return kernels_.dot(matrix_.data() + row * stride_, direction_.data(), size_); };
      double way = -Residual(i) / rate(i);
      Move move{i, kFree};
      const auto shorten = [&](double other, int row, State state) {
        if (!(other < way)) return;
        way = std::max(other, 0.0);
        move = {row, state};
      };
      for (size_t k = 0; k <= taken; ++k) {
        const int j = rows[k];
        if (direction_[j] < 0) shorten((low_[j] - x_[j]) / direction_[j], j, kAtLow);
        if (direction_[j] > 0) shorten((high_[j] - x_[j]) / direction_[j], j, kAtHigh);
        if (states[j] != kAtLow && states[j] != kAtHigh) continue;
        const double change = rate(j);
        if (states[j] == kAtLow ? change < 0 : change > 0) shorten(-Residual(j) / change, j, kFree);
      }
      if (!(way < kInfinity)) return false;
      for (size_t k = 0; k <= taken; ++k) x_[rows[k]] += way * direction_[rows[k]];
      states[move.row] = move.state;
      if (move.state == kFree) {
        free_.push_back(move.row);
      } else {
        x_[move.row] = move.state == kAtLow ? low_[move.row] : high_[move.row];
        std::erase(free_, move.row);
      }
      if (move.row == i) break;
    }
  }
  return kernels_.solve_free(ProblemOf(states));  // without the rounding of all these steps
}

}  // namespace retrace::simulation
