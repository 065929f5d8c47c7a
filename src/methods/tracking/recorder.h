/// Keeps the commands of another controller. Internal to the tracking method.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "retrace/control/controller.h"

namespace retrace::tracking {

class Recorder final : public control::Controller {
 public:
  /// The other controller must outlive the object.
  explicit Recorder(control::Controller& controller) : controller_(controller) {}

  void Command(const control::StepContext& now, std::span<simulation::JointCommand> commands) override {
    controller_.Command(now, commands);
    recorded_.emplace_back(commands.begin(), commands.end());
  }
  bool RestartsAt(int step) override { return controller_.RestartsAt(step); }

  /// The commands of each step since the last call (steps x joints).
  std::vector<std::vector<simulation::JointCommand>> Take() { return std::exchange(recorded_, {}); }

 private:
  control::Controller& controller_;
  std::vector<std::vector<simulation::JointCommand>> recorded_;
};

}  // namespace retrace::tracking
