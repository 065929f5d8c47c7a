#include "retrace/control/motion.h"

#include "retrace/io/describe.h"
#include "retrace/io/error.h"

namespace retrace::control {
namespace {

/// The index that was found under a name; else what there is to choose from is listed.
template <typename Named>
size_t Checked(int found, const std::string& kind, const std::string& name, const std::vector<Named>& all) {
  if (found >= 0) return static_cast<size_t>(found);
  std::vector<std::string> names;
  for (const Named& one : all) names.push_back(one.name);
  throw UsageError("found the " + kind + " \"" + name + "\", expected one of " + io::List(names));
}

}  // namespace

Motion::Motion(character::Character character, Trajectory trajectory)
    : content_(std::make_shared<const Content>(Content{std::move(character), std::move(trajectory)})) {}

size_t Motion::BodyIndex(const std::string& name) const {
  return Checked(character().FindBody(name), "body", name, character().bodies);
}

size_t Motion::JointIndex(const std::string& name) const {
  return Checked(character().FindJoint(name), "joint", name, character().joints);
}

Vec3 Motion::ExternalForce(size_t step) const {
  const int num_bodies = static_cast<int>(character().bodies.size());
  Vec3 force = Vec3::Zero();
  for (const simulation::Contact& contact : contacts()[step]) {
    const bool of_character = contact.body >= 0 && contact.body < num_bodies;
    if (of_character && contact.other < 0) force += contact.force;
  }
  return force;
}

Vec3 Motion::CenterOfMass(size_t state) const {
  const std::vector<character::Body>& bodies = character().bodies;
  Vec3 sum = Vec3::Zero();
  for (size_t b = 0; b < bodies.size(); ++b) sum += bodies[b].mass * states()[state][b].position;
  return sum / character().total_mass();
}

}  // namespace retrace::control
