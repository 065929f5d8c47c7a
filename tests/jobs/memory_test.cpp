/// Clips in memory, and motions as values.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "retrace/control/motion.h"
#include "retrace/io/error.h"
#include "retrace/io/file.h"
#include "retrace/jobs/reconstruction_files.h"
#include "retrace/jobs/simulated_motion.h"
#include "retrace/math/rotation.h"
#include "retrace/recordings/bvh.h"

namespace retrace::runs {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

const std::string kWalk = std::string(RETRACE_SOURCE_DIR) + "/data/clips/walk.bvh";

class Folder {
 public:
  Folder() {
    std::string name = std::filesystem::temp_directory_path() / "memory-XXXXXX";
    path_ = ::mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

JobOptions ShortOptions() {
  JobOptions options;
  options.clip.end = 0.4;
  options.configuration.run.method = Method::kTracking;
  return options;
}

/// Of the motion that is found, to the bit.
uint64_t LastState(const Job& job) {
  return control::Fingerprint(SimulateAgain(job, Reconstruct(job)).states().back());
}

/// A recording that was changed in memory and written gives the control that it gives from memory.
TEST(ClipInMemory, IsTheFileThatItWouldBe) {
  motion::Clip clip = motion::ReadBvh(kWalk);
  std::reverse(clip.frames.begin(), clip.frames.end());
  JobOptions options = ShortOptions();
  options.clip.file = "backward";
  const Job from_memory(options, clip);

  const Folder folder;
  const std::filesystem::path file = folder.path() / "backward.bvh";
  io::WriteFile(file, motion::FormatBvh(clip));
  options.clip.file = file;
  const Job from_file(options);

  EXPECT_EQ(from_memory.inputs[0].sha256, from_file.inputs[0].sha256);
  EXPECT_EQ(from_memory.identity, from_file.identity);
  EXPECT_EQ(LastState(from_memory), LastState(from_file));
  const io::Json recorded = ToJson(from_memory.inputs)[0];
  EXPECT_EQ(recorded["file"], "backward.bvh");
  EXPECT_EQ(recorded["in_memory"], true);
  EXPECT_FALSE(ToJson(from_file.inputs)[0].contains("in_memory"));
  const auto files = PathsOf(from_memory.inputs);
  EXPECT_THAT(files, testing::Not(testing::Contains(std::filesystem::path("backward.bvh"))));
}

TEST(ClipInMemory, KeepsItsUnit) {
  motion::Clip clip = motion::ReadBvh(kWalk);
  clip.unit = 1.1;
  const Job job(ShortOptions(), clip);
  EXPECT_EQ(job.options.clip.file, "clip.bvh");
  EXPECT_EQ(job.options.clip.unit, 1.1);
}

TEST(Motion, IsThatOfTheResultAndOfTheStoredRun) {
  JobOptions options = ShortOptions();
  options.clip.file = kWalk;
  const Job job(options);
  const Reconstruction result = Reconstruct(job);
  const control::Motion motion = SimulateAgain(job, result);
  ASSERT_EQ(motion.num_steps(), result.num_steps);
  EXPECT_EQ(motion.states().size(), motion.num_steps() + 1);
  EXPECT_EQ(motion.contacts().size(), motion.num_steps());
  ASSERT_EQ(motion.torques().size(), motion.num_steps());
  EXPECT_EQ(motion.torques()[0].size(), motion.character().joints.size());
  EXPECT_NEAR(motion.duration(), 0.4, motion.time_step());

  const Folder folder;
  WriteRun(folder.path() / "run", job, result);
  const StoredRun run(folder.path() / "run");
  const std::vector<control::Motion> stored = SimulateAgain(run);
  ASSERT_EQ(stored.size(), 1U);
  EXPECT_EQ(control::Fingerprint(stored[0].states().back()), control::Fingerprint(motion.states().back()));

  control::Push push;
  push.body = run.scene.characters[0].root;
  push.force = Vec3(200, 0, 0);
  push.duration = 0.1;
  const std::vector<control::Motion> pushed = SimulateAgain(run, {push});
  EXPECT_GT(pushed[0].states().back()[0].position.x(), motion.states().back()[0].position.x() + 0.01);
}

/// Newton's law: what the ground gives over the motion is the change of momentum and the weight.
TEST(Motion, ForcesAndCenterOfMassAgree) {
  JobOptions options = ShortOptions();
  options.clip.file = kWalk;
  const Job job(options);
  const control::Motion motion = SimulateAgain(job, Reconstruct(job));
  const double mass = motion.character().total_mass(), h = motion.time_step();
  const auto momentum = [&](size_t state) {
    Vec3 sum = Vec3::Zero();
    for (size_t b = 0; b < motion.character().bodies.size(); ++b) {
      sum += motion.character().bodies[b].mass * motion.states()[state][b].linear_velocity;
    }
    return sum;
  };
  Vec3 impulse = Vec3::Zero(), way = Vec3::Zero();
  for (size_t i = 0; i < motion.num_steps(); ++i) {
    impulse += h * motion.ExternalForce(i);
    way += h * momentum(i + 1) / mass;
  }
  const Vec3 weight(0, -mass * kStandardGravity * motion.duration(), 0);
  EXPECT_LT((impulse + weight - (momentum(motion.num_steps()) - momentum(0))).norm(), 1e-3 * weight.norm());
  const Vec3 moved = motion.CenterOfMass(motion.num_steps()) - motion.CenterOfMass(0);
  EXPECT_LT((moved - way).norm(), 0.01);
}

TEST(Motion, NamesWhatThereIs) {
  control::Trajectory trajectory;
  const control::Motion motion(
      character::LoadCharacter(std::string(RETRACE_SOURCE_DIR) + "/data/characters/human.json"), trajectory);
  EXPECT_EQ(motion.character().bodies[motion.BodyIndex("trunk")].name, "trunk");
  EXPECT_THAT([&] { motion.BodyIndex("tail"); },
              ThrowsMessage<UsageError>(HasSubstr("found the body \"tail\", expected one of ")));
  EXPECT_THAT([&] { motion.JointIndex("tail"); }, ThrowsMessage<UsageError>(HasSubstr("found the joint \"tail\"")));
}

/// A standing person leans ahead about the ankles, in a second, onto both hands, and stays.
motion::Clip LeaningOnHands() {
  motion::Clip clip = motion::ReadBvh(std::string(RETRACE_SOURCE_DIR) + "/data/clips/stand.bvh");
  const auto joint = [&](const std::string& name) {
    const auto& joints = clip.skeleton.joints;
    const auto found = std::find_if(joints.begin(), joints.end(), [&](const auto& j) { return j.name == name; });
    return static_cast<size_t>(found - joints.begin());
  };
  motion::Frame rest = clip.frames.front();
  for (Quat& rotation : rest.rotations) rotation = Quat::Identity();
  const double hips = 0.875;  // over the ankles [m]
  clip.frames.assign(241, rest);
  for (size_t f = 0; f < clip.frames.size(); ++f) {
    const double share = std::clamp(static_cast<double>(f) * clip.frame_time - 0.5, 0.0, 1.0);
    const double angle = 0.35 * share * share * (3 - 2 * share);
    motion::Frame& frame = clip.frames[f];
    frame.translations[0] = Vec3(0, 0.075 + hips * std::cos(angle), hips * std::sin(angle));
    frame.rotations[0] = AxisRotation(0, angle);
    for (const bool left : {true, false}) {
      const std::string side = left ? "Left" : "Right";
      frame.rotations[joint(side + "Foot")] = AxisRotation(0, -angle);
      frame.rotations[joint(side + "Arm")] = AxisRotation(0, -angle / 0.35) * AxisRotation(2, left ? -1.36 : 1.36);
    }
  }
  return clip;
}

TEST(ClipInMemory, ABodyThatLeansOnItsHandsIsTrackedOnATable) {
  JobOptions options;
  options.clip.file = "leaning";
  options.configuration.run.method = Method::kTracking;
  options.configuration.run.tail = 0;
  const Job job(options, LeaningOnHands());
  ASSERT_EQ(job.configuration.task.world.environment.boxes.size(), 1u);
  EXPECT_EQ(job.configuration.task.world.environment.boxes[0].name, "table_1");
  const Reconstruction found = Reconstruct(job);
  EXPECT_TRUE(found.success());
  EXPECT_LT(found.evaluation.mean_joint_error, 0.06);
  options.configuration.task.ground = task::GroundSource::kPlain;
  EXPECT_FALSE(Reconstruct(Job(options, LeaningOnHands())).success()) << "it falls where there is none";
}

}  // namespace
}  // namespace retrace::runs
