/// Short simulations of the characters that come with the toolkit, with everything in the world that exports support.
#pragma once

#include <algorithm>
#include <string>

#include "retrace/character/kinematics.h"
#include "retrace/control/control.h"
#include "retrace/exports/exported_motion.h"
#include "retrace/math/rotation.h"

namespace retrace::exports {

struct Simulation {
  character::Character character;
  control::OpenLoopControl control;
  control::Trajectory trajectory;

  ExportedMotion motion() const { return {character, control, trajectory, "drop"}; }
};

/// A box that swings, a fixed one that is turned, a crate, a ball and a field of four bumps, all within reach.
inline simulation::Environment FullWorld() {
  simulation::Environment world;
  simulation::Box shelf{"shelf", Vec3(0.3, 0.4, 0.5), Vec3(1, 0.2, 1), AxisRotation(1, 0.4)};
  simulation::Box swing{"swing", Vec3(3, 0.1, 3), Vec3(0, -0.05, 0)};
  swing.course = simulation::Course{Vec3::Zero(), Vec3(0.05, 0, 0), 0.5, 0.3};
  world.boxes = {shelf, swing};
  simulation::HeightField field;
  field.name = "field";
  field.position = Vec3(-4, 0, 0);
  field.orientation = AxisRotation(1, 0.2);
  field.spacing = 0.5;
  field.columns = 3;
  field.rows = 4;
  field.heights = {0, 0.1, 0, 0.1, 0.2, 0.1, 0, 0.1, 0, 0, 0, 0.05};
  world.height_field = field;
  simulation::FreeBody crate, ball;
  crate.name = "crate";
  crate.shape.size = Vec3(0.2, 0.2, 0.2);
  crate.mass = 2;
  crate.position = Vec3(0.8, 0.4, 0);
  crate.orientation = AxisRotation(2, 0.3);
  ball.name = "ball";
  ball.shape.kind = character::Shape::Kind::kCapsule;
  ball.shape.radius = 0.1;
  ball.mass = 1;
  ball.position = Vec3(-0.8, 0.5, 0);
  world.bodies = {crate, ball};
  return world;
}

/// The character is let fall from a centimeter above the ground in its rest pose, a little turned, with servos that
/// drive at slowly bending joints.
inline Simulation Drop(const std::string& name, int steps, const simulation::Environment& world = {}) {
  Simulation simulation;
  simulation.character =
      character::LoadCharacter(std::string(RETRACE_SOURCE_DIR) + "/data/characters/" + name + ".json");
  const character::Character& character = simulation.character;
  control::OpenLoopControl& control = simulation.control;
  control.world.environment = world;
  character::Pose pose;
  pose.root_position = character.bodies[static_cast<size_t>(character.root)].rest_position;
  pose.root_orientation = AxisRotation(1, 0.7) * AxisRotation(0, 0.1);
  pose.joint_rotations.assign(character.joints.size(), Quat::Identity());
  character::ForwardKinematics(character, pose, control.start);
  double lowest = 1e9;
  for (size_t b = 0; b < character.bodies.size(); ++b) {
    lowest = std::min(lowest, character::LowestPoint(character.bodies[b], control.start[b]));
  }
  character::Translate(control.start, Vec3(0, 0.01 - lowest, 0));
  world.AppendStart(control.start);
  control::Fragment fragment{0, steps, {pose.joint_rotations, pose.joint_rotations}};
  for (size_t j = 0; j < character.joints.size(); ++j) {
    fragment.targets[1][j] = AxisRotation(character.joints[j].axis, j % 2 == 0 ? 0.6 : -0.4);
  }
  control.fragments = {fragment};
  simulation.trajectory = control::Replay(character, control);
  return simulation;
}

}  // namespace retrace::exports
