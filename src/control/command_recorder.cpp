#include "retrace/control/command_recorder.h"

#include <utility>

namespace retrace::control {

void CommandRecorder::Command(const StepContext& now, std::span<simulation::JointCommand> commands) {
  controller_.Command(now, commands);
  if (begins_) {
    fragments_.emplace_back().first_step = now.step;
    begins_ = false;
  }
  fragments_.back().commands.emplace_back(commands.begin(), commands.end());
  ++fragments_.back().num_steps;
}

bool CommandRecorder::RestartsAt(int step) {
  begins_ = controller_.RestartsAt(step);
  return begins_;
}

std::vector<Fragment> CommandRecorder::TakeFragments() {
  begins_ = true;
  return std::exchange(fragments_, {});
}

}  // namespace retrace::control
