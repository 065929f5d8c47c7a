/// Tracking of recordings, from the file to the folder of the run.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "retrace/character/kinematics.h"
#include "retrace/io/file.h"
#include "retrace/jobs/tracking_run.h"
#include "retrace/methods/tracking/live_controller.h"
#include "retrace/results/tables.h"
#include "retrace/runs/stored/stored_run.h"
#include "retrace/runs/stored/verification.h"

namespace retrace::runs {
namespace {

JobOptions OptionsOf(const std::string& clip) {
  JobOptions options;
  options.clip.file = clip;
  return options;
}

JobOptions BundledWalk() {
  return OptionsOf(std::string(RETRACE_SOURCE_DIR) + "/data/clips/walk.bvh");
}

TEST(TrackingRun, FollowsTheBundledWalkFromAnyOfFiveStarts) {
  JobOptions options = BundledWalk();
  options.configuration.tracking.perturbation = 0.05;
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    options.configuration.tracking.seed = seed;
    const Tracking result = Track(Job(options));
    EXPECT_TRUE(result.success()) << seed << ": " << result.summary.BriefReport();
    EXPECT_EQ(result.summary.unsolved, 0u);
  }
}

TEST(TrackingRun, GoesWhereALongWalkGoes) {
  JobOptions options = BundledWalk();
  options.clip.loop = 15;
  const auto farthest = [&] { return Track(Job(options)).evaluation.world.worst; };
  EXPECT_LT(farthest(), 0.08);
  // What heals: feet stand still where those of the recording slide, which shortens each step.
  options.configuration.tracking.placement_drift = 0;
  EXPECT_GT(farthest(), 0.4);
}

/// Pose by pose, with a preview of the default.
TEST(TrackingRun, FollowsTheBundledWalkThatIsMadeMeanwhile) {
  JobOptions options = BundledWalk();
  options.clip.loop = 6;
  const Job job(options);
  const character::ReferenceMotion& motion = job.reference();
  simulation::WorldOptions world_options = job.problem.task.world;
  world_options.contact_scale.clear();
  simulation::World world(job.character(), world_options);
  tracking::LiveController controller(job.character(), world_options, motion.frame_time());
  std::vector<simulation::JointCommand> commands(job.character().joints.size());
  character::State state, reference;
  size_t next = 0;
  double farthest = 0;
  for (int step = 0; step * world_options.time_step < motion.duration(); ++step) {
    while (!controller.Suffices(step)) {
      if (next < motion.poses().size()) {
        controller.Append(motion.poses()[next++]);
      } else {
        controller.Finish();
      }
    }
    const double time = step * world_options.time_step;
    EXPECT_LE(static_cast<double>(next), (time + tracking::LiveOptions().preview) / motion.frame_time() + 1.001);
    if (step == 0) world.SetState(controller.StartState());
    if (controller.RestartsAt(step)) world.Restart(0);
    world.GetState(state);
    controller.Command({step, time, state, world.layout()}, commands);
    ASSERT_TRUE(world.Step(commands));
    world.GetState(state);
    motion.StateAt(time + world_options.time_step, reference);
    ASSERT_LE(metrics::LargestGateRatio(job.character(), state, reference, job.problem.task.gates), 1) << time;
    farthest = std::max(farthest, (state[0].position - reference[0].position).norm());
  }
  EXPECT_LT(farthest, 0.15);
}

TEST(TrackingRun, LeavesAFolderThatVerifies) {
  JobOptions options = BundledWalk();
  options.clip.end = 1;
  const Job job(options);
  const Tracking result = Track(job, {"trunk,20:0:0,0.3,0.1"});
  const std::filesystem::path path = std::filesystem::path(testing::TempDir()) / "tracking_run";
  std::filesystem::remove_all(path);
  {
    results::RunFolder folder(path, false);
    WriteTracking(folder, job, result, {});
  }
  const StoredRun run(path);
  ASSERT_EQ(run.pushes.size(), 1u);
  const Verification verification = Verify(run);
  EXPECT_EQ(verification.difference, "");
  EXPECT_EQ(verification.num_states, result.num_steps + 1);
  ASSERT_TRUE(verification.evaluations[0]);
  EXPECT_EQ(verification.evaluations[0]->success(), result.success());
  const io::Json manifest = io::ReadJson(path / "manifest.json");
  EXPECT_EQ(manifest["program"], "track");
  EXPECT_EQ(manifest["perturbed"], true);
  const results::Table table = results::ReadTable(path / results::kTrackingFile);
  EXPECT_EQ(table.num_rows(), result.summary.records.size());
  EXPECT_EQ(table.Numbers("time")[1], 1.0 / 120);
  std::filesystem::remove_all(path);
}

/// How far the lowest point of a motion is over the ground at each pose [m].
std::vector<double> Clearances(const character::ReferenceMotion& motion, const simulation::Environment& ground) {
  std::vector<double> clearances;
  for (const character::State& state : motion.StatesOfPoses()) {
    double least = 1;
    for (size_t b = 0; b < motion.character().bodies.size(); ++b) {
      const Vec3& at = state[b].position;
      const double height = ground.HeightAt(at.x(), at.z(), at.y() + 2);
      least = std::min(least, character::LowestPoint(motion.character().bodies[b], state[b]) - height);
    }
    clearances.push_back(least);
  }
  return clearances;
}

/// What the paper holds against kinematic playback.
TEST(TrackingRun, WalksUpASlopeIntoWhichThePlaybackSinks) {
  JobOptions options = BundledWalk();
  options.worlds = {"ramp"};
  const Job job(options);
  const std::vector<double> playback = Clearances(job.prepared->recorded, job.problem.task.world.environment);
  EXPECT_LT(playback.back(), -0.2) << "10 degrees over 2 m and more";
  const Tracking result = Track(job);
  EXPECT_TRUE(result.success()) << result.summary.BriefReport();
  const control::Trajectory motion = control::Replay(job.character(), result.summary.control);
  const double rise = motion.states.back()[static_cast<size_t>(job.character().root)].position.y() -
                      motion.states.front()[static_cast<size_t>(job.character().root)].position.y();
  EXPECT_GT(rise, 0.2);
}

/// A recorded jump from both feet, which a program of one instant prepares for by the momenta of its take-off.
class RecordedJump : public testing::Test {
 protected:
  void SetUp() override {
    options_ = OptionsOf(std::string(RETRACE_SHARED_DIR) + "/mocap/clips/jump_broad_short_wd2.bvh");
    options_.clip.start = 0.8;
    options_.clip.end = 2.9;
    if (!std::filesystem::exists(options_.clip.file)) GTEST_SKIP() << options_.clip.file << " is missing";
  }
  JobOptions options_;
};

TEST_F(RecordedJump, IsFollowedFromAnyOfThreeStarts) {
  options_.configuration.tracking.perturbation = 0.05;
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    options_.configuration.tracking.seed = seed;
    const Tracking result = Track(Job(options_));
    EXPECT_TRUE(result.success()) << seed << ": " << result.summary.BriefReport();
    ASSERT_EQ(result.prepared.flight.flights.size(), 1u);
  }
}

