/// Colors of the character and its world in pictures, the same in every kind of picture.
#pragma once

#include "retrace/character/character.h"

namespace retrace::palette {

/// sRGB, 0 to 255 each.
struct Color {
  double r, g, b;
  bool operator==(const Color&) const = default;
};

// Blue, yellow and red of Paul Tol's "high contrast" scheme, the blue lightened so that shading has room below it:
// apart in every common form of color blindness, and in gray.
inline constexpr Color kLeft{49, 110, 178};
inline constexpr Color kRight{226, 174, 62};
inline constexpr Color kMiddle{148, 155, 165};
inline constexpr Color kPaper{246, 245, 241};
inline constexpr Color kStone{205, 199, 184};  // what nothing moves
inline constexpr Color kWood{176, 141, 104};   // free bodies

/// The color of a body, by the side in its name.
inline Color ColorOf(const character::Body& body) {
  if (body.name.starts_with("left_")) return kLeft;
  if (body.name.starts_with("right_")) return kRight;
  return kMiddle;
}

}  // namespace retrace::palette
