/// The widest vectors of the set of instructions that a source is compiled for.
#pragma once

#include <sleef.h>

#include "tree_passes_of_lanes.h"

namespace retrace::simulation::lanes {

// The same bits as the arcsine of single numbers (math/elementary.h).
#if defined(__AVX512F__)
using Wide = double __attribute__((vector_size(64)));
template <>
inline Wide Arcsine(const Wide& x) {
  return Sleef_cinz_asind8_u10avx512fnofma(x);
}
#else
using Wide = double __attribute__((vector_size(32)));
template <>
inline Wide Arcsine(const Wide& x) {
  return Sleef_cinz_asind4_u10avx(x);
}
#endif

}  // namespace retrace::simulation::lanes
