/// What is to be done: a character idles between key poses in a world.
#pragma once

#include <vector>

#include "retrace/character/character.h"
#include "retrace/control/fragment.h"
#include "retrace/methods/idling/key_pose.h"
#include "retrace/methods/idling/options.h"
#include "retrace/simulation/world_options.h"

namespace retrace::idling {

/// The key at which a motion begins, and the one at which it ends.
struct Leg {
  size_t from = 0;
  size_t to = 0;
  bool operator==(const Leg&) const = default;
};

/// The paths of a pair of keys that may be played, chosen by a person who looked at them (the paper's manual
/// selection).
struct Choice {
  Leg leg;
  std::vector<int> numbers;  ///< from 1 on, in the order in which they were found
};

struct Problem {
  const character::Character* character = nullptr;  ///< with the servos that are simulated (WithGain)
  simulation::WorldOptions world;                   ///< with the furniture; nothing in it may be on a course
  std::vector<KeyPose> keys;                        ///< at least one
  std::vector<Choice> choices = {};                 ///< of pairs without any, all paths are played
  Options options;
};

/// The same character with softer servos: kp times the gain, kd times its square root, so that they stay as well
/// damped.
character::Character WithGain(const character::Character& character, double gain);

/// A key pose that was simulated with soft servos until it rests on the furniture: what the servos drive at, and where
/// that leads. The two differ by what the servos give way.
struct RelaxedKey {
  std::string name;
  control::TargetPose targets;  ///< (joints)
  character::State settled;     ///< of the whole world
  double joint_rate = 0;        ///< largest rms joint rate of the last half second [rad/s]
  bool at_rest = false;         ///< it is below Options::rest_rate
};

/// What the servos drive at, and for how long.
struct Drive {
  control::TargetPose target;
  int num_steps = 0;
};

/// From one relaxed key to another.
struct Path {
  size_t from = 0;
  size_t to = 0;
  int number = 0;             ///< among those of the pair, from 1 on
  std::vector<Drive> drives;  ///< the last one drives at the key's targets
  int nodes = 0;              ///< extensions that were simulated to find it
  int removed = 0;            ///< drives that smoothing removed
  int smoothed = 0;           ///< passes of smoothing that still reached the key
  double distance = 0;        ///< of the end from the relaxed key [m]

  int num_steps() const {
    int steps = 0;
    for (const Drive& drive : drives) steps += drive.num_steps;
    return steps;
  }
};

}  // namespace retrace::idling
