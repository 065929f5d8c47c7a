#include "retrace/results/required_forces_table.h"

#include <limits>

#include "joint_columns.h"

namespace retrace::results {

std::string FormatRequiredForces(const character::Character& character,
                                 const std::vector<metrics::RequiredForces>& motion) {
  std::vector<bool> supported(character.bodies.size(), false);
  for (const metrics::RequiredForces& instant : motion) {
    for (const metrics::SupportForce& support : instant.support) supported[static_cast<size_t>(support.body)] = true;
  }
  io::CsvWriter writer;
  writer.Text("time");
  for (const char* name : {"com_", "force_", "moment_", "missing_force_", "missing_moment_"}) writer.Names(name);
  for (size_t b = 0; b < supported.size(); ++b) {
    if (!supported[b]) continue;
    const std::string& name = character.bodies[b].name;
    writer.Names(name + "_force_");
    for (const char* column : {"_center_x", "_center_z", "_free_moment"}) writer.Text(name + column);
  }
  JointNames(character, writer);
  for (const character::Joint& joint : character.joints) writer.Text(joint.name + "_power");
  writer.EndRow();
  for (const metrics::RequiredForces& instant : motion) {
    writer.Number(instant.time);
    for (const Vec3& vector :
         {instant.center_of_mass, instant.force, instant.moment, instant.missing_force, instant.missing_moment}) {
      writer.Vector(vector);
    }
    auto support = instant.support.begin();
    for (size_t b = 0; b < supported.size(); ++b) {
      if (!supported[b]) continue;
      const bool here = support != instant.support.end() && support->body == static_cast<int>(b);
      const metrics::SupportForce force = here ? *support++ : metrics::SupportForce();
      const bool has_center = force.force.y() > 0;
      writer.Vector(force.force);
      for (const int axis : {0, 2}) {
        writer.NumberOrEmpty(has_center ? force.center[axis] : std::numeric_limits<double>::quiet_NaN());
      }
      writer.Number(force.free_moment);
    }
    ForEachJointAxis(character, [&](size_t j, int axis) { writer.Number(instant.torques[j][axis]); });
    for (const double power : instant.powers) writer.Number(power);
    writer.EndRow();
  }
  return writer.Take();
}

}  // namespace retrace::results
