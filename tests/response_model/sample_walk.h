/// A walk and a walk that is led aside, kinematic, for models that learn in a second.
#pragma once

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "dynamics/sample_motion.h"
#include "retrace/recordings/bvh.h"
#include "retrace/response_model/response_model.h"
#include "retrace/retargeting/cycle.h"
#include "retrace/retargeting/reference.h"

namespace retrace::response_model {

inline constexpr double kFrame = 1.0 / 30;

/// The bundled walk's cycle over and over.
inline std::vector<character::Pose> SampleWalk(size_t count) {
  const character::Character& human = dynamics::Bundled("human");
  const std::string file = std::string(RETRACE_SOURCE_DIR) + "/data/clips/walk.bvh";
  character::ReferenceReport report;
  const character::ReferenceMotion motion =
      character::MakeReference(human, motion::ReadBvh(file), file, character::ReferenceOptions(), report);
  std::vector<character::Pose> poses;
  for (size_t i = 0; static_cast<double>(i) * kFrame <= motion.duration(); ++i) {
    motion.PoseAt(static_cast<double>(i) * kFrame, poses.emplace_back());
  }
  const std::optional<character::Cycle> cycle = character::FindCycle(poses, kFrame);
  return character::Repeat(poses, *cycle, count);
}

/// The walk under a push of 0.2 s to a side [N]: each frame it moves by what the equations of motion say, and nine
/// tenths of what it moved by before, which dies away.
inline Example SampleDisturbed(double side) {
  const character::Character& human = dynamics::Bundled("human");
  const std::vector<character::Pose> walk = SampleWalk(60);
  Example example{"disturbed", walk, {}};
  Push push;
  push.body = human.FindBody("trunk");
  push.force = Vec3(side, 0, 0);
  push.start = 6 * kFrame;
  push.duration = 0.2;
  example.pushes.push_back(push);
  FeatureMap features(human, {});
  PushDeformation deformation(human, {});
  Posture now, next;
  Eigen::VectorXd displacement, sum = Eigen::VectorXd::Zero(features.coordinates().size());
  for (size_t i = 4; i + 1 < walk.size(); ++i) {
    features.Observe(walk[i], false, now);
    features.Observe(walk[i + 1], false, next);
    deformation.Solve(walk[i], example.pushes, static_cast<double>(i) * kFrame, kFrame, features.points(), now.feet,
                      next.feet, displacement);
    sum = 0.9 * sum + displacement;
    features.coordinates().Advance(sum, example.poses[i + 1]);
  }
  return example;
}

inline ResponseOptions SampleOptions() {
  ResponseOptions options;
  options.dimensions = 5;
  options.iterations = 60;
  return options;
}

inline std::vector<Example> SampleExamples() {
  return {{"normal", SampleWalk(72), {}}, SampleDisturbed(60), SampleDisturbed(-60)};
}

/// Learned once for all tests.
inline const ResponseModel& SampleModel() {
  static const ResponseLearning learning = LearnResponse(dynamics::Bundled("human"), SampleExamples(), SampleOptions());
  return learning.model;
}

}  // namespace retrace::response_model
