/// A controller that sees the motion as sensors do: late and with noise.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <span>
#include <vector>

#include "retrace/character/character.h"
#include "retrace/control/controller.h"
#include "retrace/dynamics/tangent.h"
#include "retrace/io/describe.h"

namespace retrace::control {

struct Sensors {
  double delay = 0;  ///< from a motion to the command that follows from it [s]
  /// Standard deviation of the noise on the rates of the joints and of the root's turn [rad/s]; that of the joints'
  /// angles and of the root's orientation is a tenth of the number [rad]. It is new in every step.
  double noise = 0;
  uint64_t seed = 1;  ///< of the noise

  bool empty() const { return delay == 0 && noise == 0; }
};

void Describe(Sensors& s, io::FieldVisitor& v);

/// Gives another controller the motion as sensors see it. What is measured has the time at which it was measured: its
/// difference (dynamics/tangent.h) from the motion without disturbance at that time is taken to be the same now. A
/// motion without disturbance is therefore seen as it is, whatever the delay.
class SensedController final : public Controller {
 public:
  /// Controller and character must outlive it.
  /// @param undisturbed states of the motion without disturbance from the first step on (steps + 1)
  SensedController(Controller& controller, const character::Character& character,
                   std::vector<character::State> undisturbed, int first_step, double time_step, const Sensors& sensors);

  void Command(const StepContext& now, std::span<simulation::JointCommand> commands) override;
  bool RestartsAt(int step) override { return controller_.RestartsAt(step); }

 private:
  const character::State& Undisturbed(int step) const;

  Controller& controller_;
  dynamics::Coordinates coordinates_;
  std::ptrdiff_t bodies_;  // of the character
  std::vector<character::State> undisturbed_;
  int first_step_;
  int delay_;  // [steps]
  double noise_;
  uint64_t seed_;
  Eigen::MatrixXd differences_;  // (2 n, delay + 1) the latest ones, each where the oldest one was before
  Eigen::Index measured_ = 0;    // how many there were
  dynamics::MotionPoint point_, other_;
  character::State seen_;
};

}  // namespace retrace::control
