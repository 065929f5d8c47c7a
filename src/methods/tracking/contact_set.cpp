#include "contact_set.h"

#include <algorithm>
#include <limits>

namespace retrace::tracking {

ContactSet::ContactSet(const character::Character& character, const simulation::WorldOptions& world,
                       const Options& options)
    : world_(character, world),
      ground_(world.environment),
      none_(character.joints.size()),
      lifted_(options.guidance > 0 ? std::numeric_limits<double>::infinity() : options.lifted),
      touching_only_(options.soft_contacts) {
  for (simulation::JointCommand& command : none_) command.gain = 0;
}

double ContactSet::HeightInReference(const simulation::Contact& contact, const character::State& state,
                                     const Goal& goal) const {
  const auto body = static_cast<size_t>(contact.body);
  const Vec3 local = state[body].orientation.conjugate() * Vec3(contact.point - state[body].position);
  const Vec3 place = goal.state[body].position + goal.state[body].orientation * local;
  return ground_.HeightOf(place);
}

double ContactSet::SpeedInReference(const simulation::Contact& contact, const character::State& state,
                                    const Goal& goal) const {
  const auto body = static_cast<size_t>(contact.body);
  const Vec3 local = state[body].orientation.conjugate() * Vec3(contact.point - state[body].position);
  const character::BodyState& recorded = goal.state[body];
  return (recorded.linear_velocity + recorded.angular_velocity.cross(recorded.orientation * local)).norm();
}

std::vector<ContactPlace>& ContactSet::Find(const character::State& state, int step, const Goal& goal) {
  places_.clear();
  world_.SetState(state, step);
  if (!world_.Step(none_)) return places_;
  const std::vector<simulation::Box>& boxes = world_.options().environment.boxes;
  const double time = step * world_.options().time_step;
  for (const simulation::Contact& contact : world_.contacts()) {
    if (contact.other >= 0 || HeightInReference(contact, state, goal) > lifted_) continue;
    if (touching_only_ && contact.push < 0) continue;
    ContactPlace& place = places_.emplace_back();
    place.body = contact.body;
    place.point = contact.point;
    place.normal = contact.normal;
    place.push = contact.push;
    place.compliance = contact.compliance;
    place.speed_in_reference = SpeedInReference(contact, state, goal);
    const auto object = static_cast<size_t>(contact.object);
    if (contact.object < 0 || object >= boxes.size() || !boxes[object].course) continue;
    place.surface_velocity = boxes[object].course->VelocityAt(time);
    place.surface_acceleration = boxes[object].course->AccelerationAt(time);
  }
  return places_;
}

}  // namespace retrace::tracking
