/// Feedback that chooses, by simulation, where in the motion it is, and which branch of a tree it follows (Al Borno et
/// al. 2018, section 4.2 and algorithm 1, the part that is done online).
#pragma once

#include <span>
#include <vector>

#include "retrace/control/control.h"
#include "retrace/control/feedback.h"
#include "retrace/control/feedback_controller.h"
#include "retrace/control/feedback_tree.h"
#include "retrace/methods/stabilization/options.h"

namespace retrace::stabilization {

/// What the feedback was made for: the controller's idea of the world. Other worlds are a disturbance to it.
struct Model {
  const character::Character* character = nullptr;
  const control::OpenLoopControl* control = nullptr;
  std::span<const control::Fragment> disturbed;  ///< see control::FeedbackController
  const control::Feedback* feedback = nullptr;
  const control::FeedbackTree* tree = nullptr;  ///< null: there is none
};

/// How far a motion is from the nominal one at an instant, from the difference of the two (dynamics/tangent.h): the
/// weights are those of the paper's motion optimization, with the root instead of the center of mass.
double SquaredDistance(const Eigen::VectorXd& difference);

class ReindexingController final : public control::Controller {
 public:
  /// What the model points to must outlive it.
  ReindexingController(const Model& model, const ReindexingOptions& options);

  void Command(const control::StepContext& now, std::span<simulation::JointCommand> commands) override;
  bool RestartsAt(int step) override { return acting_.RestartsAt(step); }

  const control::FeedbackController& acting() const { return acting_; }
  /// Chooses anew from a state of the model's world, whenever that is; without a choice the present node is kept.
  void ChooseFrom(int step, const character::State& state);
  size_t simulations() const { return simulations_; }  ///< that were made

 private:
  struct Candidate {
    int branch = -1;
    int node = 0;
    double distance = 0;
  };

  void Choose(const control::StepContext& now);
  /// From the states that own_ and state_ hold.
  void ChooseHere(int step);
  /// Distance of the present state, which point_ holds, from a node's point.
  double NearnessTo(const dynamics::MotionPoint& point);
  /// How far a simulation is, at a node, from the nominal motion that it follows, and from that of the time wherever it
  /// is: a character that also keeps the pose of the time stays within tolerances that compare with it.
  double DistanceAt(int step);
  /// The distance L (equation 21) of the motion that goes on from a state along a branch with a shift of nodes; above
  /// `most` it is not simulated to its end.
  double Simulate(int step, int branch, int shift, double most);

  Model model_;
  ReindexingOptions options_;
  control::FeedbackController acting_;
  control::FeedbackController predicting_;
  simulation::World world_;
  control::SimulationScratch scratch_;
  character::State own_;    // of the character
  character::State state_;  // of the model's world
  dynamics::MotionPoint point_;
  Eigen::VectorXd difference_;
  std::vector<Candidate> candidates_, of_branches_;
  size_t simulations_ = 0;
};

}  // namespace retrace::stabilization
