#include "retrace/methods/idling/judge.h"

#include <algorithm>

#include "retrace/control/time_grid.h"

namespace retrace::idling {

Judge::Judge(const Problem& problem, const Support& support, const std::vector<RelaxedKey>& keys)
    : problem_(problem),
      support_(support),
      allowed_steps_(control::TimeGrid{problem.world.time_step}.Nearest(problem.options.seat_time)) {
  for (const RelaxedKey& key : keys) places_.push_back(support.RootPlace(key.settled));
}

double Judge::RootOffset(const character::State& state, Leg leg) const {
  const Vec3& from = places_[leg.from];
  const Vec3 way = places_[leg.to] - from;
  const Vec3 place = support_.RootPlace(state) - from;
  const double length = way.squaredNorm();
  const double share = length > 0 ? std::clamp(place.dot(way) / length, 0.0, 1.0) : 0.0;
  return (place - share * way).norm();
}

bool Judge::IsValid(const character::State& state, std::span<const simulation::Contact> contacts, Leg leg) {
  steps_without_seat_ = support_.Carries(contacts) ? 0 : steps_without_seat_ + 1;
  return steps_without_seat_ <= allowed_steps_ && RootOffset(state, leg) <= problem_.options.root_limit;
}

}  // namespace retrace::idling
