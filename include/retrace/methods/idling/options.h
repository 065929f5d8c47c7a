/// The options of idling.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "retrace/io/describe.h"

namespace retrace::idling {

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

  /// What is wrong with the options, as a sentence, or nothing.
  std::optional<std::string> Validate() const;
};

template <io::DescribedAs<Options> AnyOptions, typename Visitor>
void Describe(AnyOptions& o, Visitor& v) {
  v.Field({"duration", "Length of the motion", "s"}, o.duration, io::Real{{0.5, 4000}});
  v.Field({"seed", "Seed of the random numbers"}, o.seed, io::Natural{});
  v.Field({"gain", "Factor on the stiffness of the servos; that on their damping is its square root"}, o.gain,
          io::Real{{0.01, 10}});
  v.Field({"settling_time", "How long each key pose is simulated until it is relaxed", "s"}, o.settling_time,
          io::Real{{0.1, 100}});
  v.Field({"rest_rate", "Rms joint rate below which a relaxed pose is at rest", "rad/s"}, o.rest_rate,
          io::Real{{0, 100}});
  v.Field({"settling_limit", "Farthest that the root may settle from its key pose", "m"}, o.settling_limit,
          io::Real{{0.001, 10}});
  v.Field({"paths", "Paths for each ordered pair of keys"}, o.paths, io::Integer{1, 100});
  v.Field({"attempts", "Trees that are grown for each path"}, o.attempts, io::Integer{1, 100});
  v.Field({"nodes", "Extensions of a tree"}, o.nodes, io::Integer{1, 10000});
  v.Field({"tube", "Half width of the tube about the way from key to key, as a factor on the joints' windows"}, o.tube,
          io::Real{{0, 10}});
  v.Field({"goal_bias", "Share of extensions straight to the goal"}, o.goal_bias, io::Real{{0, 1}});
  v.Field({"pace", "Time per angle of the joint that turns most", "s/rad"}, o.pace, io::Real{{0.01, 100}});
  v.Field({"shortest", "Shortest extension", "s"}, o.shortest, io::Real{{0.01, 10}});
  v.Field({"longest", "Longest extension", "s"}, o.longest, io::Real{{0.01, 10}});
  v.Field({"reach", "Rms distance of bodies about the root within which a key is reached", "m"}, o.reach,
          io::Real{{0.001, 10}});
  v.Field({"reach_rate", "Rms joint rate below which a key is reached", "rad/s"}, o.reach_rate, io::Real{{0.001, 100}});
  v.Field({"distinct", "Smallest rms angle between the targets of two paths of a pair", "rad"}, o.distinct,
          io::Real{{0, 3}});
  v.Field({"smoothing_passes", "Passes of smoothing over the targets of each path"}, o.smoothing_passes,
          io::Integer{0, 100});
  v.Field({"candidates", "Continuations that are tried from the actual state"}, o.candidates, io::Integer{1, 1000});
  v.Field({"drift", "Farthest that the root may be from its key where a path reaches it", "m"}, o.drift,
          io::Real{{0.001, 10}});
  v.Field({"near", "A continuation that ends with its root so near to its key is played at once", "m"}, o.near,
          io::Real{{0, 10}});
  v.Field({"root_limit", "Farthest that the root may be from its key, or from the line between two, at any step", "m"},
          o.root_limit, io::Real{{0.001, 10}});
  v.Field({"pose_limit", "Rms distance of bodies from the key's at the end of a continuation", "m"}, o.pose_limit,
          io::Real{{0.001, 10}});
  v.Field({"seat_time", "Longest time without a contact of pelvis and thighs with the seat", "s"}, o.seat_time,
          io::Real{{0, 100}});
  v.Field({"shortest_hold", "Shortest time that a key is held", "s"}, o.shortest_hold, io::Real{{0.01, 1000}});
  v.Field({"longest_hold", "Longest time that a key is held", "s"}, o.longest_hold, io::Real{{0.01, 1000}});
  v.Field({"noise", "Standard deviation of random turns of the targets about each axis", "rad"}, o.noise,
          io::Real{{0, 1}});
}

}  // namespace retrace::idling
