/// A control with its feedback as a controller.
#pragma once

#include <Eigen/Core>
#include <span>
#include <vector>

#include "retrace/character/character.h"
#include "retrace/character/state.h"
#include "retrace/control/controller.h"
#include "retrace/control/feedback_law.h"
#include "retrace/control/feedback_tree.h"
#include "retrace/control/fragment.h"
#include "retrace/simulation/joint_command.h"

namespace retrace::control {

/// A control with its feedback. The control may be read ahead of time or behind it: by a shift in nodes, which is zero
/// unless it is set, and with a tree a branch may be followed (feedback_tree.h). Where the motion is another one than
/// the nominal one, another form of the control may take its place, which makes the same motion but for rounding, such
/// as one with stronger servos.
class FeedbackController final : public Controller {
 public:
  /// All must outlive it. @param disturbed the other form, with fragments that begin at the same steps
  FeedbackController(const character::Character& character, std::span<const Fragment> fragments,
                     std::span<const Fragment> disturbed, const Feedback& feedback, const FeedbackTree* tree = nullptr);

  void Command(const StepContext& now, std::span<simulation::JointCommand> commands) override;
  bool RestartsAt(int step) override;

  /// From the next node on, the control and its nominal motion are those of so many nodes later.
  void set_shift(int nodes) { shift_ = nodes; }
  int shift() const { return shift_; }
  /// From the next node on, the branch is followed where it or those that it leads into hold the node; -1: none.
  void set_branch(int branch) { branch_ = branch; }
  int branch() const { return branch_; }
  /// Torques beside all others (m), such as those that a search tries [N m]; from the next node on.
  void set_offset(const Eigen::VectorXd& torques) { offset_ = torques; }
  /// Another simulation begins: torques are found anew at its first step, whether that is a node or not.
  void Restart() { begun_ = false; }
  /// Whether torques are found at the beginning of this step.
  bool IsNode(int step) const { return (step - law_.feedback().first_step) % law_.feedback().interval == 0; }
  /// That were found last (m) [N m].
  const Eigen::VectorXd& torques() const { return torques_; }
  FeedbackLaw& law() { return law_; }
  const FeedbackLaw& law() const { return law_; }

 private:
  int StepOf(int step) const { return step + shift_ * law_.feedback().interval; }

  const character::Character& character_;
  OpenLoop undisturbed_;
  OpenLoop disturbed_;
  FeedbackLaw law_;
  const FeedbackTree* tree_;
  int shift_ = 0;
  int branch_ = -1;
  Eigen::VectorXd offset_;                          // (m)
  std::vector<simulation::JointCommand> commands_;  // (joints) of the open loop
  character::State state_;                          // scratch
  Eigen::VectorXd torques_;                         // (m)
  bool begun_ = false;
  bool is_disturbed_ = false;  // at the last node
};

}  // namespace retrace::control
