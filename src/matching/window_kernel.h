/// The part of the window search that takes its time. Internal to matching.
#pragma once

#include <cstddef>

#include "retrace/math/simd.h"

namespace retrace::matching {

/// Windows are compared eight at a time: as many floats as a vector of AVX2 has.
inline constexpr size_t kLaneStep = 8;
/// Rows of a body in a frame of a window: x, y, z of its position, w, x, y, z of its orientation.
inline constexpr size_t kBodyRows = 7;
/// Rows of the velocity of the center of mass, after those of the bodies.
inline constexpr size_t kVelocityRows = 3;

/// One frame of a window of the library beside the same frame of the windows of the query.
struct FramePair {
  const float* query;         ///< (rows x lanes) one lane for each window of the query
  const float* frame;         ///< (rows)
  const float* body_weights;  ///< (bodies x lanes)
  size_t bodies;
  size_t lanes;         ///< a multiple of kLaneStep
  float turn_weight;    ///< [m/rad]
  float velocity_time;  ///< [s]
  float frame_weight;
};

struct WindowKernels {
  /// sums[lane] += the frame's term of the distance.
  void (*add)(const FramePair& pair, float* sums);
};

extern const simd::KernelTables<WindowKernels> kWindowKernels;

}  // namespace retrace::matching
