/// The corners of a character near to the ground. Internal to the task module.
#pragma once

#include <algorithm>

#include "retrace/character/character.h"
#include "retrace/character/corners.h"
#include "retrace/character/state.h"
#include "retrace/metrics/surface.h"

namespace retrace::task {

/// A point lower than this over the ground is on it, for a character of human height [m].
constexpr double kTouches = 0.015;

/// Calls visit(body, point, height of the ground under it) for each corner of each body of the character.
template <typename Visit>
void ForEachCorner(const character::Character& character, const character::State& state, const metrics::Surface& ground,
                   Visit&& visit) {
  for (size_t b = 0; b < state.size() && b < character.bodies.size(); ++b) {
    for (const character::Shape& shape : character.bodies[b].shapes) {
      for (const Vec3& corner : character::CornersOf(shape)) {
        const Vec3 point = state[b].position + state[b].orientation * corner;
        visit(b, point, ground.GroundUnder(point));
      }
    }
  }
}

}  // namespace retrace::task
