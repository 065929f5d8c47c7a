/// Compiled for AVX2: called only where the processor has it.
#if defined(__x86_64__)
#include "wide_lanes.h"

namespace retrace::simulation {

extern const TreePasses kAvx2Passes;
constexpr TreePasses kAvx2Passes = lanes::Passes<lanes::Wide>::Table();

}  // namespace retrace::simulation
#endif
