/// ODE's own solver, behind the function that takes its place.
#pragma once

#include <ode/ode.h>

#include <type_traits>

class dxWorldProcessMemArena;  // ODE's, only passed through

namespace retrace::simulation {

static_assert(std::is_same_v<dReal, double>, "this module needs libode built with double precision");

/// dxSolveLCP(arena, n, A, bx, outer_w, nub, lh, findex).
using StockLcpSolver = void (*)(dxWorldProcessMemArena*, unsigned, dReal*, dReal*, dReal*, unsigned, dReal*, int*);
inline constexpr char kStockLcpSymbol[] = "_Z10dxSolveLCPP22dxWorldProcessMemArenajPdS1_S1_jS1_Pi";

/// Null when libode exports no such symbol.
StockLcpSolver FindStockLcpSolver();

}  // namespace retrace::simulation
