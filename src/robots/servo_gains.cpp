#include "servo_gains.h"

#include <algorithm>

namespace retrace::robots {
namespace {

constexpr double kTurnOfEffort = 0.35;  // [rad]
constexpr double kDamping = 0.1;        // [s]
constexpr double kStiffest = 1000;      // of the human [N m/rad]

}  // namespace

double LoadRatio(double mass, double height) {
  return mass * height / (62.5 * 1.7);
}

ServoGains GainsOf(const RobotJoint& joint, const JointUse& use, double effort, double load_ratio) {
  ServoGains gains;
  if (joint.kp > 0) {
    gains.kp = joint.kp;
    gains.kd = joint.kd + joint.damping;
    if (gains.kd == 0) gains.kd = kDamping * gains.kp;
  } else {
    const double human = use.trunk ? 1000 : use.leg ? 300 : use.first_half ? 100 : 20;
    gains.kp =
        effort > 0 ? std::min(effort / kTurnOfEffort, kStiffest * std::max(load_ratio, 1e-3)) : human * load_ratio;
    gains.kd = std::max(kDamping * gains.kp, joint.damping);
  }
  if (use.upright) {
    gains.window = use.leg ? 0.1 : use.trunk ? 0.2 : 0;
  } else {
    gains.window = use.leg ? 0.3 : use.trunk || use.first_half ? 0.2 : 0;
  }
  return gains;
}

}  // namespace retrace::robots
