/// Where the feet of a person can be pressed on: heel, ball and toes.
#pragma once

#include <vector>

#include "retrace/character/character.h"
#include "retrace/motion/clip.h"
#include "retrace/retargeting/reference_report.h"

namespace retrace::kinetics {

/// A foot that bends at its ball. Lengths are along z of the body at rest, from the ankle.
struct FootModel {
  int body = 0;
  Vec3 ankle = Vec3::Zero();  ///< in the body's frame [m]
  double sole = 0;            ///< of the sole under the ankle [m]
  double heel = 0;            ///< of the rear edge behind the ankle [m]
  double ball = 0;            ///< of the ball before the ankle [m]
  double toes = 0;            ///< of the front edge before the ball [m]
  double half_heel = 0;       ///< half width of the heel [m]
  double half_ball = 0;       ///< half width of the ball [m]
};

/// The left and the right foot of a character, those that it has. The ball is where the recording has the joint of the
/// toes or their marker, if that is as far from the ankle as in a foot; all other lengths are shares of the height
/// (Winter 2009: a foot is 0.152 of it long). The heel is where it first carries load, and a shoe adds 10 mm before the
/// toes.
/// @param report of the reference that was made from the clip
std::vector<FootModel> FootModelsOf(const character::Character& character, const motion::Clip& clip,
                                    const character::ReferenceReport& report);
/// The same by the height alone.
std::vector<FootModel> FootModelsOf(const character::Character& character);

}  // namespace retrace::kinetics
