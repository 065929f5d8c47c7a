/// Clips in memory, and motions as values.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
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

}  // namespace
}  // namespace retrace::runs
