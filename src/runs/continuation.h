/// How the motion of a job could go on beyond its end, as kinematics. Internal to the runs module.
#pragma once

#include <string>
#include <vector>

#include "retrace/character/reference.h"
#include "retrace/runs/job.h"

namespace retrace::runs {

/// Where a motion goes on from.
enum class Onward {
  kClip,   ///< the recording itself, where the clip is a part of it; its last pose where that ends too
  kCycle,  ///< the best cycle of the clip, over and over
  kStill,  ///< the last pose, and the root comes to rest
  kWalk,   ///< the walk that comes with the toolkit: a step catches what cannot stand
};
std::string Name(Onward onward);

/// Poses after the last one of the job's reference, as far apart as these.
struct Continuation {
  Onward onward = Onward::kStill;
  std::vector<character::Pose> poses;
  double followed = 0;  ///< for how long feedback follows it from the end of the motion, once that was tried [s]
};

/// The ways that make sense for the motion, the one to be tried first in front: who moves at the end goes on moving.
/// Those that end lying or sitting are left out.
std::vector<Continuation> ContinuationsOf(const Job& job, double seconds);

/// Whether the character stands, walks or flies in a pose, and does not lie or sit on the ground.
bool IsUp(const character::Character& character, const character::Pose& pose);
/// Whether nothing of it is near the floor.
bool IsInTheAir(const character::Character& character, const character::Pose& pose);

/// In which a difference between two motions fades away [s].
inline constexpr double kFade = 0.3;

/// A motion put where a state is: turned and moved along the ground, and within the time of `fade` [s] what the state
/// still differs by fades away.
std::vector<character::Pose> StartingFrom(const character::Character& character, const character::State& state,
                                          std::vector<character::Pose> poses, double frame_time, double fade = kFade);

}  // namespace retrace::runs
