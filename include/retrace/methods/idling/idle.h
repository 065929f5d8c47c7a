/// Idling between key poses without any recorded trajectory (Liu et al. 2010, section 3.3).
///
/// 1. Each key pose is simulated with soft servos until it rests on the furniture (relaxing).
/// 2. For each ordered pair of relaxed keys several paths are planned: a tree of simulated motions grows from the one,
///    by control targets in a tube about the spherical interpolation of the two, until it reaches the other. Each path
///    is simplified and smoothed as far as it still reaches the key.
/// 3. The player strings them together. It looks ahead from the actual state: of several continuations, which are
///    simulated with random noise on their targets, the first is played that stays where it belongs at every step.
///
/// The result is an open-loop control of any length.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "retrace/control/control.h"
#include "retrace/methods/idling/judge.h"
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

/// The pose at rest. Throws InputError with the key's place when it cannot be simulated: it diverges, or it settles
/// farther than Options::settling_limit from where it was put.
RelaxedKey Relax(const Problem& problem, const KeyPose& key);

/// What carries the character in relaxed keys.
Support FindSupport(const Problem& problem, const std::vector<RelaxedKey>& keys);

/// Throws UsageError for options or a world that cannot be used, InputError as Relax does, and where the keys rest on
/// different things.
Summary Run(const Problem& problem, const Hooks& hooks = {});

}  // namespace retrace::idling
