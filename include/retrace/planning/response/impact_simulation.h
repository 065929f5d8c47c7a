/// The motion of the receiver under the run's own control, and what it would be if servos led
/// from there into another motion. Others that are in its world are simulated with it. Internal to the module.
#pragma once

#include <optional>
#include <vector>

#include "retrace/character/reference_motion.h"
#include "retrace/control/control.h"
#include "retrace/planning/response/response_problem.h"
#include "retrace/planning/segments/crossfade_controller.h"

namespace retrace::runs {

class ImpactSimulation {
 public:
  /// The problem must outlive it.
  explicit ImpactSimulation(const ResponseProblem& problem);

  const ResponseProblem& problem() const { return problem_; }
  const character::Character& character() const { return problem_.character(); }
  double h() const { return problem_.control.world.time_step; }  ///< [s]
  int StepOf(double time) const;
  /// Not before it.
  int StepAfter(double time) const;
  int impact() const { return impact_; }  ///< step at which the impact begins
  int exit() const { return exit_; }      ///< step at which the run's own control ends
  double exit_time() const { return exit_ * h(); }

  // ---- with the run's own control

  /// All characters from the beginning on.
  void Simulate(int steps);
  /// The same as in the first simulation of the paper: from the exit on without strength, on a floor of this friction.
  void SimulateLimp(int steps, double friction);
  const control::Trajectory& naive() const { return naive_; }  ///< that of the character
  const control::Trajectory& whole() const { return whole_; }  ///< that of all
  /// After so many steps; where it diverged before, the last one.
  const character::State& NaiveState(int step) const;
  const character::State& WholeState(int step) const;
  /// That of the character from the exit on, as far as it is sane.
  control::Trajectory OwnFromExit() const;

  // ---- others

  /// Controls of all characters in the order of the scene; that of the character that responds is not used.
  std::vector<std::vector<control::Fragment>>& others() { return others_; }
  const std::vector<std::vector<control::Fragment>>& others() const { return others_; }
  /// Ends of theirs that are not simulated.
  std::vector<control::KinematicEnding>& endings_of_others() { return endings_of_others_; }
  const std::vector<control::KinematicEnding>& endings_of_others() const { return endings_of_others_; }
  /// What a motion of all characters is to one of them.
  control::Trajectory OneOf(control::Trajectory whole, size_t character) const;
  /// All characters from a state of all of them on: that which responds under a controller, the others under theirs.
  /// @param friction of the ground; none: that of the world
  control::Trajectory SimulateAll(const character::State& start, control::Controller& controller, int first, int steps,
                                  std::optional<double> friction = {}) const;
  /// All characters, of which that which responds has this control.
  /// @param searched it was searched from the exit on: a search restores all of them where its fragments begin, so that
  /// the controls of the others are cut there
  control::Scene SceneOf(const control::OpenLoopControl& control, bool searched) const;

  // ---- into another motion

  /// As it is recorded: a motion of the library, or the run's own one.
  const character::ReferenceMotion& MotionOf(const ResponseCandidate& candidate) const;
  /// It comes to rest after its last instant.
  void PoseOf(const ResponseCandidate& candidate, double time, character::Pose& pose) const;
  /// For how long it is to stand or walk after the end of the motion [s]: the run's own one is over where it ends.
  double StandOf(const ResponseCandidate& candidate) const;
  /// Whether the run's own control goes on up to the start time: for its own motion to be blended in, no servos need to
  /// lead there.
  bool GoesOnUntil(const ResponseCandidate& candidate) const;
  /// From the exit to the start time. @param gain factor on the servos' strength
  CrossfadeController ServosOf(const ResponseCandidate& candidate, double gain) const;
  /// With these servos, from the exit to so long past the start time [s].
  control::Trajectory SecondSimulation(const ResponseCandidate& candidate, double gain, double past = 0) const;

  // ---- without strength

  /// The run's own control until the exit; then servos of a hundredth of their strength hold the pose of that instant.
  /// @param end step until which it lasts
  std::vector<control::Fragment> RagdollFromExit(int end) const;

 private:
  void FindOwnMotion();

  const ResponseProblem& problem_;
  int impact_, exit_;
  std::vector<std::vector<control::Fragment>> others_;
  std::vector<control::KinematicEnding> endings_of_others_;
  control::Trajectory naive_, whole_;
  /// The simulation without the impact, for kinematic transitions, which return to it.
  std::optional<character::ReferenceMotion> own_motion_;
};

/// After T, in which a reference goes over from the second simulation to the motion [s].
inline constexpr double kGoOver = 0.3;

/// Share of the servos' strength of a passive body, for comparison.
inline constexpr double kRagdollStrength = 0.01;

}  // namespace retrace::runs
