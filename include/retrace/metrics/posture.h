/// Whether a character stands or lies, by how high its root is.
#pragma once

#include "retrace/character/character.h"
#include "retrace/character/state.h"

namespace retrace::metrics {

/// Shares of the height of the root in the rest pose, over the floor y = 0: a character whose root is lower than the
/// first lies or sits on the ground, one whose root is higher than the second stands. In between it does neither.
inline constexpr double kLyingRoot = 0.5;
inline constexpr double kStandingRoot = 0.8;

/// Height of a root as a share of its height in the rest pose. @param height of the root over the floor [m]
double RootShare(const character::Character& character, double height);
double RootShare(const character::Character& character, const character::Pose& pose);
/// @param state of the character; in a world of several characters, that of its own bodies
double RootShare(const character::Character& character, const character::State& state);

bool Lies(const character::Character& character, double height);
bool Lies(const character::Character& character, const character::Pose& pose);
bool Lies(const character::Character& character, const character::State& state);

bool Stands(const character::Character& character, double height);
bool Stands(const character::Character& character, const character::Pose& pose);
bool Stands(const character::Character& character, const character::State& state);

}  // namespace retrace::metrics
