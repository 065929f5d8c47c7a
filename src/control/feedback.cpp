#include "retrace/control/feedback.h"

#include "retrace/io/file.h"

namespace retrace::control {

std::span<const float> Feedback::GainOf(int node) const {
  const auto size = static_cast<size_t>(num_differences() * num_torques());
  return std::span(gains).subspan(static_cast<size_t>(node) * size, size);
}

std::string CharacterSha256(const character::Character& character) {
  return io::Sha256(io::Dump(character.json));
}

}  // namespace retrace::control
