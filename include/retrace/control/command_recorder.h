/// What a controller commands, as an open-loop control.
#pragma once

#include <span>
#include <vector>

#include "retrace/control/controller.h"
#include "retrace/control/fragment.h"
#include "retrace/simulation/joint_command.h"

namespace retrace::control {

/// Another controller, with a record of the commands that it gives: an open-loop control that makes the same motion, to
/// the bit, under the same circumstances.
class CommandRecorder final : public Controller {
 public:
  /// The controller must outlive it.
  explicit CommandRecorder(Controller& controller) : controller_(controller) {}

  void Command(const StepContext& now, std::span<simulation::JointCommand> commands) override;
  bool UsesState() const override { return controller_.UsesState(); }
  bool RestartsAt(int step) override;

  /// What was recorded, in fragments that begin where the character was restarted.
  std::vector<Fragment> TakeFragments();

 private:
  Controller& controller_;
  std::vector<Fragment> fragments_;
  bool begins_ = true;
};

}  // namespace retrace::control
