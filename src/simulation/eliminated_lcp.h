/// A faster solver for the linear complementarity problem (LCP) inside dWorldStep: the rows of joints and implicit
/// servos are eliminated once, so that the search for the active set works on contact rows alone. The solution is the
/// one that ODE finds.
///
/// Debian's libode.so.8 exports its internal solver `dxSolveLCP` and calls it through the PLT. eliminated_lcp.cpp
/// defines the same symbol; in an executable that links this module the definition takes precedence ("interposes") over
/// the library's. ProveEliminatedSolver() tells whether that happened in the running process.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace retrace::simulation {

enum class LcpSolver {
  kStock,       // every problem goes straight to ODE's own solver
  kEliminated,  // joint rows eliminated; ODE's solver only for what the elimination cannot do
};

/// The active set that a step ended with, from which the search of the next step starts. It changes the time that the
/// search takes and, by the path taken, the last bits of its result. Whoever restores a state resets it: the steps that
/// follow are then a function of that state alone.
class LcpWarmStart {
 public:
  void Reset() { size_ = -1; }

 private:
  friend class BoxLcp;
  int size_ = -1;  // bounded rows; -1: nothing remembered
  std::vector<int> friction_of_;
  std::vector<signed char> first_stage_, second_stage_;  // BoxLcp::State
};

/// Selects the solver of the dWorldStep calls that the calling thread makes from now on, and the memory that they use;
/// it must live until the next selection. Without one they share a memory of the thread: then at most one world may be
/// stepped between two calls of ResetWarmStart(). A new thread starts with kStock.
void SelectLcpSolver(LcpSolver solver, LcpWarmStart* warm_start = nullptr);
LcpSolver SelectedLcpSolver();

/// Resets the memory of the thread.
void ResetWarmStart();

/// Counts since the thread started; the owner may set them back to zero.
struct LcpStatistics {
  uint64_t calls = 0;       // problems that libode handed over
  uint64_t eliminated = 0;  // of these, solved by elimination
  uint64_t fallbacks = 0;   // of the eliminated, those whose contact rows went to ODE's Dantzig solver
  uint64_t iterations = 0;  // factorisations of contact rows by block pivoting
  uint64_t analyses = 0;    // sparsity patterns met for the first time
};
LcpStatistics& ThreadLcpStatistics();

/// Steps a small chain with motors and ground contacts with both solvers. Returns nothing when libode calls this
/// module's solver and the poses agree within 1e-9 m, otherwise the reason why kEliminated must not be used in this
/// process. Works in a thread of its own, so that settings and statistics of the calling one stay. ODE must be
/// initialised.
std::optional<std::string> ProveEliminatedSolver();

// ---- for tests -----------------------------------------------------------------------------------------------------

/// The inner loops exist for the x86-64 baseline and for AVX2, with the same bits as result. By default the best one
/// that the processor has is taken. Returns false, and changes nothing, when the processor lacks it. For the calling
/// thread.
enum class LcpKernels { kBaseline, kAvx2 };
bool SelectLcpKernels(LcpKernels kernels);

/// One problem solved by elimination, as libode stated it: find x with w = A x - b such that for every row
/// x = low and w >= 0, or x = high and w <= 0, or low <= x <= high and w = 0.
struct SolvedLcp {
  int rows = 0;
  int row_skip = 0;                      // distance between rows of A, in doubles
  const double* matrix = nullptr;        // A, lower triangle
  const double* rhs_and_x = nullptr;     // b0 x0 b1 x1 ...
  const double* low_and_high = nullptr;  // low0 high0 low1 high1 ...; of friction rows: the coefficient of friction
  const int* friction_of = nullptr;      // per row: the row of the normal force that limits it, or -1
  std::span<const int> bounded_rows;     // the rows that were not eliminated ...
  std::span<const double> bounded_low;   // ... the limits that hold for them in the end ...
  std::span<const double> bounded_high;  // ... and nothing when Dantzig's solver had to help
};
using LcpObserver = void (*)(const SolvedLcp& solved, void* context);

/// Calls the observer after every problem that this thread solves by elimination; nullptr ends it.
void ObserveLcp(LcpObserver observer, void* context);

}  // namespace retrace::simulation
