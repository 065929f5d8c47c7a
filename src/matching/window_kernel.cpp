#include "window_kernel.h"

#include <cmath>

namespace retrace::matching {
namespace {

/// The angle 2 acos c of a rotation, c in [0, 1], to 1.4e-4 rad (Abramowitz and Stegun 1964, formula 4.4.45).
[[gnu::always_inline]] inline float AngleOf(float c) {
  return 2 * std::sqrt(1 - c) * (1.5707288F + c * (-0.2121144F + c * (0.0742610F - 0.0187293F * c)));
}

/// Each lane sees the same operations in the same order, none of them fused: the compiler may take as many lanes
/// together as the processor has, and the bits stay.
[[gnu::always_inline]] inline void AddFrame(const FramePair& pair, float* sums) {
  const size_t lanes = pair.lanes / kLaneStep * kLaneStep;
  const float* query = pair.query;
  const float* weights = pair.body_weights;
  for (size_t b = 0; b < pair.bodies; ++b, query += kBodyRows * pair.lanes, weights += pair.lanes) {
    const float* const body = pair.frame + kBodyRows * b;
    const float *const x = query, *const y = x + pair.lanes, *const z = y + pair.lanes;
    const float *const w = z + pair.lanes, *const qx = w + pair.lanes, *const qy = qx + pair.lanes,
                       *const qz = qy + pair.lanes;
#pragma GCC ivdep
    for (size_t s = 0; s < lanes; ++s) {
      const float dx = x[s] - body[0], dy = y[s] - body[1], dz = z[s] - body[2];
      const float away = std::sqrt(dx * dx + dy * dy + dz * dz);
      const float cosine = std::abs(w[s] * body[3] + qx[s] * body[4] + qy[s] * body[5] + qz[s] * body[6]);
      const float turned = AngleOf(cosine < 1.0F ? cosine : 1.0F);
      sums[s] += pair.frame_weight * (weights[s] * (away + pair.turn_weight * turned));
    }
  }
  const float* const velocity = pair.frame + kBodyRows * pair.bodies;
  const float *const x = query, *const y = x + pair.lanes, *const z = y + pair.lanes;
#pragma GCC ivdep
  for (size_t s = 0; s < lanes; ++s) {
    const float dx = x[s] - velocity[0], dy = y[s] - velocity[1], dz = z[s] - velocity[2];
    sums[s] += pair.frame_weight * (pair.velocity_time * std::sqrt(dx * dx + dy * dy + dz * dz));
  }
}

}  // namespace

constexpr simd::KernelTables<WindowKernels> kWindowKernels = simd::ForBoth<WindowKernels, AddFrame>();

}  // namespace retrace::matching
