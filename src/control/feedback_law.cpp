#include "retrace/control/feedback_law.h"

#include <algorithm>
#include <stdexcept>

namespace retrace::control {

FeedbackLaw::FeedbackLaw(const character::Character& character, const Feedback& feedback)
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

}  // namespace retrace::control
