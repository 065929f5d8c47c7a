#include "retrace/simulation/layout.h"

namespace retrace::simulation {

Layout::Layout(std::span<const character::Character* const> characters, const Environment& environment) {
  for (const character::Character* character : characters) {
    parts_.push_back({num_character_bodies_, character->bodies.size(), num_joints_, character->joints.size()});
    num_character_bodies_ += character->bodies.size();
    num_joints_ += character->joints.size();
  }
  num_bodies_ = num_character_bodies_ + environment.bodies.size();
}

Layout::Layout(const character::Character& character, const Environment& environment)
    : Layout(std::vector<const character::Character*>{&character}, environment) {}

size_t Layout::CharacterOf(int body) const {
  size_t c = parts_.size() - 1;
  while (parts_[c].first_body > static_cast<size_t>(body)) --c;
  return c;
}

character::State Layout::StateOf(const character::State& state, size_t character) const {
  const auto part = BodiesOf(std::span(state), character);
  return {part.begin(), part.end()};
}

character::State Layout::FreeStateOf(const character::State& state) const {
  return {state.begin() + static_cast<std::ptrdiff_t>(num_character_bodies_), state.end()};
}

}  // namespace retrace::simulation
