#include "retrace/metrics/ground_forces.h"

#include <algorithm>
#include <utility>

namespace retrace::metrics {

std::vector<ForcePlate> ForcePlates(const character::Character& character, const control::Trajectory& trajectory) {
  const auto is_foot = [&](int body) {
    return character.bodies[static_cast<size_t>(body)].part == character::Part::kFoot;
  };
  std::vector<ForcePlate> plates;
  std::vector<int> plate_of(character.bodies.size(), -1);
  const auto add = [&](int body) {
    plate_of[static_cast<size_t>(body)] = static_cast<int>(plates.size());
    plates.push_back({body, {body}});
  };
  for (int body = 0; body < static_cast<int>(character.bodies.size()); ++body) {
    const int joint = character.JointOf(body);
    const bool carried = joint >= 0 && is_foot(character.joints[static_cast<size_t>(joint)].parent);
    if (is_foot(body) && !carried) add(body);
  }
  for (const character::Joint& joint : character.joints) {  // each after the joint that moves its parent
    const int plate = plate_of[static_cast<size_t>(joint.parent)];
    if (!is_foot(joint.child) || plate < 0 || !is_foot(joint.parent)) continue;
    plate_of[static_cast<size_t>(joint.child)] = plate;
    plates[static_cast<size_t>(plate)].bodies.push_back(joint.child);
  }
  std::vector<char> touched(character.bodies.size(), 0);
  for (const auto& contacts : trajectory.contacts) {
    for (const simulation::Contact& contact : contacts) {
      if (contact.other < 0 && (contact.force.array() != 0).any()) touched[static_cast<size_t>(contact.body)] = 1;
    }
  }
  for (size_t b = 0; b < touched.size(); ++b) {
    if (touched[b] && plate_of[b] < 0) add(static_cast<int>(b));
  }
  return plates;
}

AppliedForce ForceOn(const ForcePlate& plate, const std::vector<simulation::Contact>& contacts) {
  const auto counts = [&](const simulation::Contact& contact) {
    return contact.other < 0 && (contact.force.array() != 0).any() &&
           std::find(plate.bodies.begin(), plate.bodies.end(), contact.body) != plate.bodies.end();
  };
  AppliedForce applied;
  double pressed = 0;
  int points = 0;
  Vec3 mean = Vec3::Zero();
  for (const simulation::Contact& contact : contacts) {
    if (!counts(contact)) continue;
    const double normal_force = std::max(0.0, contact.force.dot(contact.normal));
    applied.force += contact.force;
    applied.point += normal_force * contact.point;
    pressed += normal_force;
    mean += contact.point;
    ++points;
  }
  if (points == 0) return applied;
  applied.point = pressed > 0 ? Vec3(applied.point / pressed) : Vec3(mean / points);
  for (const simulation::Contact& contact : contacts) {
    if (counts(contact)) applied.moment += (contact.point - applied.point).cross(contact.force);
  }
  return applied;
}

GroundForces GroundForcesOf(const character::Character& character, const control::Trajectory& trajectory) {
  GroundForces ground;
  ground.plates = ForcePlates(character, trajectory);
  ground.num_states = trajectory.states.size();
  for (const ForcePlate& plate : ground.plates) {
    std::vector<AppliedForce>& forces = ground.forces.emplace_back(trajectory.states.size());
    for (size_t i = 0; i < trajectory.contacts.size(); ++i) forces[i + 1] = ForceOn(plate, trajectory.contacts[i]);
  }
  return ground;
}

void SharePlates(std::span<GroundForces* const> motions) {
  std::vector<ForcePlate> plates;
  const auto find = [](const std::vector<ForcePlate>& list, int body) {
    return std::find_if(list.begin(), list.end(), [&](const ForcePlate& plate) { return plate.body == body; });
  };
  for (const GroundForces* motion : motions) {
    for (const ForcePlate& plate : motion->plates) {
      if (find(plates, plate.body) == plates.end()) plates.push_back(plate);
    }
  }
  for (GroundForces* motion : motions) {
    std::vector<std::vector<AppliedForce>> forces;
    for (const ForcePlate& plate : plates) {
      const auto own = find(motion->plates, plate.body);
      const bool touched = own != motion->plates.end();
      const auto index = static_cast<size_t>(own - motion->plates.begin());
      forces.push_back(touched ? std::move(motion->forces[index]) : std::vector<AppliedForce>(motion->num_states));
    }
    motion->plates = plates;
    motion->forces = std::move(forces);
  }
}

}  // namespace retrace::metrics
