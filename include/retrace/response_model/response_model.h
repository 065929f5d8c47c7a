/// A model of how a person walks and responds to pushes, learned from a normal motion and a few disturbed ones (Ye and
/// Liu 2010): few latent coordinates behind what is observed of a pose (features.h), and how they go on from their last
/// two positions.
///
///     response_model::ResponseLearning learning = response_model::LearnResponse(character, examples, {});
///     response_model::Synthesizer walk(learning.model, {});
///     walk.Start(learning.model.examples.front(), 10);
///     for (int frame = 0; frame < 300; ++frame) walk.Step(pushes);
///
/// What differs from the paper by default (`PaperOptions` is its letter):
/// - An example's push is taken off again. Where an example was pushed, what follows from its last two latent positions
/// is
///   the pose that would have come without the push, which the equations of motion tell (deformation.h). So the push
///   enters once, by them, in learning as in synthesis, and is not taken for a habit of the walk.
/// - Motions that follow one reference in time keep its rhythm whatever pushes them, and a model that does not know the
///   time comes back from a push a little early or late, and stays so. Where examples have a clock, its phase is a part
///   of what the dynamics follow from, with a rate of its own.
/// - The dynamics have a mean. By a clock it is linear in how far the last positions are from the normal motion's at
/// their
///   phases, and dies away: where examples say nothing, a motion comes back, and not into a walk that none has. Without
///   a clock it is linear in the last positions: far from the examples a motion goes on, and not to the middle.
/// - Velocities are observed instead of the pose before, in more latent coordinates than three: one cycle takes
///   two, and what is left to one has to hold every direction and strength.
/// - The noise has a floor. Simulated motions have none of their own; without a floor the model drives its own to
/// nothing
///   and the latent positions so far apart that nothing lies between them.
#pragma once

#include <Eigen/Core>
#include <functional>
#include <string>
#include <vector>

#include "retrace/character/character.h"
#include "retrace/learning/gaussian_process.h"
#include "retrace/learning/latent_model.h"
#include "retrace/response_model/deformation.h"
#include "retrace/response_model/example.h"
#include "retrace/response_model/features.h"

namespace retrace::response_model {

inline constexpr size_t kMostModelExamples = 1000;
inline constexpr size_t kMostModelPoses = 5000;  ///< of all examples: matrices have as many rows

struct ResponseOptions {
  FeatureOptions features;
  int dimensions = 8;    ///< latent coordinates
  double back_rate = 2;  ///< of the back constraint [1/m^2] (learning::LatentOptions)
  bool back_constraint = true;
  int iterations = 150;        ///< of the minimization of L_P
  double start_deviation = 0;  ///< learning::LatentOptions
  double least_noise = 1e-3;   ///< of an observation, in units of the kernel's variance (learning::LatentOptions)
  double least_dynamics_noise = 1e-6;  ///< of a latent position
  uint64_t seed = 1;
  bool conjugate_gradients = false;  ///< the paper's minimizer instead of L-BFGS
  int order = 2;            ///< of the dynamics: number of last positions that the next one follows from, 1 or 2
  bool linear_mean = true;  ///< of the dynamics; false: their mean is zero
  /// Period of the clock of all examples (Example::clock); 0: none, they have a rhythm of their own. The dynamics
  /// then also follow from the phase [s].
  double clock_period = 0;
  /// With a clock: what is observed has a mean, too. It is that of the normal motion at the time of the clock and
  /// linear in how far the latent position is from that motion's. Without it, a motion beside all examples goes to
  /// their mean pose, and its feet to where none stands.
  bool observation_mean = false;
  /// With a clock: nearer to the normal motion than this the examples have no say, and from three times so far on all
  /// of it; between, the motion goes back. So plain walking stays plain whatever the examples do beside it; 0: they
  /// always have their say [steps].
  double plain_radius = 0;
  /// With a clock: so long after the last push the examples lose their say, within a second, because none of them took
  /// longer to return; 0: they keep it [s].
  double longest_response = 0;
  bool takes_pushes_off = true;
  int dynamics_iterations = 60;
  DeformationOptions deformation;
};

/// The letter of the paper.
ResponseOptions PaperOptions();

/// What was learned, with all that follows from it. Stays usable as long as its character.
struct ResponseModel {
  const character::Character* character = nullptr;
  ResponseOptions options;
  std::vector<Example> examples;  ///< the normal motion first

