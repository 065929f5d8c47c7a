/// The options of idling.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "retrace/io/describe.h"

namespace retrace::idling {

/// How the noise of the targets runs in time.
enum class Noise {
  kIndependent,  ///< new random turns at each target, as in the paper
  kPerlin,       ///< smooth in time (Perlin 1985), of two octaves about each axis: the paper's other option
};
io::Words<Noise> NoiseWords();

/// What Liu et al. 2010, section 3.3, leave to be chosen. The defaults are the same for all furniture and poses.
struct Options {
  double duration = 60;  ///< of the motion [s]
  uint64_t seed = 1;
  double gain = 0.7;  ///< factor on the servos' kp; that on kd is its square root

  double settling_time = 8;     ///< for which each key pose is simulated until it is relaxed [s]
  double rest_rate = 0.05;      ///< rms joint rate below which it is at rest [rad/s]
  double settling_limit = 0.2;  ///< farthest that the root may be from its key pose then [m]

  int paths = 3;             ///< for each ordered pair of keys
  int attempts = 4;          ///< trees for each path
  int nodes = 120;           ///< extensions of a tree
  double tube = 1;           ///< half width about the path from key to key, as a factor on the joints' windows
  double goal_bias = 0.15;   ///< share of extensions straight to the goal
  double pace = 1.2;         ///< time per angle of the joint that turns most [s/rad]
  double shortest = 0.2;     ///< extension [s]
  double longest = 0.8;      ///< extension [s]
  double reach = 0.1;        ///< rms distance of bodies about the root within which a key is reached [m]
  double reach_rate = 0.5;   ///< rms joint rate below which it is reached [rad/s]
  double distinct = 0.05;    ///< smallest rms angle between the targets of two paths of a pair [rad]
  int smoothing_passes = 2;  ///< over the targets of each path

  int candidates = 6;          ///< continuations that are tried from the actual state
  double drift = 0.06;         ///< farthest that the root may be from its key where a path reaches it [m]
  double near = 0.03;          ///< a continuation that ends with its root so near to its key is played at once [m]
  double root_limit = 0.08;    ///< farthest from its key, or between two from the line between them, at any step [m]
  double pose_limit = 0.25;    ///< rms distance of bodies from the key's at the end of a continuation [m]
  double seat_time = 0.2;      ///< longest without a contact of pelvis and thighs with the seat [s]
  double shortest_hold = 0.5;  ///< of a key [s]
  double longest_hold = 2;     ///< of a key [s]
  double noise = 0.02;         ///< standard deviation of the targets about each axis [rad]
  Noise noise_kind = Noise::kIndependent;
  double noise_frequency = 0.5;  ///< of the lower octave of Perlin noise [1/s]

  /// What is wrong with the options, as a sentence, or nothing.
  std::optional<std::string> Validate() const;
};

void Describe(Options& o, io::FieldVisitor& v);

}  // namespace retrace::idling
