/// Compiled for AVX-512: called only where the processor has it.
#if defined(__x86_64__)
#include "wide_lanes.h"

namespace retrace::simulation {

extern const TreePasses kAvx512Passes;
constexpr TreePasses kAvx512Passes = lanes::Passes<lanes::Wide>::Table();

}  // namespace retrace::simulation
#endif
