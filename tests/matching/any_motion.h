/// Motions that differ from one another, and libraries of them.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "retrace/matching/motion_library.h"
#include "retrace/math/random.h"
#include "retrace/math/rotation.h"
#include "task/synthetic_motion.h"

namespace retrace::matching {

/// Leaning, moving and turning, each joint swinging as it likes: no two of them are alike.
class AnyMotion {
 public:
  explicit AnyMotion(uint64_t seed) : random_(seed, RandomStage::kTest, 0, 0) {
    for (size_t j = 0; j < task::Human().joints.size(); ++j) {
      swings_.push_back({random_.Uniform(0.5, 4), random_.Uniform(0, 2 * kPi), Direction() * random_.Uniform(0, 0.6)});
    }
    heading_ = random_.Uniform(-3, 3);
    turning_ = random_.Uniform(-1.5, 1.5);
    moving_ = Vec3(random_.Uniform(-1, 1), 0, random_.Uniform(-1, 1));
    lean_ = Direction() * random_.Uniform(0, 0.5);
  }

  character::Pose operator()(double time) const {
    character::Pose pose = task::StandingPose();
    for (size_t j = 0; j < swings_.size(); ++j) {
      const Swing& swing = swings_[j];
      const double angle = std::sin(swing.rate * time + swing.phase);
      const character::Joint& joint = task::Human().joints[j];
      Vec3 turn = swing.axis * angle;
      if (joint.type == character::JointType::kHinge) turn = Vec3::Unit(joint.axis) * turn[joint.axis];
      pose.joint_rotations[j] = FromRotationVector(turn) * pose.joint_rotations[j];
    }
    pose.root_orientation = AxisRotation(1, heading_ + turning_ * time) * FromRotationVector(lean_);
    pose.root_position += time * moving_;
    return pose;
  }

 private:
  struct Swing {
    double rate, phase;
    Vec3 axis;
  };
  Vec3 Direction() { return Vec3(random_.Uniform(-1, 1), random_.Uniform(-1, 1), random_.Uniform(-1, 1)).normalized(); }

  RandomStream random_;
  std::vector<Swing> swings_;
  double heading_ = 0, turning_ = 0;
  Vec3 moving_, lean_;
};

inline MotionLibrary AnyLibrary(uint64_t seed, int motions, double duration = 2) {
  MotionLibrary library(task::Human());
  for (int m = 0; m < motions; ++m) {
    library.Add("motion " + std::to_string(m),
                task::Motion(AnyMotion(seed * 1000 + static_cast<uint64_t>(m)), duration));
  }
  return library;
}

}  // namespace retrace::matching
