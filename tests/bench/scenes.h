/// What the benchmarks simulate: the human standing, lying, rolling and in the air, and the search on a bundled walk.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "retrace/character/kinematics.h"
#include "retrace/math/rotation.h"
#include "retrace/methods/sampling/rollout.h"
#include "retrace/recordings/bvh.h"
#include "retrace/retargeting/reference.h"
#include "retrace/runs/configuration/configuration.h"
#include "simulation/sample_characters.h"

namespace retrace::bench {

inline const character::Character& Human() {
  static const character::Character human = simulation::Human();
  return human;
}
inline const character::Character& Robot() {
  static const character::Character robot =
      character::LoadCharacter(std::string(RETRACE_SOURCE_DIR) + "/data/characters/asimo.json");
  return robot;
}
/// The human with a largest torque about every axis of all joints [N m].
inline character::Character LimitedHuman(double effort) {
  character::Character human = Human();
  for (character::Joint& joint : human.joints) {
    for (int a = 0; a < 3; ++a) joint.effort[a] = joint.UsesAxis(a) ? effort : 0;
  }
  return human;
}
inline character::Pose RestPose() {
  return simulation::RestPose(Human());
}
inline character::State StateOf(const character::Pose& pose) {
  return simulation::StateOf(Human(), pose);
}

/// A state to start from and targets to hold.
struct Scene {
  std::string name;
  character::State start;
  std::vector<simulation::JointCommand> targets;
};

/// Held for half a second, so that what touches has come to rest; in the air and curled up for a tenth.
inline std::vector<Scene> Scenes() {
  std::vector<Scene> scenes;
  const auto add = [&](const char* name, const character::Pose& pose, const Vec3& velocity, const Vec3& spin,
                       double seconds) {
    Scene scene{name, StateOf(pose), {}};
    for (const Quat& target : pose.joint_rotations) scene.targets.push_back({target});
    for (auto& body : scene.start) {
      body.angular_velocity = spin;
      body.linear_velocity = velocity + spin.cross(body.position - pose.root_position);
    }
    simulation::WorldOptions options;
    options.solver = simulation::Solver::kStock;
    simulation::World world(Human(), options);
    world.SetState(scene.start);
    for (double t = 0; t < seconds; t += options.time_step) world.Step(scene.targets);
    world.GetState(scene.start);
    scenes.push_back(scene);
  };
  add("standing", RestPose(), Vec3::Zero(), Vec3::Zero(), 0.5);
  character::Pose pose = RestPose();
  pose.root_orientation = AxisRotation(0, -kPi / 2);
  pose.root_position = Vec3(0, 0.2, 0);
  add("lying", pose, Vec3::Zero(), Vec3::Zero(), 0.5);
  simulation::CurlUp(Human(), pose);
  pose.root_position = Vec3(0, 0.35, 0);
  add("rolling", pose, Vec3(0.3, -1, 0), Vec3(3, 0, 1), 0.2);
  pose.root_position = Vec3(0, 5, 0);
  add("in the air", pose, Vec3(0.3, 1, 0.2), Vec3(2, 3, 1), 0.1);
  return scenes;
}

/// The search's problem on a bundled clip with some settings changed, as the command line changes them.
class SearchProblem {
 public:
  explicit SearchProblem(const std::string& clip, bool paper = false, const std::vector<std::string>& settings = {},
                         const character::Character& character = Human())
      : reference_(MakeReference(character, clip)) {
    runs::Configuration configuration;
    if (paper) configuration.UsePaperMode();
    for (const std::string& setting : settings) configuration.Set(setting);
    problem_ = {task::Prepare(configuration.task, reference_).task, configuration.sampling};
  }
  SearchProblem(const SearchProblem&) = delete;
  SearchProblem& operator=(const SearchProblem&) = delete;
  const sampling::Problem& problem() const { return problem_; }
  sampling::Problem& problem() { return problem_; }

 private:
  static character::ReferenceMotion MakeReference(const character::Character& character, const std::string& clip) {
    const std::string path = RETRACE_SOURCE_DIR "/data/clips/" + clip + ".bvh";
    character::ReferenceReport report;
    return character::MakeReference(character, motion::ReadBvh(path), path, {}, report);
  }
  character::ReferenceMotion reference_;
  sampling::Problem problem_;
};

/// States at the starts of the fragments, each the cheapest of a few samples of the fragment before: the states that a
/// search meets on its way.
inline std::vector<character::State> StatesAlong(const sampling::Problem& problem, int samples = 40) {
  sampling::RolloutWorker worker(problem);
  sampling::RolloutResult result;
  std::vector<character::State> states = {problem.task.start};
  for (int i = 0; i + 1 < problem.task.schedule.num_iterations(); ++i) {
    worker.Run({i, i, 0, samples, states.back()}, result);
    const sampling::RolloutSample* best = nullptr;
    for (const sampling::RolloutSample& sample : result.samples) {
      if (sample.diverged) continue;
      if (best == nullptr || sample.terms.Total(problem.task.weights) < best->terms.Total(problem.task.weights))
        best = &sample;
    }
    states.push_back(best->end);
  }
  return states;
}

}  // namespace retrace::bench
