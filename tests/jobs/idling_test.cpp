/// Idling on the furniture that comes with the toolkit, and what is refused.
#include "retrace/jobs/idling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "retrace/character/kinematics.h"
#include "retrace/control/control_file.h"
#include "retrace/io/error.h"
#include "retrace/math/rotation.h"
#include "retrace/methods/idling/relax.h"
#include "retrace/methods/idling/support.h"

namespace retrace::runs {
namespace {

using testing::HasSubstr;

IdlingOptions On(const std::string& world) {
  IdlingOptions options;
  options.keys = "sitting";
  options.worlds = {world};
  options.options.duration = 12;
  options.options.paths = 2;
  return options;
}

/// The first keys alone: planning takes a time that grows with the square of their number.
std::unique_ptr<IdlingJob> JobOf(const IdlingOptions& options, size_t keys = 2) {
  auto job = std::make_unique<IdlingJob>(options);
  job->problem.keys = {job->problem.keys[0], job->problem.keys[std::min<size_t>(3, job->problem.keys.size() - 1)]};
  job->problem.keys.resize(keys);
  return job;
}

std::string TextOf(const IdlingJob& job, const idling::Summary& summary) {
  return control::FormatControl(job.character, summary.control);
}

// ---- relaxing

TEST(Relaxing, EveryKeyRestsOnEveryPieceOfFurniture) {
  for (const char* world : {"armchair", "stool", "rocker"}) {
    const IdlingJob job(On(world));
    for (const idling::KeyPose& key : job.problem.keys) {
      const idling::RelaxedKey relaxed = idling::Relax(job.problem, key);
      EXPECT_LT(relaxed.joint_rate, 0.05) << world << " " << key.name;
      EXPECT_TRUE(relaxed.at_rest);
    }
  }
}

/// Of the mend: 18 of these 32 trembled with 0.4 to 4.5 rad/s for ever.
TEST(Relaxing, HandsOnASeatRestWhateverTheGainAndThePlace) {
  for (const bool armrests : {false, true}) {
    for (const double gain : {1.0, 0.7}) {
      IdlingOptions options = On("armchair");
      options.options.gain = gain;
      IdlingJob job(options);
      std::vector<simulation::Box>& boxes = job.problem.world.environment.boxes;
      std::erase_if(boxes, [&](const simulation::Box& box) {
        return box.name.ends_with("post") || (!armrests && box.name.ends_with("armrest"));
      });
      boxes[0].size.x() = 0.64;  // wide enough for hands beside the thighs
      for (const auto& [forward, elbow, shoulder] : {std::array{0.0, 25.0, 85.0},
                                                     {0.0, 10.0, 85.0},
                                                     {0.0, 40.0, 85.0},
                                                     {0.0, 25.0, 75.0},
                                                     {0.0, 25.0, 65.0},
                                                     {-0.05, 25.0, 80.0},
                                                     {0.05, 10.0, 70.0},
                                                     {0.0, 60.0, 70.0}}) {
        idling::KeyPose key = job.problem.keys[1];
        character::Pose& pose = key.pose;
        pose.root_position = Vec3(0, 0.51, 0.12 + forward);
        pose.root_orientation = AxisRotation(0, Radians(-25));
        const auto set = [&](const std::string& joint, const Quat& rotation) {
          pose.joint_rotations[static_cast<size_t>(job.character.FindJoint(joint))] = rotation;
        };
        set("waist", AxisRotation(0, Radians(15)));
        for (const double side : {1.0, -1.0}) {
          const std::string name = side > 0 ? "left_" : "right_";
          set(name + "hip", AxisRotation(0, Radians(-62)) * AxisRotation(2, Radians(6 * side)));
          set(name + "knee", AxisRotation(0, Radians(70)));
          set(name + "ankle", AxisRotation(0, Radians(10)));
          set(name + "shoulder", AxisRotation(0, Radians(15)) * AxisRotation(2, Radians(-side * shoulder)));
          set(name + "elbow", AxisRotation(1, Radians(-side * elbow)));
        }
        EXPECT_LT(idling::Relax(job.problem, key).joint_rate, 0.005)
            << armrests << " " << gain << " " << forward << " " << elbow << " " << shoulder;
      }
    }
  }
}

// ---- the whole

TEST(Idling, StaysOnTheSeatAndReplaysToTheSameBits) {
  const auto job = JobOf(On("armchair"));
  const Idling result = Idle(*job);  // compares with a replay in a new world
  const idling::Summary& summary = result.summary;
  EXPECT_TRUE(result.success());
  EXPECT_EQ(result.num_steps, 2880u);
  EXPECT_EQ(result.invalid_steps, 0u);
  EXPECT_LT(result.largest_root_offset, job->problem.options.root_limit);
  EXPECT_GT(result.mean_joint_rate, 0.01);  // it does move
  EXPECT_EQ(job->world.environment.ObjectName(static_cast<size_t>(summary.object)), "seat");
  // The parts follow one another, each from the key at which the one before ended.
  int step = 0;
  for (size_t k = 0; k < summary.played.size(); ++k) {
    const idling::Played& played = summary.played[k];
    EXPECT_EQ(played.first_step, step);
    EXPECT_EQ(played.leg.from, k > 0 ? summary.played[k - 1].leg.to : 0);
    EXPECT_EQ(played.leg.to, played.path < 0 ? played.leg.from : summary.paths[static_cast<size_t>(played.path)].to);
    step += played.num_steps;
  }
  EXPECT_EQ(step, 2880);
}

TEST(Idling, TheSameSeedGivesTheSameBytesAndAnotherOneOthers) {
  IdlingOptions options = On("stool");
  const auto text = [&] {
    const auto job = JobOf(options);
    return TextOf(*job, idling::Run(job->problem));
  };
  const std::string first = text();
  EXPECT_EQ(text(), first);
  options.options.seed = 2;
  EXPECT_NE(text(), first);
}

TEST(Idling, PathsOfAPairReachTheKeyAndDiffer) {
  IdlingOptions options = On("armchair");
  options.options.paths = 3;
  const auto job = JobOf(options);
  const idling::Summary summary = idling::Run(job->problem);
  const idling::Support support = idling::FindSupport(job->problem, summary.keys);
  ASSERT_EQ(summary.pairs.size(), 2u);
  for (const idling::PairOfKeys& pair : summary.pairs) EXPECT_EQ(pair.found, 3);
  for (const idling::Path& path : summary.paths) {
    // Each is an open-loop control of its own from the relaxed key.
    control::OpenLoopControl control{job->problem.world, summary.keys[path.from].settled, {}};
    control::TargetPose before = summary.keys[path.from].targets;
    for (const idling::Drive& drive : path.drives) {
      control.fragments.push_back({control.num_steps(), drive.num_steps, {before, drive.target}});
      before = drive.target;
    }
    const control::Trajectory motion = control::Replay(job->character, control);
    EXPECT_LE(support.PoseDistance(motion.states.back(), summary.keys[path.to].settled), 0.1);
    EXPECT_NEAR(support.PoseDistance(motion.states.back(), summary.keys[path.to].settled), path.distance, 1e-12);
    EXPECT_EQ(before[0].coeffs(), summary.keys[path.to].targets[0].coeffs());
  }
}

TEST(Idling, AChoiceIsKept) {
  IdlingOptions options = On("armchair");
  options.choices = {"upright:one_arm:2"};
  const auto job = JobOf(options);
  job->problem.choices[0].leg = {0, 1};  // of the keys that are left
  const idling::Summary summary = idling::Run(job->problem);
  int played = 0;
  for (const idling::Played& part : summary.played) {
    if (part.path < 0 || part.leg != idling::Leg{0, 1}) continue;
    EXPECT_EQ(summary.paths[static_cast<size_t>(part.path)].number, 2);
    ++played;
  }
  EXPECT_GT(played, 0);
}

TEST(Idling, BreathesAtASingleKey) {
  const auto job = JobOf(On("stool"), 1);
  const Idling result = Idle(*job);
  EXPECT_TRUE(result.success());
  EXPECT_TRUE(result.summary.paths.empty());
  IdlingOptions still = On("stool");
  still.options.noise = 0;
  EXPECT_LT(Idle(*JobOf(still, 1)).mean_joint_rate, 0.1 * result.mean_joint_rate);
}

/// The targets that were found on the armchair rock the rocker, of the same seat, back and rests.
TEST(Idling, TheTargetsOfTheChairRockTheRocker) {
  IdlingOptions options = On("armchair");
  options.options.duration = 20;
  IdlingJob job(options);
  job.problem.keys = {job.problem.keys[0], job.problem.keys[2]};  // upright, forward
  const idling::Summary summary = idling::Run(job.problem);
  const IdlingJob rocker(On("rocker"));
  control::OpenLoopControl control = summary.control;
  control.world.environment = rocker.problem.world.environment;
  control.world.environment.AppendStart(control.start);
  const control::Trajectory motion = control::Replay(job.character, control);
  ASSERT_FALSE(motion.diverged);
  double low = 0, high = 0;
  for (const character::State& state : motion.states) {
    const double tilt = RotationVector(state.back().orientation).x();
    low = std::min(low, tilt);
    high = std::max(high, tilt);
  }
  EXPECT_GT(Degrees(high - low), 3);
  EXPECT_LT(Degrees(high - low), 45);  // without falling over
}

// ---- what is refused

class KeyFile : public testing::Test {
 protected:
  static InputFile Text(const std::string& keys) {
    return {{{kKeysRole, "keys.json"}, ""}, R"({"format": "retrace-keys", "version": 1, "keys": [)" + keys + "]}"};
  }
  static void Expect(const std::string& keys, const std::string& place, const std::string& what) {
    const auto character = character::LoadCharacter(std::string(RETRACE_SOURCE_DIR) + "/data/characters/human.json");
    try {
      ParseKeyPoses(Text(keys), character);
      ADD_FAILURE() << keys;
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr("keys.json: " + place));
      EXPECT_THAT(error.what(), HasSubstr(what));
    }
  }
};

TEST_F(KeyFile, IsReadAsItIsMeant) {
  const auto human = character::LoadCharacter(std::string(RETRACE_SOURCE_DIR) + "/data/characters/human.json");
  const KeyPoses keys = ParseKeyPoses(Text(R"({"name": "a", "root": {"position": [1, 2, 3], "turns": [["y", 90]]},
      "joints": {"left_shoulder": [["z", -90], ["x", -90]], "left_knee": 30}})"),
                                      human);
  ASSERT_EQ(keys.poses.size(), 1u);
  const character::Pose& pose = keys.poses[0].pose;
  EXPECT_EQ(pose.root_position, Vec3(1, 2, 3));
  EXPECT_TRUE((pose.root_orientation * Vec3::UnitZ()).isApprox(Vec3::UnitX()));
  // The arm along x first hangs down, then points ahead.
  const Quat arm = pose.joint_rotations[static_cast<size_t>(human.FindJoint("left_shoulder"))];
  EXPECT_TRUE((arm * Vec3::UnitX()).isApprox(Vec3::UnitZ()));
  EXPECT_NEAR(AngleBetween(pose.joint_rotations[static_cast<size_t>(human.FindJoint("left_knee"))], Quat::Identity()),
              Radians(30), 1e-12);
  EXPECT_EQ(pose.joint_rotations[static_cast<size_t>(human.FindJoint("neck"))].coeffs(), Quat::Identity().coeffs());
}

