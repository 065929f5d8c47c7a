/// Plays a response model for as long as one likes, under pushes (Ye and Liu 2010, section 3.2). The motion is
/// kinematic: nothing holds it to the laws of physics but the examples, and the equations of motion where a push bends
/// a pose.
///
/// A frame takes four steps, as in the paper: the next latent position and pose are those that are most likely, L_S
/// (equation 5); a push displaces the pose (deformation.h); the latent position follows the pose. What differs from the
/// paper by default (PaperSynthesis is its letter):
/// - L_S is not conditioned on the last two frames besides the examples. After a push these two lie beside what the
///   examples have; a smooth process takes the difference for certain and carries it on, and the motion blows up.
/// - The next latent position is what the dynamics tell, and only the pose is looked for. In L_S the two find a
///   compromise, in which the velocities of the present pose, which does not change any more, pull at the next position
///   with the weight of all dimensions: an error of a pose drives the motion on, and examples that lie near to one
///   another make it leave its cycle. (Where a position is looked for, the variance of the observations would also draw
///   it to the examples; `drawn_to_examples`.)
/// - After a push the latent position moves by what the back constraint makes of the displacement. By likelihood the
///   dynamics would take a part of it back.
/// - The joints are observed, too: a pose is drawn to the joints that the examples have at the latent position, each
///   with a scale of its own as any other dimension. The paper's features leave open how a hand is turned about its
///   arm, and beside the examples they fit no body: limbs would twist to fit them. With the letter of the paper a
///   hundredth of this decides what the features leave open.
/// - Feet hold. Which heels and toes stand is a function of the latent position, learned from the examples; one that
///   stands stays where it was when it began to, as a part of what is inferred. The paper holds a foot only while a
///   push acts. The root follows from the standing foot, so that nothing jumps where a foot leaves the ground.
#pragma once

#include <Eigen/Core>
#include <span>
#include <vector>

#include "retrace/response_model/response_model.h"

namespace retrace::response_model {

struct SynthesisOptions {
  bool latent_leads = true;        ///< the next position is what the dynamics tell
  bool history = false;            ///< L_S is conditioned on the last two frames
  bool drawn_to_examples = false;  ///< the variance is a function of the position
  bool likely_update = false;      ///< the latent position after a push is the most likely one
  double pose_weight = 1;          ///< of the joints among what is observed
  bool holds_feet = true;          ///< heels and toes that stand stay where they are
  double hold_deviation = 5e-4;    ///< standard deviation of where they stay [m]
  double fastest_landing = 1.2;    ///< a heel or toe that moves faster does not begin to stand [m/s]
  double longest_reach = 0.03;     ///< from where it stands to where it is expected; a farther one is drawn on [m]
  int most_iterations = 25;        ///< of Gauss and Newton, per frame
  double tolerance = 1e-4;         ///< they end with a step in which no coordinate moves by more [rad, m]
};

/// The letter of the paper, with the weak pull, without which poses are not defined.
SynthesisOptions PaperSynthesis();

/// How a frame came about.
struct SynthesisRecord {
  int evaluations = 0;    ///< of L_S
  double likelihood = 0;  ///< L_S less its constants
  double deviation = 0;   ///< of an observation in units of its scale: the root of the variance
  bool pushed = false;
  double displacement = 0;  ///< largest of a point by the push [m]
  Eigen::VectorXd latent;   ///< (d)
  double clock = 0;         ///< time of the model's clock, 0 to its period; 0 without one [s]
  std::vector<bool> held;   ///< (feet) heels and toes that were held
};

/// An object belongs to one thread. The model must outlive it.
class Synthesizer {
 public:
  Synthesizer(const ResponseModel& model, const SynthesisOptions& options);

  /// Begins with poses of a motion: with pose `last`, which becomes the present one, and the three before it. A model
  /// with a clock takes the motion's. Throws std::invalid_argument where there are no three, and without a clock that
  /// the model needs. @param time of the present pose [s]
  void Start(const Example& motion, size_t last, double time = 0);

