/// Linear feedback along a control: torques in proportion to what the motion differs from the one that the control is
/// known to make (Al Borno et al. 2018, equation 16). Where nothing differs the torques are zero, and the motion is
/// that of the control alone to the bit.
///
/// The differences are those of dynamics/tangent.h, with 2 n numbers; torques are numbers 6 to n of generalised forces
/// (dynamics/coordinates.h), those of the joints. They act beside the servos, as JointCommand::torque does.
#pragma once

#include <Eigen/Core>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "retrace/character/character.h"
#include "retrace/control/controller.h"
#include "retrace/control/fragment.h"
#include "retrace/dynamics/tangent.h"

namespace retrace::control {

/// The feedback of one control, as data. Torques are found at *nodes*, `interval` steps apart from the first step of
/// the control on, and held in between.
struct Feedback {
  std::string control_sha256;    ///< of the control file that it belongs to
  std::string character_sha256;  ///< of that file's character, as CharacterSha256 has it
  int first_step = 0;            ///< of the control
  int num_steps = 0;             ///< of the control, from the first one on
  int interval = 0;              ///< steps from node to node; the last interval may be shorter
  bool full_servos = false;      ///< whether the servos are brought to full strength where the motion is another one
  /// The motion without disturbance at each node, and at the end (nodes + 1).
  std::vector<dynamics::MotionPoint> nominal;
  /// L of each node (nodes x 2 n x m), column by column, from numbers of the difference to torques [N m].
  std::vector<float> gains;
  Eigen::VectorXd largest_torque;  ///< of each axis of a joint (m) [N m]

  int num_nodes() const { return static_cast<int>(nominal.size()) - 1; }
  Eigen::Index num_differences() const { return nominal.empty() ? 0 : 2 * nominal.front().velocity.size(); }
  Eigen::Index num_torques() const { return largest_torque.size(); }
  /// (2 n x m) of a node.
  std::span<const float> GainOf(int node) const;
};

/// SHA-256 of a character's document.
std::string CharacterSha256(const character::Character& character);

/// The text of feedback.bin: one line of JSON with the sizes, the hashes and that of what follows, then the nominal
/// points (doubles: root position, root orientation w x y z, rotation of each joint w x y z, velocities), the largest
/// torques (doubles) and the gains (floats), all little-endian.
std::string FormatFeedback(const Feedback& feedback);
/// Reads it. `name` stands for the file. Throws InputError saying what was found and what was expected: another format,
/// sizes that do not fit together, other bytes than were written, numbers that are none.
Feedback ParseFeedback(std::string_view bytes, const std::string& name);

struct FeedbackTree;

/// Finds the torques of a feedback. Nothing is allocated after construction. Belongs to one thread.
class FeedbackLaw {
 public:
  /// Both must outlive it.
  FeedbackLaw(const character::Character& character, const Feedback& feedback);

  const Feedback& feedback() const { return feedback_; }
  const dynamics::Coordinates& coordinates() const { return coordinates_; }

  /// The torques (m) [N m] at a node, clamped to the largest ones; zero where the state is the nominal one to the bit.
  /// Nodes after the last one have its gains.
  const Eigen::VectorXd& TorquesAt(int node, const character::State& state);
  /// The same with another nominal point and gain (2 n x m), such as those of a branch.
  const Eigen::VectorXd& TorquesAt(const dynamics::MotionPoint& nominal, std::span<const float> gain,
                                   const character::State& state);
  /// Whether that state was another one than the nominal one.
  bool differs() const { return differs_; }
  /// That state as the coordinates see it.
  const dynamics::MotionPoint& point() const { return point_; }
  /// The difference (2 n) of that state from the nominal one, that was found for these torques.
  const Eigen::VectorXd& difference() const { return difference_; }

 private:
  const Feedback& feedback_;
  dynamics::Coordinates coordinates_;
  dynamics::MotionPoint point_;
  bool differs_ = false;
  Eigen::VectorXd difference_;  // (2 n)
  Eigen::VectorXf scaled_;      // (m) scratch
  Eigen::VectorXd torques_;     // (m)
};

/// A control with its feedback. The control may be read ahead of time or behind it: by a shift in nodes, which is zero
/// unless it is set, and with a tree a branch may be followed (feedback_tree.h). Where the motion is another one than
/// the nominal one, another form of the control may take its place, which makes the same motion but for rounding, such
/// as one with stronger servos.
class FeedbackController final : public Controller {
 public:
  /// All must outlive it. @param disturbed the other form, with fragments that begin at the same steps
  FeedbackController(const character::Character& character, std::span<const Fragment> fragments,
                     std::span<const Fragment> disturbed, const Feedback& feedback, const FeedbackTree* tree = nullptr);

  void Command(const Instant& now, std::span<simulation::JointCommand> commands) override;
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

/// Another controller, with a record of the commands that it gives: an open-loop control that makes the same motion, to
/// the bit, under the same circumstances.
class CommandRecorder final : public Controller {
 public:
  /// The controller must outlive it.
  explicit CommandRecorder(Controller& controller) : controller_(controller) {}

  void Command(const Instant& now, std::span<simulation::JointCommand> commands) override;
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
