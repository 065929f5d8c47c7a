/// How a motion could go on beyond its end, as kinematics.
#pragma once

#include <string>
#include <vector>

#include "retrace/motion/clip.h"
#include "retrace/retargeting/reference.h"
#include "retrace/task/prepared_clip.h"

namespace retrace::runs {

/// Where a motion goes on from.
enum class ContinuationKind {
  kClip,   ///< the recording itself, where the clip is a part of it; its last pose where that ends too
  kCycle,  ///< the best cycle of the clip, over and over
  kStill,  ///< the last pose, and the root comes to rest
  kWalk,   ///< a walk: a step catches what cannot stand
};
std::string Name(ContinuationKind kind);

/// A motion that ends, and what is known of how it could go on.
struct EndingMotion {
  const task::PreparedClip& clip;
  const motion::Clip* walk = nullptr;  ///< a walk that may follow; null: there is none
};

/// Poses after the last one of the reference, as far apart as these.
struct Continuation {
  ContinuationKind kind = ContinuationKind::kStill;
  std::vector<character::Pose> poses;
  double followed = 0;  ///< for how long feedback follows it from the end of the motion, once that was tried [s]
};

/// The continuations that make sense for the motion, the first choice first: a character that moves at the end goes on
/// moving. None for motions that end lying or sitting.
std::vector<Continuation> ContinuationsOf(const EndingMotion& ending, double seconds);

/// Whether the character stands, walks or flies in a pose, and does not lie or sit on the ground.
bool IsUp(const character::Character& character, const character::Pose& pose);
/// Whether nothing of it is near the floor.
bool IsInTheAir(const character::Character& character, const character::Pose& pose);

}  // namespace retrace::runs
