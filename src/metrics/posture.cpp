#include "retrace/metrics/posture.h"

namespace retrace::metrics {
namespace {

using character::Character;
using character::Pose;
using character::State;

double RestHeight(const Character& character) {
  return character.bodies[static_cast<size_t>(character.root)].rest_position.y();
}

double RootHeight(const Character& character, const State& state) {
  return state[static_cast<size_t>(character.root)].position.y();
}

}  // namespace

double RootShare(const Character& character, double height) {
  return height / RestHeight(character);
}
double RootShare(const Character& character, const Pose& pose) {
  return RootShare(character, pose.root_position.y());
}
double RootShare(const Character& character, const State& state) {
  return RootShare(character, RootHeight(character, state));
}

bool Lies(const Character& character, double height) {
  return height < kLyingRoot * RestHeight(character);
}
bool Lies(const Character& character, const Pose& pose) {
  return Lies(character, pose.root_position.y());
}
bool Lies(const Character& character, const State& state) {
  return Lies(character, RootHeight(character, state));
}

bool Stands(const Character& character, double height) {
  return height > kStandingRoot * RestHeight(character);
}
bool Stands(const Character& character, const Pose& pose) {
  return Stands(character, pose.root_position.y());
}
bool Stands(const Character& character, const State& state) {
  return Stands(character, RootHeight(character, state));
}

}  // namespace retrace::metrics
