/// Figures of a motion beside the examples of a model: whether it is believable, and how far it is from another motion.
#pragma once

#include <vector>

#include "retrace/response_model/response_model.h"

namespace retrace::response_model {

/// Feet that slide, whatever their speed is: which heels and toes should stand is told by the example that is most like
/// the motion there (contacts.h), and not by their own speed.
struct FeetFigures {
  double skating = 0;      ///< share of time in which a foot should stand, and all of it that should moves [1]
  double unsupported = 0;  ///< share of time in which each heel and toe of all feet moves [1]
};

/// A heel or toe that is faster along the ground moves [m/s].
inline constexpr double kMovingFoot = 0.3;

struct Plausibility {
  double joint_excess = 0;      ///< largest angle of a joint from the nearest of the examples [rad]
  double height_excess = 0;     ///< of the root over the highest, or under the lowest, of the examples [m]
  double slide = 0;             ///< mean over stances: how far heel or toe move along the ground while they stand [m]
  double example_slide = 0;     ///< the same of the normal motion [m]
  FeetFigures feet;             ///< of the motion
  FeetFigures example_feet;     ///< of all examples
  double end_distance = 0;      ///< of the last observation from the path of the normal motion [steps]
  double largest_distance = 0;  ///< of any observation from the nearest of all examples [steps]
  double period = 0;            ///< of the second half; 0: it has fewer than two cycles there [s]
};

/// Figures of at least five poses at the model's rate.
Plausibility Judge(const ResponseModel& model, const std::vector<character::Pose>& poses);

/// How well a model foresees a motion of its rate, one pose ahead: the mean distance of what it expects from what is
/// observed [steps], over the frames on which no push acts. Infinite where there are none.
double OneStepError(const ResponseModel& model, const Example& motion);

/// How often the latent trajectories of the examples cross where the poses differ: pairs of pieces, of one latent step
/// each, that pass one another at less than `near` latent steps, though what is observed there is more than `apart`
/// steps apart. There the position alone does not tell the model how a motion goes on.
struct CrossingOptions {
  double near = 0.1;
  double apart = 1.5;
};
int CountCrossings(const ResponseModel& model, const CrossingOptions& options = {});

/// Mean distance of the bodies of two poses [m]: as they are, and each in its heading frame.
struct PoseDistance {
  double world = 0;
  double heading = 0;
};
PoseDistance DistanceOf(const character::Character& character, const character::Pose& a, const character::Pose& b);

/// What else might have been said of a pushed motion, to compare a synthesis with: that of the example with the most
/// similar push, from its push on.
struct NearestExample {
  size_t example = 0;     ///< of the model
  size_t push_frame = 0;  ///< pose of the example with which its push begins, or the last before
  double difference = 0;  ///< of forces, in 100 N, and of phases, in quarters of a period, added
};
/// The phase is that of the cycle in which the push begins: `phase` is the time of the push after a pose of the normal
/// motion's beginning [s]. Examples without pushes count only where there are no others. Throws std::invalid_argument
/// for a model of one example.
NearestExample FindNearestExample(const ResponseModel& model, const Push& push, double phase);

/// The time after the beginning of the normal motion at which it is most like the last of three poses, or like an
/// observation less the model's mean [s].
double PhaseOf(const ResponseModel& model, const std::vector<character::Pose>& three);
double PhaseOf(const ResponseModel& model, const Eigen::VectorXd& observation);

}  // namespace retrace::response_model