TEST_F(KeyFile, TakesAPoseFromAClip) {
  const auto human = character::LoadCharacter(std::string(RETRACE_SOURCE_DIR) + "/data/characters/human.json");
  const std::string clip = std::string(RETRACE_SOURCE_DIR) + "/data/clips/squat.bvh";
  const KeyPoses keys = ParseKeyPoses(
      Text(R"({"name": "a", "clip": ")" + clip + R"(@0"}, {"name": "b", "clip": ")" + clip + R"(@1.2"})"), human);
  ASSERT_EQ(keys.poses.size(), 2u);
  EXPECT_EQ(keys.clips.size(), 2u);
  EXPECT_LT(keys.poses[1].pose.root_position.y(), keys.poses[0].pose.root_position.y() - 0.1);
  EXPECT_EQ(keys.poses[1].pose.root_position.x(), 0);
  EXPECT_LT(AngleBetween(Heading(keys.poses[1].pose.root_orientation), Quat::Identity()), 1e-6);
}

TEST_F(KeyFile, IsRefusedWithPlaceAndReason) {
  const std::string clip = std::string(RETRACE_SOURCE_DIR) + "/data/clips/squat.bvh";
  Expect("", "/keys", "at least one key pose");
  Expect(R"({"name": "a", "root": {"position": [0, 1, 0]}, "joints": {"left_wing": 3}})", "/keys/0/joints/left_wing",
         "a joint that human does not have");
  Expect(R"({"name": "a", "root": {"position": [0, 1, 0]}, "joints": {"left_hip": 3}})", "/keys/0/joints/left_hip",
         "array");
  Expect(R"({"name": "a", "root": {"position": [0, 1, 0]}, "joints": {"left_hip": [["w", 3]]}})",
         "/keys/0/joints/left_hip/0/0", "\"x\", \"y\" or \"z\"");
  Expect(R"({"name": "a", "root": {"position": [0, 1, 0]}, "joints": {"left_knee": 400}})", "/keys/0/joints/left_knee",
         "400");
  Expect(R"({"name": "a"})", "/keys/0", "root");
  Expect(R"({"name": "a", "root": {"position": [0, 1, 0]}}, {"name": "a", "root": {"position": [0, 1, 0]}})",
         "/keys/1/name", "no other key");
  Expect(R"({"name": "a", "clip": ")" + clip + R"(@99"})", "/keys/0/clip", "found second 99, expected one from 0 to");
  Expect(R"({"name": "a", "clip": ")" + clip + R"("})", "/keys/0/clip", "CLIP@SECOND");
  Expect(R"({"name": "a", "clip": "clip.txt@1"})", "/keys/0/clip", "expected a file that ends with .bvh, .amc");
}

TEST(IdlingJob, AWorldThatDoesNotHoldTheKeysIsRefused) {
  const auto expect = [](const IdlingOptions& options, const std::string& what) {
    try {
      const IdlingJob job(options);
      idling::Run(job.problem);
      ADD_FAILURE() << what;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr(what));
    }
  };
  IdlingOptions options = On("armchair");
  options.worlds.clear();
  expect(options, "sitting.json: /keys/0 (upright): found a pose that comes to rest with its root");
  expect(On("platform"), "moves on a course");
  expect(On("pebbles"), "idling has no recording");
  options = On("armchair");
  options.choices = {"upright:lying:1"};
  expect(options, "found the key \"lying\", expected one of upright");
  options.choices = {"upright:forward:3"};
  expect(options, "numbers of paths from 1 to 2");
  options.choices = {"upright"};
  expect(options, "FROM:TO:NUMBERS");
}

}  // namespace
}  // namespace retrace::runs
