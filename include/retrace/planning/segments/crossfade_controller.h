/// Servos that go over from one motion to another. Internal to the module.
#pragma once

#include <span>

#include "retrace/character/character.h"
#include "retrace/character/reference_motion.h"
#include "retrace/character/state.h"
#include "retrace/control/controller.h"

namespace retrace::runs {

/// Targets are taken ahead of the time by kd / kp of each joint, because damping holds servos back by so much.
class CrossfadeController final : public control::Controller {
 public:
  /// Times of the first and of the second motion: those of the world plus an offset [s].
  struct Course {
    const character::ReferenceMotion& motion;
    double offset = 0;
  };
  /// @param from,to when it goes over [s]
  /// @param gain factor on the servos' strength
  CrossfadeController(const character::Character& character, Course first, Course second, double from, double to,
                      double gain)
      : character_(character), first_(first), second_(second), from_(from), to_(to), gain_(gain) {}

  void Command(const control::StepContext& now, std::span<simulation::JointCommand> commands) override;
  bool UsesState() const override { return false; }

 private:
  const character::Character& character_;
  Course first_, second_;
  double from_, to_, gain_;
  character::Pose first_pose_, second_pose_;
};

}  // namespace retrace::runs
