#include "retrace/methods/idling/options.h"

namespace retrace::idling {

io::Words<Noise> NoiseWords() {
  return {{{Noise::kIndependent, "independent"}, {Noise::kPerlin, "perlin"}}};
}

void Describe(Options& o, io::FieldVisitor& v) {
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
  v.Field({"noise_kind",
           "How that noise runs in time: independent (new turns at each target) or perlin (smooth, of two octaves)"},
          o.noise_kind, NoiseWords());
  v.Field({"noise_frequency", "Frequency of the lower octave of Perlin noise", "1/s"}, o.noise_frequency,
          io::Real{{0.01, 10}});
}

std::optional<std::string> Options::Validate() const {
  if (auto problem = io::FindProblem(*this)) return problem;
  if (longest < shortest) return "the longest extension is shorter than the shortest";
  if (longest_hold < shortest_hold) return "the longest hold is shorter than the shortest";
  return std::nullopt;
}

}  // namespace retrace::idling
