/// When heels and toes stand on the ground in a motion.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "retrace/character/state.h"
#include "retrace/response_model/features.h"

namespace retrace::response_model {

struct FootContactOptions {
  double height = 0.04;       ///< a point that stands is at most so high over its own lowest height [m]
  double speed = 0.6;         ///< and moves at most so fast along the ground [m/s]
  double longest_gap = 0.07;  ///< interruptions of a contact that are shorter are none, and so short contacts [s]
};

/// Whether each heel or toe (rows, in the order of Posture::feet) stands in each pose (columns). Its lowest height is
/// the 5 % quantile of the motion, so that a recording may float over the ground or sink into it.
Eigen::ArrayXXi StandingPoints(FeatureMap& features, const std::vector<character::Pose>& poses,
                               const FootContactOptions& options = {});

}  // namespace retrace::response_model
