#include "retrace/planning/response/contact_episodes.h"

#include <algorithm>
#include <cmath>

#include "retrace/control/pushes.h"

namespace retrace::runs {
namespace {

Vec3 VelocityAt(const character::BodyState& body, const Vec3& point) {
  return body.linear_velocity + body.angular_velocity.cross(point - body.position);
}

/// What a contact is to the receiver.
struct Hit {
  int body = -1, other = -1, object = -1;
  Vec3 force = Vec3::Zero();  ///< on it [N]
};

/// The first impact from `from` on, until what strikes has parted from the character.
/// @param hit_of what a contact is; nothing where it is none of the impact
template <typename HitOf>
std::optional<ContactEpisode> Follow(const control::Trajectory& whole, double from, const HitOf& hit_of) {
  std::optional<ContactEpisode> blow;
  const double h = whole.time_step;
  for (size_t step = 0; step < whole.contacts.size(); ++step) {
    const double time = whole.TimeOf(step);
    if (time < from - 1e-9) continue;
    if (blow && time - blow->end >= kTouchesApart) break;
    Vec3 force = Vec3::Zero();
    bool touches = false;
    for (const simulation::Contact& contact : whole.contacts[step]) {
      const std::optional<Hit> hit = hit_of(contact);
      if (!hit) continue;
      touches = true;
      force += hit->force;
      if (blow) continue;
      blow.emplace();
      blow->start = time;
      blow->body = hit->body;
      blow->other = hit->other;
      blow->object = hit->object;
      blow->point = contact.point;
      if (contact.other < 0) continue;
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

}  // namespace

std::optional<ContactEpisode> FirstImpact(const control::Trajectory& whole, const simulation::Layout& layout,
                                          size_t character, double from) {
  return Follow(whole, from, [&](const simulation::Contact& contact) -> std::optional<Hit> {
    if (contact.other < 0) return std::nullopt;
    const bool first = layout.CharacterOf(contact.body) == character;
    // Of one character, or of two others.
    if (first == (layout.CharacterOf(contact.other) == character)) return std::nullopt;
    if (first) return Hit{contact.body, contact.other, -1, contact.force};
    return Hit{contact.other, contact.body, -1, -contact.force};
  });
}

std::optional<ContactEpisode> FirstImpactOfObject(const control::Trajectory& motion, int first_object) {
  return Follow(motion, 0, [&](const simulation::Contact& contact) -> std::optional<Hit> {
    if (contact.other >= 0 || contact.object < first_object) return std::nullopt;
    return Hit{contact.body, -1, contact.object, contact.force};
  });
}

std::string Describe(const control::Scene& scene, const ContactEpisode& blow) {
  return control::BodyName(scene, blow.other) + ", which meets " + control::BodyName(scene, blow.body);
}

io::Json ToJson(const control::Scene& scene, const ContactEpisode& blow) {
  return {{"start", blow.start},
          {"end", blow.end},
          {"body", control::BodyName(scene, blow.body)},
          {"other", control::BodyName(scene, blow.other)},
          {"point", io::ToJson(blow.point)},
          {"impulse", io::ToJson(blow.impulse)},
          {"largest_force", blow.largest_force},
          {"closing_speed", blow.closing_speed}};
}

}  // namespace retrace::runs
