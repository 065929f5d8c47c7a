/// A motion that comes to rest.
#pragma once

#include "retrace/character/state.h"
#include "retrace/math/types.h"
#include "retrace/retargeting/reference.h"

namespace retrace::runs {

/// How far a root goes along the ground until so long after it began to come to rest.
Vec3 PathToRest(const Vec3& velocity, double time);

/// The pose of a motion up to its last instant [s]; after that the pose of that instant, with a root that comes to
/// rest.
void RestingPoseAt(const character::ReferenceMotion& motion, double last, double time, character::Pose& pose);

}  // namespace retrace::runs
