/// The columns that the joints of a character have in tables.
#pragma once

#include "retrace/character/character.h"
#include "retrace/io/csv_writer.h"

namespace retrace::results {

/// Calls `visit` with each joint's index and axis: all three of a ball, the one of a hinge.
template <typename Function>
void ForEachJointAxis(const character::Character& character, const Function& visit) {
  for (size_t j = 0; j < character.joints.size(); ++j) {
    for (int axis = 0; axis < 3; ++axis) {
      if (character.joints[j].UsesAxis(axis)) visit(j, axis);
    }
  }
}

/// JOINT_x, JOINT_y, JOINT_z of each.
inline void JointNames(const character::Character& character, io::CsvWriter& writer) {
  ForEachJointAxis(character,
                   [&](size_t j, int axis) { writer.Text(character.joints[j].name + "_" + io::kAxes[axis]); });
}

}  // namespace retrace::results
