/// How high a body is over what a motion stands on. Internal to the task module.
#pragma once

#include <algorithm>
#include <limits>

#include "retrace/character/body_points.h"
#include "retrace/character/kinematics.h"
#include "retrace/simulation/environment.h"

namespace retrace::task {

/// Height of the lowest point of a body over what is under it [m]. @param ground null: the plane y = 0
inline double HeightOver(const simulation::Environment* ground, const character::Body& body,
                         const character::BodyState& state) {
  constexpr double kSunk = 0.05;  // deepest that a point is taken for one that has sunk in [m]
  if (ground == nullptr) return character::LowestPoint(body, state);
  double height = std::numeric_limits<double>::infinity();
  character::ForEachPoint(body, state, [&](const Vec3& center, double radius) {
    height = std::min(height, center.y() - radius - ground->HeightAt(center.x(), center.z(), center.y() + kSunk));
  });
  return height;
}

}  // namespace retrace::task
