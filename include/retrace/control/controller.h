/// What decides, step by step, what the joints of a character are to do.
#pragma once

#include <span>

#include "retrace/character/state.h"
#include "retrace/control/fragment.h"
#include "retrace/simulation/world.h"

namespace retrace::control {

/// The beginning of a simulation step.
struct StepContext {
  int step = 0;                      ///< counted from 0
  double time = 0;                   ///< [s]
  const character::State& state;     ///< of the whole world, as simulation::Layout counts it
  const simulation::Layout& layout;  ///< of that state
  size_t character = 0;              ///< whose controller is called
};

/// A controller belongs to one simulation. It may keep data from earlier calls, but not where a result must follow
/// from the state alone.
class Controller {
 public:
  virtual ~Controller() = default;

  /// Writes a command for each joint of the character (joints). They hold what was written in the step before, at first
  /// JointCommand's defaults.
  virtual void Command(const StepContext& now, std::span<simulation::JointCommand> commands) = 0;

  /// Whether Command uses the state. Reading it takes time in every step.
  virtual bool UsesState() const { return true; }

  /// Whether the character is to be restarted at the beginning of this step (simulation::World::Restart): what is
  /// simulated from here on is then the same to the bit as after restoring the state.
  virtual bool RestartsAt(int step) {
    static_cast<void>(step);
    return false;
  }
};

/// Open-loop control: targets or commands over time, whatever the character does. Before the first fragment its first
/// ones hold, and after the last one its last.
class OpenLoop final : public Controller {
 public:
  /// The fragments must outlive the controller and follow one another without gaps. Without any, the targets are those
  /// of the rest pose.
  explicit OpenLoop(std::span<const Fragment> fragments) : fragments_(fragments) {}

  void Command(const StepContext& now, std::span<simulation::JointCommand> commands) override;
  bool UsesState() const override { return false; }
  /// At the start of each fragment, because a search restored the state there.
  bool RestartsAt(int step) override;

 private:
  const Fragment& FragmentAt(int step);

  std::span<const Fragment> fragments_;
  size_t current_ = 0;  // where the search for the next fragment begins
};

}  // namespace retrace::control
