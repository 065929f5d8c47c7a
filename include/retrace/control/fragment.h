/// Target poses, or commands of single steps, over a part of a motion.
#pragma once

#include <span>
#include <vector>

#include "retrace/math/types.h"
#include "retrace/simulation/world.h"

namespace retrace::control {

/// Joint rotations that the servos drive at (joints).
using TargetPose = std::vector<Quat>;

/// Control over one interval between two sampling instants (Liu et al. 2010, section 3.2.1).
struct Fragment {
  int first_step = 0;  ///< simulation step at which it begins
  int num_steps = 0;
  /// Target poses at evenly spaced instants from the fragment's start to its end, interpolated between; a single one
  /// holds throughout.
  std::vector<TargetPose> targets;
  /// Instead of targets: what each joint is to do in each step (num_steps x joints), as feedback gave it; or in
  /// all of them alike (1 x joints).
  std::vector<std::vector<simulation::JointCommand>> commands = {};

  bool has_commands() const { return !commands.empty(); }
  const std::vector<simulation::JointCommand>& CommandsOf(int step) const {
    return commands[commands.size() == 1 ? 0 : static_cast<size_t>(step)];
  }
  int end_step() const { return first_step + num_steps; }
};

/// Targets for the simulation step that ends `step + 1` steps after the fragment's start. `pose` must have as many
/// entries as there are joints.
void TargetsAt(const Fragment& fragment, int step, std::span<Quat> pose);
/// The whole commands of that step. Those of target poses are the targets alone: no torque, the full gain.
void CommandsAt(const Fragment& fragment, int step, std::span<simulation::JointCommand> commands);

}  // namespace retrace::control
