/// The Open Dynamics Engine in this process.
#pragma once

#include <ode/ode.h>

#include <type_traits>

#include "retrace/math/types.h"

namespace retrace::simulation {

static_assert(std::is_same_v<dReal, double>, "ODE must be the double-precision build");

/// Makes ODE ready for the calling thread. Its errors are thrown from then on (std::runtime_error): by itself it would
/// abort the process.
void InitializeOde();

inline Vec3 ToVec3(const dReal* v) {
  return Vec3(v[0], v[1], v[2]);
}
inline Quat ToQuat(const dReal* q) {
  return Quat(q[0], q[1], q[2], q[3]);
}

}  // namespace retrace::simulation