  /// Goes on from where another one is, whose model observes the same and goes by the same clock.
  void Continue(const Synthesizer& other);

  /// Goes on by a frame, under pushes whose times are those of the synthesis.
  const SynthesisRecord& Step(std::span<const Push> pushes);

  const character::Pose& pose() const { return poses_[1]; }
  double time() const { return time_; }  ///< [s]
  const Eigen::VectorXd& latent() const { return places_[1]; }
  const Eigen::VectorXd& observation() const { return observations_[1]; }  ///< (D) less the model's mean
  const dynamics::Coordinates& coordinates() const { return features_.coordinates(); }

 private:
  struct Likely {  // the observation at a latent position, given the examples, and the last frames where options say so
    Eigen::VectorXd mean;
    Eigen::MatrixXd mean_gradient;
    double variance = 0;
    Eigen::VectorXd variance_gradient;
  };

  /// Which heels and toes stay held in the next frame, by its latent position; moves the pose that is
  /// expected onto them.
  void HoldFeet(character::Pose& pose);
  /// Heels and toes of a foot that are held, and how far they are in their mean from where they stay.
  size_t NumHeld(size_t foot) const;
  Vec3 FromHeld(size_t foot) const;
  /// The foot that is held and of which heel or toe stand most surely.
  size_t SurestFoot() const;
  /// What has landed stands from the end of the frame on; a foot that was drawn on stands where it has come to.
  void LetFeetStand();
  /// Along the ground, as near to where feet are held as can be.
  void MoveOntoFeet(character::Pose& pose) const;
  void ObserveHistory();
  void ObservationAt(const Eigen::VectorXd& place, bool gradients, Likely& likely);
  void StartPose(const Eigen::VectorXd& place, character::Pose& pose);
  /// L_S, and where wanted its derivatives; the observation at the position is found again only where that moves.
  double Evaluate(const character::Pose& pose, const Eigen::VectorXd& place, bool place_moves, bool gradients);
  enum class Moves { kPose, kPlace, kBoth };
  void Infer(Moves moves, character::Pose& pose, Eigen::VectorXd& place, SynthesisRecord& record);

  const ResponseModel* model_;
  SynthesisOptions options_;
  FeatureMap features_;
  PushDeformation deformation_;
  // The last two frames, and of the postures the next one, too:
  character::Pose poses_[2];
  Posture postures_[3];
  Eigen::VectorXd observations_[2];  // (D) less the mean
  Eigen::VectorXd places_[2];        // latent (d)
  double time_ = 0, clock_ = 0;
  double since_push_ = 0;        // [s]
  std::vector<size_t> foot_of_;  // heels and toes
  std::vector<bool> held_;       // the same
  std::vector<Vec3> held_at_;    // where those that are held stay [m]
  std::vector<double> hold_;     // of each foot, the inverse of the standard deviation of that [1/m]
  SynthesisRecord record_;

  // State of the present frame:
  double next_clock_ = 0;      // [s]
  Eigen::VectorXd stands_;     // (feet) above 0 where heels and toes stand
  Eigen::VectorXd predicted_;  // (d) by the dynamics
  double dynamics_variance_ = 1, fixed_variance_ = 1;
  character::Pose expected_;                                             // pose that the examples have there
  Eigen::MatrixXd history_places_, history_residuals_, history_solved_;  // (d x 2), (D x 2), (N x 2)
  Eigen::Matrix2d history_inverse_;

  // Scratch:
  learning::Prediction prediction_, dynamics_prediction_;
  Likely likely_;
  Eigen::VectorXd mean_, mean_joints_, mean_contacts_;
  Eigen::VectorXd observation_, residual_, gradient_, move_, from_expected_, pull_;
  Eigen::MatrixXd jacobian_, residual_jacobian_, hessian_;
};

}  // namespace retrace::response_model
