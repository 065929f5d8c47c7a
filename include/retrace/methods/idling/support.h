/// What a character idles on, and how its states are compared there.
#pragma once

#include <span>
#include <vector>

#include "retrace/character/character.h"
#include "retrace/character/state.h"
#include "retrace/simulation/world.h"

namespace retrace::idling {

/// The thing that carries the character: its axes are those in which positions and poses are compared, so that a
/// rocking chair does not take them away.
class Support {
 public:
  /// The object that carries most of pelvis and thighs in these contacts, with recorded forces, and the ground where
  /// none does. The character must outlive it.
  Support(const character::Character& character, const simulation::Layout& layout,
          const simulation::Environment& environment, std::span<const simulation::Contact> contacts);

  int object() const { return object_; }  ///< of the environment; -1: the ground
  /// Position of the root in the axes of the support [m].
  Vec3 RootPlace(const character::State& state) const;
  /// Rms distance of the bodies of two states from one another, about the root, in the axes of the support [m].
  double PoseDistance(const character::State& a, const character::State& b) const;
  /// By which it has turned from one state to another [rad]; 0 where it does not move.
  double Turn(const character::State& a, const character::State& b) const;
  /// Whether pelvis or thighs touch it.
  bool Carries(std::span<const simulation::Contact> contacts) const;

 private:
  Quat Axes(const character::State& state) const;

  const character::Character* character_;
  std::vector<char> seated_;  // (bodies) root, and what legs hang from it
  int object_ = -1;
  int body_ = -1;  // of the world, where the object moves freely
};

/// Rms of the joint rates of a character [rad/s].
double JointRate(const character::Character& character, const character::State& state);

}  // namespace retrace::idling
