/// A simulated motion with the character that performed it, as a value.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "retrace/character/character.h"
#include "retrace/control/control.h"

namespace retrace::control {

/// What a simulation did, step by step. It owns all that it gives access to, and never changes: copies share their
/// content, so that they cost nothing and can be kept, returned and given to other threads.
class Motion {
 public:
  /// The motion of one character from the beginning of its trajectory (control::Replay, control::TrajectoryOf).
  Motion(character::Character character, Trajectory trajectory);

  const character::Character& character() const { return content_->character; }
  double time_step() const { return trajectory().time_step; }  ///< [s]
  size_t num_steps() const { return trajectory().num_steps(); }
  double duration() const { return static_cast<double>(num_steps()) * time_step(); }  ///< [s]
  /// Whether the simulation became unstable; the last state is then the last sane one.
  bool diverged() const { return trajectory().diverged; }

  /// (steps + 1) States of the bodies, those of the character first and then those of the world that move freely;
  /// state i is at i * time_step().
  std::span<const character::State> states() const { return trajectory().states; }
  /// (steps) Contacts of the step from state i to state i + 1.
  std::span<const std::vector<simulation::Contact>> contacts() const { return trajectory().contacts; }
  /// (steps x joints) Torques of the same step, of servo and command together, on the child body of each joint, in the
  /// axes of its parent body [N m]; a hinge uses its axis.
  std::span<const std::vector<Vec3>> torques() const { return trajectory().torques; }
  /// Names of what simulation::Contact::object counts.
  std::span<const std::string> objects() const { return trajectory().objects; }

  /// Index of a body or of a joint by its name. Throw UsageError listing the names.
  size_t BodyIndex(const std::string& name) const;
  size_t JointIndex(const std::string& name) const;
  /// Sum of the forces of ground and objects on the character in a step, in world axes [N].
  Vec3 ExternalForce(size_t step) const;
  /// Center of mass of the character in a state [m].
  Vec3 CenterOfMass(size_t state) const;

  const Trajectory& trajectory() const { return content_->trajectory; }

 private:
  struct Content {
    character::Character character;
    Trajectory trajectory;
  };
  std::shared_ptr<const Content> content_;
};

}  // namespace retrace::control
