/// A simulated motion as arrays, each in one piece of memory that Python shares.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "retrace/character/character.h"
#include "retrace/control/control.h"
#include "retrace/jobs/estimated_forces.h"
#include "retrace/jobs/reconstruction_job.h"

namespace retrace::python {

/// A body at an instant, as a row of a NumPy array with named fields.
struct BodyRow {
  double position[3];          ///< of the center of mass [m]
  double orientation[4];       ///< w, x, y, z, body to world
  double linear_velocity[3];   ///< [m/s]
  double angular_velocity[3];  ///< in world axes [rad/s]
};

/// A contact that carries force.
struct ContactRow {
  int32_t state;     ///< to which its step led
  int32_t body;      ///< of the character
  int32_t other;     ///< the character's other body, else -1
  int32_t object;    ///< of the world, else -1
  double point[3];   ///< [m]
  double force[3];   ///< on the body [N]
  double normal[3];  ///< towards the body
};

template <typename Value>
using Shared = std::shared_ptr<const std::vector<Value>>;

/// With n states, b bodies, j joints and k contacts. What a step brings about stands at the state that it led to, and
/// is 0 at the first.
struct MotionArrays {
  size_t states = 0, bodies = 0, joints = 0;
  Shared<double> time;          ///< (n) [s]
  Shared<BodyRow> body_states;  ///< (n x b)
  Shared<double> torques;       ///< (n x j x 3) of the servo on the child, in the parent's axes [N m]
  Shared<ContactRow> contacts;  ///< (k)
  Shared<double> forces;        ///< (n x b x 3) of ground and objects on the body [N]
  Shared<double> ground_force;  ///< (n x 3) their sum [N]
};
MotionArrays ArraysOf(const character::Character& character, const control::Trajectory& trajectory);

/// Columns with names.
struct NamedColumns {
  std::vector<std::string> names;
  size_t rows = 0;
  Shared<double> values;  ///< (rows x names)
};

/// What inverse dynamics found of a motion.
struct ForceArrays {
  Shared<double> time;  ///< (poses) [s]
  NamedColumns ground;  ///< results::GroundForceChannels, not low-passed
  NamedColumns joints;  ///< torques and powers
  double mass = 0;      ///< of the person [kg]
  std::vector<std::string> notes, warnings;
  std::string text;  ///< for people
};
ForceArrays ArraysOf(const runs::Job& job, const runs::ForceEstimate& estimate);

}  // namespace retrace::python