  // What is learned:
  Eigen::MatrixXd back_weights;      ///< A (N x d); without the back constraint X^T
  learning::Kernel kernel;           ///< of the observations by the latent positions
  learning::Kernel dynamics_kernel;  ///< of the next latent position by the last ones

  // What follows, by Assemble:
  Eigen::VectorXd mean;                   ///< (D) of the observations over whole cycles of the normal motion
  double period = 0;                      ///< of the normal motion [s]
  std::vector<Eigen::Index> lengths;      ///< (examples) observations of each: two fewer than poses
  learning::LatentModel latent;           ///< observations (D x N) less the mean; latent positions (d x N); scales (D)
  learning::GaussianProcess observation;  ///< of the observations less the mean, by the latent positions
  learning::GaussianProcess dynamics;     ///< of what the mean leaves over
  Eigen::MatrixXd cycle;   ///< (d x K) with a clock: positions of the normal motion at K even phases; else empty
  double latent_step = 0;  ///< mean distance between latent positions that follow one another in the normal motion
  Eigen::MatrixXd linear;  ///< the mean: (d x order d) by distances from the cycle; without a clock (d x 1 + rows) by
                           ///< one, then what the dynamics follow from
  character::Pose rest;    ///< from which `joint_weights` count
  Eigen::MatrixXd joint_weights;  ///< (n x N) displacements of poses from `rest` by the kernel of `observation`
  Eigen::VectorXd joint_scales;   ///< (n) of these as the scales of the observations; 0 along the ground
  double step = 0;                ///< mean distance between observations that follow one another in the normal motion
  /// (M) deviations of the rate of the clock from 1 by the kernel of `dynamics`; empty where the clock goes evenly.
  Eigen::VectorXd rate_weights;
  Eigen::ArrayXXi standing;         ///< (feet x N) whether heels and toes stand, in the order of Posture::feet
  Eigen::MatrixXd contact_weights;  ///< (feet x N) of these, 1/2 for one that stands and -1/2 else, by the kernel of
                                    ///< `observation`
  // The mean of what is observed; empty where there is none:
  Eigen::MatrixXd observation_cycle, joint_cycle, contact_cycle;  ///< (D, n, feet x K) of the normal motion, as `cycle`
  Eigen::MatrixXd observation_linear, joint_linear;               ///< (D, n x d) by distances from the cycle
  Eigen::VectorXd standing_heights;  ///< (feet) greatest height of heels and toes that stand, and a little more [m]

  Eigen::Index num_observations() const { return latent.observations.cols(); }
  Eigen::Index dimensions() const { return latent.latent.rows(); }
  /// The first observation of an example.
  Eigen::Index FirstOf(size_t example) const;
  /// Means of an observation (D), of the joints (n) and of the contacts (feet) at a latent position and a time of the
  /// clock [s], to which the processes add; zero where they have none.
  void MeansAt(const Eigen::VectorXd& place, double clock, Eigen::VectorXd& observed, Eigen::VectorXd& joints,
               Eigen::VectorXd& contacts) const;
  /// What follows from the last positions (order d, the oldest first) at a time of the clock, that of the latest of
  /// them [s], and so long after the last push [s]; without a clock the times do not count. Returns how fast the clock
  /// goes on, 1 where it keeps time.
  double DynamicsAt(const Eigen::VectorXd& last, double clock, double since_push, learning::Prediction& prediction,
                    Eigen::VectorXd& next) const;
};

/// Finds what follows from examples, options and what is learned. Throws std::invalid_argument as LearnResponse does,
/// and std::runtime_error where a kernel's matrix cannot be factored.
void Assemble(ResponseModel& model);

struct ResponseLearning {
  ResponseModel model;
  optimization::Minimum latent, dynamics;
  double cpu_seconds = 0;
  /// (examples) distance of the last observation of each from the nearest one of the normal motion, in steps: an
  /// example that is far away has not returned.
  std::vector<double> end_distances;
};

/// Learns. The examples must be of the character, the first one the normal motion with at least a whole cycle; each has
/// five poses or more. `on_iteration` receives iteration and value of L_P; false ends the learning early. Throws
/// std::invalid_argument for what cannot be learned from, with the reason.
ResponseLearning LearnResponse(const character::Character& character, std::vector<Example> examples,
                               const ResponseOptions& options,
                               const std::function<bool(int iteration, double value)>& on_iteration = {});

/// A pose without its position along the ground and its heading.
character::Pose WithoutHeading(const character::Pose& pose);

}  // namespace retrace::response_model
