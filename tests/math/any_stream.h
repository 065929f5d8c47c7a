#pragma once

#include <rapidcheck.h>

#include <cstdint>

#include "retrace/math/random.h"
#include "retrace/math/types.h"

namespace retrace {

/// Random numbers for a property test, from a seed that rapidcheck draws and, where the test fails, prints.
inline RandomStream AnyStream() {
  return {*rc::gen::arbitrary<uint64_t>().as("seed"), RandomStage::kTest, 0, 0};
}

/// Components up to `size`, of either sign.
inline Vec3 AnyVector(RandomStream& random, double size) {
  return {random.Uniform(-size, size), random.Uniform(-size, size), random.Uniform(-size, size)};
}

}  // namespace retrace
