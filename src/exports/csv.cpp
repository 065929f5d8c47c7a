#include "retrace/exports/csv.h"

#include "retrace/character/kinematics.h"
#include "retrace/io/csv_writer.h"
#include "retrace/math/rotation.h"

namespace retrace::exports {
namespace {

void Names(io::CsvWriter& writer, std::initializer_list<const char*> names) {
  for (const char* name : names) writer.Text(name);
}

void Pose(io::CsvWriter& writer, const Vec3& position, const Quat& orientation) {
  writer.Vector(position);
  writer.Number(orientation.w());
  writer.Vector(orientation.vec());
}

}  // namespace

std::string FormatBodiesTable(const ExportedMotion& motion, double rate) {
  io::CsvWriter writer;
  Names(writer, {"time", "body", "x", "y", "z", "qw", "qx", "qy", "qz", "vx", "vy", "vz", "wx", "wy", "wz"});
  writer.EndRow();
  const simulation::Environment& world = motion.control.world.environment;
  const simulation::Layout layout = motion.layout();
  const auto row = [&](double time, const std::string& name, const character::BodyState& body) {
    writer.Number(time);
    writer.Text(name);
    Pose(writer, body.position, body.orientation);
    writer.Vector(body.linear_velocity);
    writer.Vector(body.angular_velocity);
    writer.EndRow();
  };
  int frame = 0;
  for (const character::State& state : FramesAt(motion.trajectory, rate)) {
    const double time = frame++ / rate;
    const character::State own = layout.StateOf(state, 0);
    for (size_t b = 0; b < own.size(); ++b) row(time, motion.character.bodies[b].name, own[b]);
    const std::vector<Vec3> places = BoxPositions(world, time);
    for (size_t i = 0; i < places.size(); ++i) {
      if (!world.boxes[i].course) continue;
      writer.Number(time);
      writer.Text(world.boxes[i].name);
      Pose(writer, places[i], world.boxes[i].orientation);
      for (int empty = 0; empty < 6; ++empty) writer.Text("");
      writer.EndRow();
    }
    const character::State free = layout.FreeStateOf(state);
    for (size_t f = 0; f < free.size(); ++f) row(time, world.bodies[f].name, free[f]);
  }
  return writer.Take();
}

std::string FormatJointsTable(const ExportedMotion& motion, double rate) {
  io::CsvWriter writer;
  Names(writer, {"time", "joint", "parent", "child"});
  writer.Names("");
  writer.Names("rotation_");
  writer.Names("rate_");
  writer.Names("torque_");
  writer.Text("gap");
  writer.EndRow();
  const character::Character& character = motion.character;
  int frame = 0;
  for (const character::State& state : FramesAt(motion.trajectory, rate)) {
    const int step = StepOfFrame(motion.trajectory, rate, frame);
    const double time = frame++ / rate;
    for (size_t j = 0; j < character.joints.size(); ++j) {
      const character::Joint& joint = character.joints[j];
      const auto& child = character.bodies[static_cast<size_t>(joint.child)];
      const character::BodyState& at = state[static_cast<size_t>(joint.child)];
      const Vec3 place = character::JointPosition(character, joint, state);
      const Vec3 of_child = at.position + at.orientation * Vec3(joint.anchor - child.rest_position);
      writer.Number(time);
      writer.Text(joint.name);
      writer.Text(character.bodies[static_cast<size_t>(joint.parent)].name);
      writer.Text(child.name);
      writer.Vector(place);
      writer.Vector(RotationVector(character::JointRotation(joint, state)));
      writer.Vector(character::RelativeRate(joint, state));
      writer.Vector(step < 0 ? Vec3(Vec3::Zero()) : motion.trajectory.torques[static_cast<size_t>(step)][j]);
      writer.Number((of_child - place).norm());
      writer.EndRow();
    }
  }
  return writer.Take();
}

}  // namespace retrace::exports