TEST_F(RecordedJump, FallsWhereTheFlightIsNotForeseen) {
  options_.configuration.tracking.take_off_weight = 0;
  EXPECT_FALSE(Track(Job(options_)).success());
}

/// A real recording of a run, in the plane.
class RecordedRun : public testing::Test {
 protected:
  void SetUp() override {
    options_ = OptionsOf(std::string(RETRACE_SHARED_DIR) + "/mocap/clips/run_cmu_09_06.amc");
    options_.clip.skeleton = std::string(RETRACE_SHARED_DIR) + "/mocap/clips/cmu_09.asf";
    options_.character = "planar_human";
    if (!std::filesystem::exists(options_.clip.file)) GTEST_SKIP() << options_.clip.file << " is missing";
  }
  JobOptions options_;
};

TEST_F(RecordedRun, IsFollowedInThePlaneFromAnyOfThreeStarts) {
  options_.configuration.tracking.perturbation = 0.05;
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    options_.configuration.tracking.seed = seed;
    const Tracking result = Track(Job(options_));
    EXPECT_TRUE(result.success()) << seed << ": " << result.summary.BriefReport();
    // Feet that are a centimeter off the ground while more than half of the weight is required of it do not fly.
    EXPECT_LE(result.prepared.flight.flights.size(), 1u);
  }
}

TEST(RecordedSneak, IsFollowedAndFallsWithoutFeedbackOnThePlaceOverTheFeet) {
  JobOptions options = OptionsOf(std::string(RETRACE_SHARED_DIR) + "/mocap/more/clips/walk_sneak_wd2.bvh");
  if (!std::filesystem::exists(options.clip.file)) GTEST_SKIP() << options.clip.file << " is missing";
  EXPECT_TRUE(Track(Job(options)).success());
  options.configuration.tracking.stance_feedback = 0;
  EXPECT_FALSE(Track(Job(options)).success());
}

/// A real recording of a walk whose feet are some centimeters in the floor.
class RecordedWalk : public testing::Test {
 protected:
  void SetUp() override {
    options_ = OptionsOf(std::string(RETRACE_SHARED_DIR) + "/mocap/clips/walk_m_games105.bvh");
    options_.clip.end = 3.03;
    if (!std::filesystem::exists(options_.clip.file)) GTEST_SKIP() << options_.clip.file << " is missing";
  }
  JobOptions options_;
};

TEST_F(RecordedWalk, IsFollowed) {
  const Tracking result = Track(Job(options_));
  EXPECT_TRUE(result.success()) << result.summary.BriefReport();
  EXPECT_LT(result.evaluation.mean_joint_error, 0.06);
}

TEST_F(RecordedWalk, FallsWithFeetThatAreNotCleaned) {
  options_.configuration.tracking.clean_feet = false;
  EXPECT_FALSE(Track(Job(options_)).success());
}

TEST_F(RecordedWalk, FallsWithServosAlone) {
  options_.configuration.tracking.torque_limit = 1;
  EXPECT_FALSE(Track(Job(options_)).success());
}

}  // namespace
}  // namespace retrace::runs
