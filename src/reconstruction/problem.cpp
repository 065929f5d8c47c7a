#include "retrace/reconstruction/problem.h"

#include <algorithm>

#include "retrace/character/kinematics.h"

namespace retrace::reconstruction {

character::State StartState(const character::ReferenceMotion& reference, double& raised) {
  const character::Character& character = reference.character();
  character::State state;
  reference.StateAt(0, state);
  double lowest = 0;
  for (size_t b = 0; b < state.size(); ++b) {
    const character::Part part = character.bodies[b].part;
    if (part == character::Part::kHand || part == character::Part::kLowerArm) continue;
    lowest = std::min(lowest, character::LowestPoint(character.bodies[b], state[b]));
  }
  raised = -lowest;
  character::Translate(state, Vec3(0, raised, 0));
  return state;
}

}  // namespace retrace::reconstruction
