#include "available_passes.h"

#include <cmath>
#include <initializer_list>

#include "tree_passes_of_lanes.h"

namespace retrace::simulation::lanes {

template <>
inline double Arcsine(const double& x) {
  return std::asin(x);
}

}  // namespace retrace::simulation::lanes

namespace retrace::simulation {

constexpr TreePasses kScalarPasses = lanes::Passes<double>::Table();

#if defined(__x86_64__)
extern const TreePasses kAvx2Passes;    // 4 lanes
extern const TreePasses kAvx512Passes;  // 8 lanes
#endif

const TreePasses* FindPasses(int lanes) {
  if (lanes == 1) return &kScalarPasses;
#if defined(__x86_64__)
  if (lanes == 4 && __builtin_cpu_supports("avx2")) return &kAvx2Passes;
  if (lanes == 8 && __builtin_cpu_supports("avx512f")) return &kAvx512Passes;
#endif
  return nullptr;
}

const TreePasses& WidestPasses() {
  for (const int lanes : {8, 4}) {
    if (const TreePasses* passes = FindPasses(lanes)) return *passes;
  }
  return kScalarPasses;
}

}  // namespace retrace::simulation
