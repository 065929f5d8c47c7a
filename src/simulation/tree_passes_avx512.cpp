/// Compiled for AVX-512: called only where the processor has it.
#if defined(__x86_64__)
#include <sleef.h>

#include "tree_passes.h"

namespace retrace::simulation {

using Lanes8 = double __attribute__((vector_size(64)));

namespace lanes {

// The same bits as the arcsine of single numbers (math/elementary.h).
RETRACE_LANES_INLINE Lanes8 Arcsine(Lanes8 x) {
  return Sleef_cinz_asind8_u10avx512fnofma(x);
}
RETRACE_LANES_INLINE double Arccosine(double x) {
  return Sleef_cinz_acosd1_u10purec(x);
}

}  // namespace lanes
}  // namespace retrace::simulation

#include "tree_passes_of_lanes.h"

namespace retrace::simulation {

extern const TreePasses kAvx512Passes;
constexpr TreePasses kAvx512Passes = lanes::Passes<Lanes8>::Table();

}  // namespace retrace::simulation
#endif
