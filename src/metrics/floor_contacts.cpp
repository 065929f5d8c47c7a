#include "retrace/metrics/floor_contacts.h"

#include "retrace/character/kinematics.h"
#include "retrace/motion/segmentation.h"

namespace retrace::metrics {

using character::ReferenceMotion;
using character::State;

std::vector<bool> TouchesFloor(const ReferenceMotion& reference, const std::vector<State>& states, int body) {
  return Touches(reference, states, body, character::LowestPoint);
}

std::vector<bool> Touches(const ReferenceMotion& reference, const std::vector<State>& states, int body,
                          const BodyHeight& height_of) {
  const Eigen::Index n = static_cast<Eigen::Index>(states.size());
  Eigen::VectorXd height(n);
  Eigen::VectorXd speed(n);
  const size_t b = static_cast<size_t>(body);
  for (Eigen::Index f = 0; f < n; ++f) {
    const size_t i = static_cast<size_t>(f);
    const size_t before = f > 0 ? i - 1 : i;
    const size_t after = f + 1 < n ? i + 1 : i;
    height[f] = height_of(reference.character().bodies[b], states[i][b]);
    speed[f] = (states[after][b].position - states[before][b].position).norm() /
               (static_cast<double>(after - before) * reference.frame_time());
  }
  return motion::DetectContact(height, speed, reference.frame_time());
}

}  // namespace retrace::metrics
