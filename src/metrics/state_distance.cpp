#include "retrace/metrics/state_distance.h"

#include "retrace/math/rotation.h"

namespace retrace::metrics {

GroundAlignment AlignOnGround(const character::Character& character, const character::State& a,
                              const character::State& b) {
  const character::BodyState& root_a = a[static_cast<size_t>(character.root)];
  const character::BodyState& root_b = b[static_cast<size_t>(character.root)];
  GroundAlignment alignment;
  alignment.heading = Heading(root_a.orientation * root_b.orientation.conjugate());
  alignment.offset = root_a.position - alignment.heading * root_b.position;
  alignment.offset.y() = 0;
  return alignment;
}

double StateDistance(const character::Character& character, const character::State& a, const character::State& b,
                     double time) {
  const auto [heading, offset] = AlignOnGround(character, a, b);
  double sum = 0;
  for (size_t k = 0; k < character.bodies.size(); ++k) {
    sum += (a[k].position - heading * b[k].position - offset).norm() +
           time * (a[k].linear_velocity - heading * b[k].linear_velocity).norm();
  }
  return sum / static_cast<double>(character.bodies.size());
}

}  // namespace retrace::metrics
