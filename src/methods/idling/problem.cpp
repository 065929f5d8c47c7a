#include "retrace/methods/idling/problem.h"

#include <cmath>

#include "retrace/character/builder.h"

namespace retrace::idling {

character::Character WithGain(const character::Character& character, double gain) {
  if (gain == 1) return character;
  character::CharacterBuilder builder(character);
  for (const character::Joint& joint : character.joints) {
    builder.SetServo(joint.name, gain * joint.kp, std::sqrt(gain) * joint.kd);
  }
  return builder.Build(character.name);
}

}  // namespace retrace::idling
