/// Servos of robots whose files have none.
#pragma once

#include "retrace/robots/robot.h"

namespace retrace::robots {

/// What a joint does, as far as its servo is concerned.
struct JointUse {
  bool leg = false;
  bool trunk = false;
  bool first_half = false;  ///< of its limb
  bool upright = false;     ///< its axis is nearly vertical at rest
};

/// Weight times height in proportion to that of the human whose servos Liu et al. 2010 give: 62.5 kg, 1.7 m.
double LoadRatio(double mass, double height);

struct ServoGains {
  double kp = 0;      ///< [N m/rad]
  double kd = 0;      ///< [N m s/rad]
  double window = 0;  ///< half width of the sampling window [rad]
};

/// Those of the file, where it has them. Else the largest torque of the motor is reached at 0.35 rad, as those of
/// public controllers of such robots are; where the largest torque is not known, or that of a placeholder, the human's
/// gains (hips and knees 300, shoulders and elbows 100, wrists 20, waist 1000) times the ratio of loads. Damping is a
/// tenth of the stiffness, as the human's. @param effort the largest torque, or 0 where it is not to be relied on
ServoGains GainsOf(const RobotJoint& joint, const JointUse& use, double effort, double load_ratio);

}  // namespace retrace::robots
