/// An arm on a heavy post that idles between two poses: planning takes milliseconds.
#pragma once

#include <string>
#include <vector>

#include "retrace/methods/idling/relax.h"
#include "simulation/sample_characters.h"

namespace retrace::idling {

struct SwingingArm {
  SwingingArm() : character(simulation::ArmOnPost("ball", 400, 40)) {
    character.joints[0].window = Vec3(0.2, 0.2, 0.2);
    problem.character = &character;
    for (const double angle : {0.0, 0.5}) {
      character::Pose pose = character::RestPose(character);
      pose.joint_rotations[0] = AxisRotation(2, angle);
      problem.keys.push_back({"key", pose, "keys.json: /keys/0"});
    }
    problem.options.duration = 5;
    problem.options.paths = 2;
    problem.options.settling_time = 3;
    problem.options.distinct = 0.02;
    for (const KeyPose& key : problem.keys) keys.push_back(Relax(problem, key));
  }
  Support support() const { return FindSupport(problem, keys); }

  character::Character character;
  Problem problem;
  std::vector<RelaxedKey> keys;
};

}  // namespace retrace::idling
