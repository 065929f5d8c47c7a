#include "retrace/methods/idling/support.h"

#include <algorithm>
#include <cmath>

#include "retrace/character/kinematics.h"
#include "retrace/math/rotation.h"

namespace retrace::idling {
namespace {

using character::Character;
using character::State;

/// The root, and its children that a foot hangs from.
std::vector<char> SeatedBodies(const Character& character) {
  std::vector<char> seated(character.bodies.size(), 0);
  seated[static_cast<size_t>(character.root)] = 1;
  for (size_t b = 0; b < character.bodies.size(); ++b) {
    if (character.bodies[b].part != character::Part::kFoot) continue;
    int body = static_cast<int>(b);
    while (body != character.root) {
      const int parent = character.joints[static_cast<size_t>(character.JointOf(body))].parent;
      if (parent == character.root) seated[static_cast<size_t>(body)] = 1;
      body = parent;
    }
  }
  return seated;
}

}  // namespace

Support::Support(const Character& character, const simulation::Layout& layout,
                 const simulation::Environment& environment, std::span<const simulation::Contact> contacts)
    : character_(&character), seated_(SeatedBodies(character)) {
  std::vector<double> carried(environment.num_objects(), 0);
  for (const simulation::Contact& contact : contacts) {
    if (contact.object < 0 || seated_[static_cast<size_t>(contact.body)] == 0) continue;
    carried[static_cast<size_t>(contact.object)] += contact.force.y();
  }
  const auto most = std::max_element(carried.begin(), carried.end());
  if (most == carried.end() || !(*most > 0)) return;
  object_ = static_cast<int>(most - carried.begin());
  const int first_free = environment.ObjectOfFreeBody(0);
  if (object_ >= first_free) body_ = layout.FreeBody(static_cast<size_t>(object_ - first_free));
}

Quat Support::Axes(const State& state) const {
  return body_ < 0 ? Quat(Quat::Identity()) : state[static_cast<size_t>(body_)].orientation;
}

Vec3 Support::RootPlace(const State& state) const {
  const Vec3& root = state[static_cast<size_t>(character_->root)].position;
  if (body_ < 0) return root;
  const character::BodyState& body = state[static_cast<size_t>(body_)];
  return body.orientation.conjugate() * Vec3(root - body.position);
}

double Support::PoseDistance(const State& a, const State& b) const {
  const auto root = static_cast<size_t>(character_->root);
  const Quat turn = Axes(a) * Axes(b).conjugate();
  double sum = 0;
  for (size_t k = 0; k < character_->bodies.size(); ++k) {
    sum += (a[k].position - a[root].position - turn * Vec3(b[k].position - b[root].position)).squaredNorm();
  }
  return std::sqrt(sum / static_cast<double>(character_->bodies.size()));
}

double Support::Turn(const State& a, const State& b) const {
  return body_ < 0 ? 0 : AngleBetween(Axes(a), Axes(b));
}

bool Support::Carries(std::span<const simulation::Contact> contacts) const {
  return std::any_of(contacts.begin(), contacts.end(), [&](const simulation::Contact& contact) {
    return contact.object == object_ && contact.other < 0 && seated_[static_cast<size_t>(contact.body)] != 0 &&
           contact.push > -1e-3;
  });
}

double JointRate(const Character& character, const State& state) {
  double sum = 0;
  for (const character::Joint& joint : character.joints) sum += character::RelativeRate(joint, state).squaredNorm();
  return std::sqrt(sum / std::max<double>(1, static_cast<double>(character.joints.size())));
}

}  // namespace retrace::idling
