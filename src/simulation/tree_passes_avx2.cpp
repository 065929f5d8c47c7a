/// Compiled for AVX2: called only where the processor has it.
#if defined(__x86_64__)
#include <sleef.h>

#include "tree_passes.h"

namespace retrace::simulation {

using Lanes4 = double __attribute__((vector_size(32)));

namespace lanes {

// The same bits as the arcsine of single numbers (math/elementary.h).
RETRACE_LANES_INLINE Lanes4 Arcsine(Lanes4 x) {
  return Sleef_cinz_asind4_u10avx(x);
}
RETRACE_LANES_INLINE double Arccosine(double x) {
  return Sleef_cinz_acosd1_u10purec(x);
}

}  // namespace lanes
}  // namespace retrace::simulation

#include "tree_passes_of_lanes.h"

namespace retrace::simulation {

extern const TreePasses kAvx2Passes;
constexpr TreePasses kAvx2Passes = lanes::Passes<Lanes4>::Table();

}  // namespace retrace::simulation
#endif
