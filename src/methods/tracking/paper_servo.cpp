#include "paper_servo.h"

#include <Eigen/Eigenvalues>
#include <cmath>

namespace retrace::tracking {
namespace {

using character::Character;

/// k_s of Table 3; of a planar character, of Table 2, which differs for feet.
double StiffnessOf(const character::Body& body, bool planar) {
  for (const char* name : {"thigh", "shin", "clavicle", "upper_arm", "toe"}) {
    if (body.segment.ends_with(name)) return 4000;
  }
  if (body.segment.ends_with("foot")) return planar ? 4000 : 1000;
  return 3000;
}

}  // namespace

PaperServo::PaperServo(const Character& character, double stiffness, bool relative)
    : character_(character), relative_(relative), carried_(character.joints.size()) {
  for (const character::Joint& joint : character.joints) {
    stiffness_.push_back(stiffness * StiffnessOf(character.bodies[static_cast<size_t>(joint.child)], character.planar));
  }
  for (size_t body = 0; body < character.bodies.size(); ++body) {
    for (int joint = character.JointOf(static_cast<int>(body)); joint >= 0;
         joint = character.JointOf(character.joints[static_cast<size_t>(joint)].parent)) {
      carried_[static_cast<size_t>(joint)].push_back(static_cast<int>(body));
    }
  }
}

void PaperServo::AddTorques(const dynamics::CharacterDynamics& dynamics, const Eigen::VectorXd& error,
                            const Eigen::VectorXd& velocity, const Eigen::VectorXd& wanted,
                            Eigen::VectorXd& torque) const {
  for (size_t j = 0; j < carried_.size(); ++j) {
    const int first = dynamics.coordinates().FirstOf(static_cast<int>(j));
    const double stiffness = stiffness_[j];
    if (character_.joints[j].type == character::JointType::kHinge) {
      const double rate = velocity[first] - (relative_ ? wanted[first] : 0);
      torque[first] += stiffness * error[first] - 2 * std::sqrt(stiffness) * rate;
      continue;
    }
    Mat3 inertia = Mat3::Zero();
    for (const int body : carried_[j]) {
      const Mat3 rotation = dynamics.RotationOf(body);
      inertia += rotation * character_.bodies[static_cast<size_t>(body)].InertiaTensor() * rotation.transpose();
    }
    const Mat3 parent = dynamics.RotationOf(character_.joints[j].parent);
    const Mat3 scaled = stiffness * parent.transpose() * inertia * parent;
    const Mat3 root = Eigen::SelfAdjointEigenSolver<Mat3>(scaled).operatorSqrt();
    torque.segment<3>(first) +=
        scaled * error.segment<3>(first) + 2 * root * (wanted.segment<3>(first) - velocity.segment<3>(first));
  }
}

}  // namespace retrace::tracking
