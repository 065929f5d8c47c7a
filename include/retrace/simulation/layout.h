/// Which body of a world is which: the one place that defines the order of bodies and joints in states, commands,
/// forces and contacts. Bodies are counted through all characters, in the order of the characters, and then through the
/// bodies that move freely; joints through all characters.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "retrace/character/character.h"
#include "retrace/character/state.h"
#include "retrace/simulation/environment.h"

namespace retrace::simulation {

class Layout {
 public:
  Layout() = default;
  Layout(std::span<const character::Character* const> characters, const Environment& environment);
  /// Layout of a world with a single character.
  Layout(const character::Character& character, const Environment& environment);

  size_t num_characters() const { return parts_.size(); }
  size_t num_free_bodies() const { return num_bodies_ - num_character_bodies_; }
  size_t num_character_bodies() const { return num_character_bodies_; }  ///< of all characters
  size_t num_bodies() const { return num_bodies_; }                      ///< with the free ones
  size_t num_joints() const { return num_joints_; }                      ///< of all characters

  /// A body of the world, from a body of a character or from a free body of the environment.
  int BodyOf(size_t character, int body) const { return static_cast<int>(parts_[character].first_body) + body; }
  int FreeBody(size_t index) const { return static_cast<int>(num_character_bodies_ + index); }
  int JointOf(size_t character, int joint) const { return static_cast<int>(parts_[character].first_joint) + joint; }

  bool IsFree(int body) const { return static_cast<size_t>(body) >= num_character_bodies_; }
  /// Index of a free body in the environment.
  size_t FreeIndexOf(int body) const { return static_cast<size_t>(body) - num_character_bodies_; }
  /// Character of a body of the world that is not free.
  size_t CharacterOf(int body) const;
  /// Index of such a body in its character.
  int LocalBody(int body) const { return body - static_cast<int>(parts_[CharacterOf(body)].first_body); }

  /// Part of an array over bodies, or over joints, that belongs to a character.
  template <typename T>
  std::span<T> BodiesOf(std::span<T> all, size_t character) const {
    return all.subspan(parts_[character].first_body, parts_[character].num_bodies);
  }
  template <typename T>
  std::span<T> JointsOf(std::span<T> all, size_t character) const {
    return all.subspan(parts_[character].first_joint, parts_[character].num_joints);
  }
  /// State of a character alone, and of the free bodies alone.
  character::State StateOf(const character::State& state, size_t character) const;
  character::State FreeStateOf(const character::State& state) const;

 private:
  struct Part {
    size_t first_body = 0;
    size_t num_bodies = 0;
    size_t first_joint = 0;
    size_t num_joints = 0;
  };
  std::vector<Part> parts_;  // (characters)
  size_t num_character_bodies_ = 0;
  size_t num_bodies_ = 0;
  size_t num_joints_ = 0;
};

}  // namespace retrace::simulation
