/// How far apart two states of a character are, wherever it stands and looks.
#pragma once

#include "retrace/character/character.h"
#include "retrace/character/state.h"

namespace retrace::metrics {

/// Time by which differences of velocities count as distances [s].
inline constexpr double kDistanceTime = 0.2;

/// Mean over the bodies of the distance between their positions plus `time` times that between their velocities [m],
/// after `b` is moved along the ground to the root of `a`, and turned about the vertical by the turn in the rotation
/// between the two roots, which exists in any posture. It does not change when either state is moved along the ground,
/// or when both are turned; heights count.
double StateDistance(const character::Character& character, const character::State& a, const character::State& b,
                     double time = kDistanceTime);

/// That motion along the ground of `b`: a point x of it goes to heading * x + offset.
struct GroundAlignment {
  Quat heading = Quat::Identity();
  Vec3 offset = Vec3::Zero();  ///< without height [m]
};
GroundAlignment AlignOnGround(const character::Character& character, const character::State& a,
                              const character::State& b);

}  // namespace retrace::metrics
