/// A motion from which a response is learned: poses at even times, and the pushes that met it.
#pragma once

#include <Eigen/Core>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "retrace/character/state.h"
#include "retrace/math/types.h"

namespace retrace::response_model {

/// A constant force on a body.
struct Push {
  int body = -1;
  Vec3 force = Vec3::Zero();  ///< in world axes [N]
  double start = 0;           ///< [s]
  double duration = 0;        ///< [s]
  Vec3 point = Vec3::Zero();  ///< at which it acts, in the body's frame, whose origin is its center of mass [m]

  double end() const { return start + duration; }
};

struct Example {
  std::string name;
  std::vector<character::Pose> poses;  ///< the first at time 0
  std::vector<Push> pushes;            ///< none: of the normal motion, or of forces that were not measured
  /// Time of the first pose on the clock of the motion: motions that follow one reference in time share its clock.
  /// Nothing: there is no such clock, as with people [s].
  std::optional<double> clock = {};
  /// (poses) Times of the poses on a clock that the motion does not keep: a person steps earlier or later under a push.
  /// Empty: the clock goes on evenly from `clock` [s].
  std::vector<double> times = {};

  /// Time of a pose on the clock, which the example must have [s].
  double ClockAt(size_t pose, double frame_time) const {
    return times.empty() ? *clock + static_cast<double>(pose) * frame_time : times[pose];
  }
};

/// What a push is in the finite differences of three poses, of which the middle one is at `time`: their second
/// difference sees each instant between the outer ones with a weight that falls evenly to both sides, so that the
/// momentum of a push comes out whole. The factor on the force, 1 for one that lasts all the while.
double ShareOf(const Push& push, double time, double frame_time);

}  // namespace retrace::response_model
