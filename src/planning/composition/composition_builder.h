/// The motion that a composition has so far: its control, what is simulated of it and what it follows, to which a
/// transition into another control, a fall or a drive is appended. Internal to the module.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "retrace/planning/composition/composition_problem.h"
#include "retrace/retargeting/reference.h"

namespace retrace::runs {

/// A transition from a motion into another one.
struct Cut {
  int exit_step = 0;  // of the composed motion
  size_t control = 0;
  int step = 0;  // of that control
  double distance = 0;
};

/// A control that leads on from a cut.
struct Way {
  Cut cut;
  CompositionPart part = {};
  std::vector<character::Pose> reference = {};
  std::vector<control::Fragment> fragments = {};
  uint64_t end = 0;         // fingerprint of the state in which the search ended
  double end_distance = 0;  // of that state from the end of the control [m]
};

/// The state of a control after a step, or its last one.
const character::State& StateOf(const LibraryControl& control, int step);

class CompositionBuilder {
 public:
  /// Begins with the first control that is played. The problem must outlive the motion.
  explicit CompositionBuilder(const CompositionProblem& problem);

  const std::vector<character::State>& actual() const { return actual_; }  // after each step, under all pushes
  const std::vector<control::Fragment>& fragments() const { return result_.control.fragments; }
  const std::vector<CompositionPart>& parts() const { return result_.parts; }
  const simulation::WorldOptions& world() const { return result_.control.world; }
  int num_steps() const { return result_.control.num_steps(); }
  double duration() const { return result_.control.duration(); }
  double h() const { return result_.control.world.time_step; }
  int StepsIn(double seconds) const;

  /// What was composed so far, to come back to.
  struct Snapshot {
    std::vector<control::Fragment> fragments;
    std::vector<control::KinematicTransition> transitions;
    std::vector<character::Pose> reference;
    std::vector<CompositionPart> parts;
    std::vector<character::State> actual;
  };
  Snapshot Take() const;
  void BackTo(const Snapshot& snapshot);

  /// What came after a snapshot.
  struct Piece {
    std::vector<control::Fragment> fragments;
    std::vector<character::Pose> reference;
    std::vector<character::State> actual;
  };
  Piece Since(const Snapshot& before) const;
  /// Comes back to a snapshot and appends what came after it then.
  void Again(const Snapshot& before, const Piece& piece);

  /// One more fragment, simulated under the pushes from the state at hand; the motion itself takes the place of a
  /// reference. False where it diverges, and then there is none.
  bool Play(const control::Fragment& fragment);
  /// What is to come from a step on is taken away; from a time on the motion itself takes the place of the reference.
  void CutOff(int exit, double own_from);

  /// The motion of a control from a cut on, where the character is; it begins with the state at hand.
  std::vector<character::Pose> ReferenceFrom(const Cut& cut) const;
  /// The fragments of a control from a cut on.
  std::vector<control::Fragment> FragmentsFrom(const Cut& cut) const;
  /// The simulation is to go on in the next control's own state when the next way is appended, and to be shown where
  /// the character is.
  /// @return the impulse that would lead there [N s]
  double Jump(const Cut& cut);

  void Append(const Way& way);
  void Add(const CompositionPart& part) { result_.parts.push_back(part); }
  /// Whether a push acts on what comes after a step.
  bool PushedAfter(int step) const;

  /// The result, evaluated.
  Composition Finish(const std::string& ending, bool stopped);

 private:
  void Simulate();
  void FollowItself();
  bool PlayBehindABlend(const control::Fragment& fragment);
  double BlendFrom(const character::State& state) const;

  const CompositionProblem& problem_;
  const character::Character& character_;
  Composition result_;
  std::vector<character::State> actual_;              // (steps + 1)
  std::optional<control::KinematicTransition> jump_;  // of the transition that is appended next
};

}  // namespace retrace::runs
