/// Where a world is touched.
#pragma once

#include "retrace/math/types.h"

namespace retrace::simulation {

/// One contact point of the last step.
struct Contact {
  int body = -1;                ///< of the world, and of a character
  int other = -1;               ///< the other body where it is of a character, too; -1 for the ground or an object
  Vec3 point = Vec3::Zero();    ///< [m]
  Vec3 force = Vec3::Zero();    ///< on `body` [N]; filled while recording
  Vec3 normal = Vec3::UnitY();  ///< towards `body`
  int object = -1;              ///< of the environment, -1 for the ground or a body of a character
  /// The law of the step: with f the force along the normal and v the rate along it at the end of the step, relative to
  /// what is touched, v + compliance f >= push.
  double push = 0;        ///< [m/s]; of a gap that the step may close: negative
  double compliance = 0;  ///< [m/s/N]
};

}  // namespace retrace::simulation
