#include "retrace/exports/robot_joints.h"

#include "retrace/character/kinematics.h"
#include "retrace/control/controller.h"
#include "retrace/io/csv_writer.h"
#include "retrace/math/rotation.h"
#include "retrace/robots/joint_motion.h"

namespace retrace::exports {
namespace {

using character::Character;
using character::Joint;

/// Calls `visit` with the joint, its axis and the name of the column.
template <class Visit>
void ForEachColumn(const Character& character, const Visit& visit) {
  for (size_t j = 0; j < character.joints.size(); ++j) {
    const Joint& joint = character.joints[j];
    for (int axis = 0; axis < 3; ++axis) {
      if (!joint.UsesAxis(axis)) continue;
      std::string name = joint.name;
      if (joint.type == character::JointType::kBall) name += std::string("_") + static_cast<char>('x' + axis);
      visit(j, axis, name);
    }
  }
}

std::vector<int> EndsOf(const Character& character) {
  std::vector<int> ends;
  for (size_t b = 0; b < character.bodies.size(); ++b) {
    const character::Part part = character.bodies[b].part;
    if (part == character::Part::kFoot || part == character::Part::kHand) ends.push_back(static_cast<int>(b));
  }
  return ends;
}

void WriteHeader(const Character& character, io::CsvWriter& writer) {
  for (const char* const name : {"time", "root_x", "root_y", "root_z", "root_qx", "root_qy", "root_qz", "root_qw",
                                 "root_vx", "root_vy", "root_vz", "root_wx", "root_wy", "root_wz"}) {
    writer.Text(name);
  }
  for (const char* const ending : {"", "_velocity", "_target", "_kp", "_kd", "_feedforward", "_torque"}) {
    ForEachColumn(character, [&](size_t, int, const std::string& name) { writer.Text(name + ending); });
  }
  for (const int body : EndsOf(character)) {
    writer.Text("contact_" + character.bodies[static_cast<size_t>(body)].name);
  }
  writer.EndRow();
}

}  // namespace

std::string FormatJointMotion(const ExportedMotion& motion, double rate) {
  const Character& character = motion.character;
  const control::Trajectory& trajectory = motion.trajectory;
  const robots::RootFrame frame = robots::RootFrameOf(character);
  const character::Body& root_body = character.bodies[static_cast<size_t>(character.root)];
  const simulation::Layout layout = motion.layout();
  io::CsvWriter writer;
  WriteHeader(character, writer);
  control::OpenLoop control(motion.control.fragments);
  std::vector<simulation::JointCommand> commands(character.joints.size());
  int number = 0;
  for (const character::State& state : FramesAt(trajectory, rate)) {
    const int step = StepOfFrame(trajectory, rate, number);
    const double time = number++ / rate;
    const character::BodyState& root = state[static_cast<size_t>(character.root)];
    const Vec3 arm = root.orientation * Vec3(frame.position - root_body.rest_position);
    const Quat orientation = robots::ToFileAxes(root.orientation) * frame.rotation;
    writer.Number(time);
    writer.Vector(robots::ToFileAxes(Vec3(root.position + arm)));
    writer.Vector(orientation.vec());
    writer.Number(orientation.w());
    writer.Vector(robots::ToFileAxes(Vec3(root.linear_velocity + root.angular_velocity.cross(arm))));
    writer.Vector(robots::ToFileAxes(root.angular_velocity));
    const int next = std::min(step + 1, static_cast<int>(trajectory.num_steps()) - 1);
    control.Command({std::max(next, 0), time, state, layout, 0}, commands);
    const auto write = [&](const auto& value_of) {
      ForEachColumn(character, [&](size_t j, int axis, const std::string&) {
        writer.Number(value_of(character.joints[j], j)[axis]);
      });
    };
    write([&](const Joint& joint, size_t) {
      return joint.PerAxis(RotationVector(character::JointRotation(joint, state)));
    });
    write([&](const Joint& joint, size_t) { return joint.PerAxis(character::RelativeRate(joint, state)); });
    write([&](const Joint& joint, size_t j) { return joint.PerAxis(RotationVector(commands[j].target)); });
    write([&](const Joint& joint, size_t j) { return Vec3(commands[j].gain * joint.kp * joint.strength_scale); });
    write([&](const Joint& joint, size_t j) { return Vec3(commands[j].gain * joint.kd * joint.strength_scale); });
    write([&](const Joint&, size_t j) { return commands[j].torque; });
    write([&](const Joint&, size_t j) {
      return step < 0 ? Vec3(Vec3::Zero()) : trajectory.torques[static_cast<size_t>(step)][j];
    });
    for (const int body : EndsOf(character)) {
      bool carries = false;
      for (size_t c = 0; step >= 0 && c < trajectory.contacts[static_cast<size_t>(step)].size(); ++c) {
        const simulation::Contact& contact = trajectory.contacts[static_cast<size_t>(step)][c];
        carries = carries || (contact.body == body && contact.force.norm() > 0);
      }
      writer.Text(carries ? "1" : "0");
    }
    writer.EndRow();
  }
  return writer.Take();
}

}  // namespace retrace::exports
