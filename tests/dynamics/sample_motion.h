/// Characters of the package, and motions of them.
#pragma once

#include <string>

#include "character/sample_human.h"
#include "retrace/dynamics/coordinates.h"

namespace retrace::dynamics {

inline const character::Character& Bundled(const std::string& name) {
  static std::map<std::string, character::Character> loaded;
  const auto [place, fresh] = loaded.try_emplace(name);
  if (fresh && (name == "oblique" || name == "rotors")) {
    place->second = character::Oblique(name == "rotors" ? 0.02 : 0);
  } else if (fresh) {
    place->second = character::LoadCharacter(std::string(RETRACE_SOURCE_DIR) + "/data/characters/" + name + ".json");
  }
  return place->second;
}

/// With ball joints and hinges, and of the robot with inertia that is turned in its bodies.
inline constexpr const char* kCharacters[] = {"human", "quadruped", "asimo", "oblique"};

inline Eigen::VectorXd AnyVector(RandomStream& random, Eigen::Index size, double most) {
  Eigen::VectorXd vector(size);
  for (Eigen::Index i = 0; i < size; ++i) vector[i] = random.Uniform(-most, most);
  return vector;
}

struct Motion {
  character::Pose pose;
  Eigen::VectorXd velocity;
  character::State state;
};

/// A character in an arbitrary pose and motion.
inline Motion AnyMotion(const Coordinates& coordinates, RandomStream& random, double fastest = 3) {
  Motion motion;
  motion.pose = character::RandomPose(coordinates.character(), random);
  motion.velocity = AnyVector(random, coordinates.size(), fastest);
  coordinates.StateOf(motion.pose, motion.velocity, motion.state);
  return motion;
}

/// The state that a motion leads to in a time, with a constant acceleration of its coordinates.
inline character::State StateAfter(const Coordinates& coordinates, const Motion& motion,
                                   const Eigen::VectorXd& acceleration, double time) {
  character::Pose pose = motion.pose;
  coordinates.Advance(time * motion.velocity + 0.5 * time * time * acceleration, pose);
  character::State state;
  coordinates.StateOf(pose, motion.velocity + time * acceleration, state);
  return state;
}

/// Where a point fixed to a body is, and how fast.
inline Vec3 PlaceOf(const character::BodyState& body, const Vec3& local) {
  return body.position + body.orientation * local;
}
inline Vec3 VelocityOf(const character::BodyState& body, const Vec3& local) {
  return body.linear_velocity + body.angular_velocity.cross(body.orientation * local);
}

}  // namespace retrace::dynamics
