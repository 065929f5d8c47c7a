/// What the joints of a world are told.
#pragma once

#include "retrace/math/types.h"

namespace retrace::simulation {

/// What a joint is to do in a step.
struct JointCommand {
  Quat target = Quat::Identity();  ///< rotation that the servo drives at, child relative to parent, for the step's end
  /// Feedforward torque on the child, and its opposite on the parent, beside that of the servo; in the axes of the
  /// parent body [N m]. A hinge uses its axis alone. It is constant during the step.
  Vec3 torque = Vec3::Zero();
  double gain = 1;  ///< factor on the servo's kp and kd in this step, >= 0; 0 switches the servo off
};

}  // namespace retrace::simulation
