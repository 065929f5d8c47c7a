/// The tracking controller for a motion that comes as it is made, and for any simulator: states in, torques out, one
/// step at a time. The simulator may be simulation::World, which takes commands, or another one, which takes torques.
///
///     tracking::LiveController controller(character, world_options, 1.0 / 120);
///     for (int step = 0;; ++step) {
///       while (!controller.Suffices(step)) controller.Append(NextPose());
///       Apply(controller.Torques(step, CurrentState()));  // a step of the simulator
///     }
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "retrace/control/controller.h"
#include "retrace/methods/tracking/controller.h"
#include "retrace/methods/tracking/live_reference.h"

namespace retrace::tracking {

class LiveController final : public control::Controller {
 public:
  /// The character must outlive the controller. Throws UsageError for options that are not valid, and for the candidate
  /// search, which needs to know the whole motion.
  /// @param world step, gravity and ground of the simulator; its step is that of the controller
  /// @param frame_time between two poses of the motion [s]
  LiveController(const character::Character& character, const simulation::WorldOptions& world, double frame_time,
                 const Options& options = {}, const LiveOptions& live = {});
  ~LiveController() override;

  /// The next pose of the motion (LiveReference::Append), and that no other comes.
  void Append(character::Pose pose);
  void Finish();
  /// Whether the poses that have come suffice for a step, counted from 0. What is done in it does not depend on whether
  /// more have come.
  bool Suffices(int step) const;
  double duration() const;  ///< of the poses that have come [s]

  /// Where a simulation begins that follows the motion; the poses must suffice for step 0.
  character::State StartState();

  /// Steps come one after another from 0 on. Both throw UsageError where the poses do not suffice for one.
  void Command(const control::StepContext& now, std::span<simulation::JointCommand> commands) override;
  /// For a simulator without servos: planned torque and servo of each joint on its child body, with the opposite on the
  /// parent, in world axes, constant during the step (joints) [N m]. The servo has the torque that it would have at the
  /// end of the step if the plan came true, so that large steps are stable (stable PD control, Tan, Liu and Turk 2011);
  /// those of the paper have that at its beginning. Limits of the character hold.
  /// @param state of the bodies at the beginning of the step
  std::span<const Vec3> Torques(int step, const character::State& state);
  bool RestartsAt(int step) override;

  /// What was found since the last call, one for each quadratic program.
  std::vector<SolveRecord> TakeRecords();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace retrace::tracking
