#include "retrace/metrics/foot_slide.h"

#include <algorithm>
#include <cmath>

#include "ball_of_foot.h"
#include "retrace/character/kinematics.h"

namespace retrace::metrics {

double FootSlide(const character::Character& character, std::span<const character::State> states, double time_step) {
  double sum = 0, count = 0;
  for (size_t b = 0; b < character.bodies.size(); ++b) {
    const character::Body& body = character.bodies[b];
    if (body.part != character::Part::kFoot || body.shapes.empty()) continue;
    const Vec3 ball = BallOfFoot(body);
    for (size_t s = 0; s + 1 < states.size(); ++s) {
      const Vec3 from = states[s][b].position + states[s][b].orientation * ball;
      const Vec3 to = states[s + 1][b].position + states[s + 1][b].orientation * ball;
      if (from.y() >= kSlideHeight || to.y() >= kSlideHeight) continue;
      sum += std::hypot(to.x() - from.x(), to.z() - from.z()) / time_step;
      ++count;
    }
  }
  return count > 0 ? sum / count : 0;
}

double DeepestPoint(const character::Character& character, std::span<const character::State> states) {
  double deepest = 0;
  for (const character::State& state : states) {
    for (size_t b = 0; b < character.bodies.size(); ++b) {
      deepest = std::max(deepest, -character::LowestPoint(character.bodies[b], state[b]));
    }
  }
  return deepest;
}

}  // namespace retrace::metrics
