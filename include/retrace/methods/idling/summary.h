/// The motion that was found between key poses, how it ended, and what is called while it is searched for.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "retrace/character/state.h"
#include "retrace/control/control.h"
#include "retrace/methods/idling/problem.h"

namespace retrace::idling {

enum class Status {
  kReachedEnd,
  kDeadEnd,  ///< no continuation is valid, nor any after going back
  kStopped,
};
std::string Name(Status status);

/// A pair of keys and how many of its paths were found.
struct PairOfKeys {
  Leg leg;
  int found = 0;
};

/// A part of the motion: at a key, or from one to another.
struct Played {
  int first_step = 0;
  int num_steps = 0;
  Leg leg;
  int path = -1;       ///< in Summary::paths; -1: the key was held
  int candidates = 0;  ///< that were simulated for it
};

struct Summary {
  Status status = Status::kReachedEnd;
  std::vector<RelaxedKey> keys;
  std::vector<PairOfKeys> pairs;
  std::vector<Path> paths;
  std::vector<Played> played;
  control::OpenLoopControl control;
  character::State end;          ///< in which it ended
  int object = -1;               ///< that carries the character; -1: the ground
  double simulated_seconds = 0;  ///< in all
  double planning_seconds = 0;   ///< of these, for keys and paths
  int dead_ends = 0;             ///< from which the player went back
  double cpu_seconds = 0;

  /// For each simulated second of the result, without keys and paths.
  double SimulatedSecondsPerSecond() const {
    return control.duration() > 0 ? (simulated_seconds - planning_seconds) / control.duration() : 0;
  }
};

struct Hooks {
  std::function<void(double time)> on_progress = {};  ///< of the motion that is found [s]
  std::function<bool()> stop = {};
};

}  // namespace retrace::idling
