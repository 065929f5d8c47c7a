#include "retrace/runs/touching.h"

#include <algorithm>
#include <cmath>

#include "retrace/runs/pushes.h"

namespace retrace::runs {
namespace {

Vec3 VelocityAt(const character::BodyState& body, const Vec3& point) {
  return body.linear_velocity + body.angular_velocity.cross(point - body.position);
}

}  // namespace

std::optional<Touching> FirstBlow(const control::Trajectory& whole, const simulation::Layout& layout, size_t character,
                                  double from) {
  std::optional<Touching> blow;
  const double h = whole.time_step;
  for (size_t step = 0; step < whole.contacts.size(); ++step) {
    const double time = whole.TimeOf(step);
    if (time < from - 1e-9) continue;
    if (blow && time - blow->end >= kTouchesApart) break;
    Vec3 force = Vec3::Zero();
    bool touches = false;
    for (const simulation::Contact& contact : whole.contacts[step]) {
      if (contact.other < 0) continue;
      const bool first = layout.CharacterOf(contact.body) == character;
      if (first == (layout.CharacterOf(contact.other) == character)) continue;  // of one character, or of two others
      touches = true;
      force += first ? contact.force : Vec3(-contact.force);
      if (blow) continue;
      blow.emplace();
      blow->start = time;
      blow->body = first ? contact.body : contact.other;
      blow->other = first ? contact.other : contact.body;
      blow->point = contact.point;
      const character::State& before = whole.states[step];
      const Vec3 rate = VelocityAt(before[static_cast<size_t>(contact.other)], contact.point) -
                        VelocityAt(before[static_cast<size_t>(contact.body)], contact.point);
      blow->closing_speed = rate.dot(contact.normal);
    }
    if (!touches) continue;
    blow->end = time + h;
    blow->impulse += h * force;
    blow->largest_force = std::max(blow->largest_force, force.norm());
    blow->at_end = step + 1 == whole.contacts.size();
  }
  return blow;
}

std::string Describe(const control::Scene& scene, const Touching& blow) {
  return BodyName(scene, blow.other) + ", which meets " + BodyName(scene, blow.body);
}

io::Json ToJson(const control::Scene& scene, const Touching& blow) {
  return {{"start", blow.start},
          {"end", blow.end},
          {"body", BodyName(scene, blow.body)},
          {"other", BodyName(scene, blow.other)},
          {"point", io::ToJson(blow.point)},
          {"impulse", io::ToJson(blow.impulse)},
          {"largest_force", blow.largest_force},
          {"closing_speed", blow.closing_speed}};
}

}  // namespace retrace::runs
