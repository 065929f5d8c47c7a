#include "retrace/metrics/trajectory_states.h"

#include <algorithm>
#include <cmath>

#include "retrace/math/rotation.h"

namespace retrace::metrics {

StatePlace PlaceOf(const control::Trajectory& trajectory, double time) {
  constexpr double kOnStep = 1e-6;  // share of a step by which a time may miss it: rounding
  const auto last = static_cast<double>(trajectory.num_steps());
  if (last == 0) return {};
  const double place = std::clamp(time / trajectory.time_step, 0.0, last);
  const double nearest = std::round(place);
  if (std::abs(place - nearest) < kOnStep) return {static_cast<size_t>(nearest), 0};
  return {static_cast<size_t>(place), place - std::floor(place)};
}

void StateAt(const control::Trajectory& trajectory, double time, character::State& state) {
  const StatePlace place = PlaceOf(trajectory, time);
  state = trajectory.states[place.before];
  if (place.share == 0) return;
  const double t = place.share;
  const character::State& after = trajectory.states[place.before + 1];
  for (size_t b = 0; b < state.size(); ++b) {
    state[b].position += t * (after[b].position - state[b].position);
    state[b].orientation = Nlerp(state[b].orientation, after[b].orientation, t);
    state[b].linear_velocity += t * (after[b].linear_velocity - state[b].linear_velocity);
    state[b].angular_velocity += t * (after[b].angular_velocity - state[b].angular_velocity);
  }
}

}  // namespace retrace::metrics
