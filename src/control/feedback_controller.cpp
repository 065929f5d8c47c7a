#include "retrace/control/feedback_controller.h"

#include <algorithm>

namespace retrace::control {

using character::Character;
using character::Joint;
using character::JointType;

FeedbackController::FeedbackController(const Character& character, std::span<const Fragment> fragments,
                                       std::span<const Fragment> disturbed, const Feedback& feedback,
                                       const FeedbackTree* tree)
    : character_(character),
      undisturbed_(fragments),
      disturbed_(disturbed),
      law_(character, feedback),
      tree_(tree),
      offset_(Eigen::VectorXd::Zero(feedback.num_torques())),
      commands_(character.joints.size()),
      torques_(Eigen::VectorXd::Zero(feedback.num_torques())) {}

bool FeedbackController::RestartsAt(int step) {
  return undisturbed_.RestartsAt(StepOf(step));
}

void FeedbackController::Command(const StepContext& now, std::span<simulation::JointCommand> commands) {
  const Feedback& feedback = law_.feedback();
  const int step = StepOf(now.step);
  if (IsNode(now.step) || !begun_) {
    const auto own = now.layout.BodiesOf(std::span(now.state), now.character);
    state_.assign(own.begin(), own.end());
    const int node = std::max(0, (step - feedback.first_step) / feedback.interval);
    if (const int branch = tree_ == nullptr ? -1 : tree_->BranchAt(branch_, node); branch >= 0) {
      const Branch& along = tree_->branches[static_cast<size_t>(branch)];
      const int of_branch = node - along.first_node;
      const auto size = static_cast<size_t>(feedback.num_differences() * feedback.num_torques());
      torques_ = law_.TorquesAt(along.points[static_cast<size_t>(of_branch)],
                                std::span(along.gains).subspan(static_cast<size_t>(of_branch) * size, size), state_);
      torques_ += along.torques.col(of_branch);
      is_disturbed_ = true;
    } else {
      torques_ = law_.TorquesAt(node, state_);
      is_disturbed_ = law_.differs();
    }
    if (is_disturbed_) torques_ += offset_;
    begun_ = true;
  }
  OpenLoop& open_loop = is_disturbed_ ? disturbed_ : undisturbed_;
  open_loop.Command({step, now.time, now.state, now.layout, now.character}, commands_);
  std::copy(commands_.begin(), commands_.end(), commands.begin());
  if ((torques_.array() == 0).all()) return;  // also the signs of zeros are then those of the open loop
  Eigen::Index first = 0;
  for (size_t j = 0; j < commands.size(); ++j) {
    const Joint& joint = character_.joints[j];
    if (joint.type == JointType::kBall) {
      commands[j].torque += torques_.segment<3>(first);
    } else {
      commands[j].torque[joint.axis] += torques_[first];
    }
    first += joint.num_axes();
  }
}

}  // namespace retrace::control
