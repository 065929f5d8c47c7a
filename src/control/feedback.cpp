#include "retrace/control/feedback.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "retrace/control/feedback_tree.h"
#include "retrace/io/file.h"

namespace retrace::control {

using character::Character;
using character::Joint;
using character::JointType;

std::span<const float> Feedback::GainOf(int node) const {
  const auto size = static_cast<size_t>(num_differences() * num_torques());
  return std::span(gains).subspan(static_cast<size_t>(node) * size, size);
}

std::string CharacterSha256(const Character& character) {
  return io::Sha256(io::Dump(character.json));
}

FeedbackLaw::FeedbackLaw(const Character& character, const Feedback& feedback)
    : feedback_(feedback),
      coordinates_(character),
      difference_(Eigen::VectorXd::Zero(feedback.num_differences())),
      scaled_(feedback.num_torques()),
      torques_(Eigen::VectorXd::Zero(feedback.num_torques())) {
  if (feedback.num_differences() != 2 * Eigen::Index{coordinates_.size()} ||
      feedback.num_torques() != coordinates_.size() - 6) {
    throw std::invalid_argument("feedback of another character");
  }
  point_ = feedback.nominal.front();
}

const Eigen::VectorXd& FeedbackLaw::TorquesAt(int node, const character::State& state) {
  return TorquesAt(feedback_.nominal[static_cast<size_t>(std::min(node, feedback_.num_nodes()))],
                   feedback_.GainOf(std::min(node, feedback_.num_nodes() - 1)), state);
}

const Eigen::VectorXd& FeedbackLaw::TorquesAt(const dynamics::MotionPoint& nominal, std::span<const float> gain,
                                              const character::State& state) {
  dynamics::Reduce(coordinates_, state, point_);
  differs_ = !(point_ == nominal);
  if (!differs_) {
    difference_.setZero();
    torques_.setZero();
    return torques_;
  }
  dynamics::Difference(coordinates_, nominal, point_, difference_);
  // Column by column: the order of the sums is that of the differences on any machine.
  const float* column = gain.data();
  const Eigen::Index m = torques_.size();
  float* const sum = scaled_.data();
  scaled_.setZero();
  for (Eigen::Index i = 0; i < difference_.size(); ++i, column += m) {
    const auto by = static_cast<float>(difference_[i]);
    for (Eigen::Index k = 0; k < m; ++k) sum[k] += by * column[k];
  }
  for (Eigen::Index k = 0; k < m; ++k) {
    const double most = feedback_.largest_torque[k];
    torques_[k] = std::clamp(static_cast<double>(sum[k]), -most, most);
  }
  return torques_;
}

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

void FeedbackController::Command(const Instant& now, std::span<simulation::JointCommand> commands) {
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

void CommandRecorder::Command(const Instant& now, std::span<simulation::JointCommand> commands) {
  controller_.Command(now, commands);
  if (begins_) {
    fragments_.emplace_back().first_step = now.step;
    begins_ = false;
  }
  fragments_.back().commands.emplace_back(commands.begin(), commands.end());
  ++fragments_.back().num_steps;
}

bool CommandRecorder::RestartsAt(int step) {
  begins_ = controller_.RestartsAt(step);
  return begins_;
}

std::vector<Fragment> CommandRecorder::TakeFragments() {
  begins_ = true;
  return std::exchange(fragments_, {});
}

}  // namespace retrace::control
