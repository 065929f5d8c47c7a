#include "retrace/planning/response/contact_episodes.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

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
  std::optional<ContactEpisode> impact;
  const double h = whole.time_step;
  for (size_t step = 0; step < whole.contacts.size(); ++step) {
    const double time = whole.TimeOf(step);
    if (time < from - 1e-9) continue;
    if (impact && time - impact->end >= kTouchesApart) break;
    Vec3 force = Vec3::Zero();
    bool touches = false;
    for (const simulation::Contact& contact : whole.contacts[step]) {
      const std::optional<Hit> hit = hit_of(contact);
      if (!hit) continue;
      touches = true;
      force += hit->force;
      if (impact) continue;
      impact.emplace();
      impact->start = time;
      impact->body = hit->body;
      impact->other = hit->other;
      impact->object = hit->object;
      impact->point = contact.point;
      if (contact.other < 0) continue;
      const character::State& before = whole.states[step];
      const Vec3 rate = VelocityAt(before[static_cast<size_t>(contact.other)], contact.point) -
                        VelocityAt(before[static_cast<size_t>(contact.body)], contact.point);
      impact->closing_speed = rate.dot(contact.normal);
    }
    if (!touches) continue;
    impact->end = time + h;
    impact->impulse += h * force;
    impact->largest_force = std::max(impact->largest_force, force.norm());
    impact->at_end = step + 1 == whole.contacts.size();
  }
  return impact;
}

}  // namespace

std::optional<ContactEpisode> FirstImpact(const control::Trajectory& whole, const simulation::Layout& layout,
                                          size_t character, double from) {
  return Follow(whole, from, [&](const simulation::Contact& contact) -> std::optional<Hit> {
    if (contact.other < 0) return std::nullopt;
    const bool first = layout.CharacterOf(contact.body) == character;
    // A contact of one character, or of two others.
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

std::string Describe(const control::Scene& scene, const ContactEpisode& impact) {
  return control::BodyName(scene, impact.other) + ", which meets " + control::BodyName(scene, impact.body);
}

io::Json ToJson(const control::Scene& scene, const ContactEpisode& impact) {
  return {{"start", impact.start},
          {"end", impact.end},
          {"body", control::BodyName(scene, impact.body)},
          {"other", control::BodyName(scene, impact.other)},
          {"point", io::ToJson(impact.point)},
          {"impulse", io::ToJson(impact.impulse)},
          {"largest_force", impact.largest_force},
          {"closing_speed", impact.closing_speed}};
}

}  // namespace retrace::runs
