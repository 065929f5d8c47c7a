/// Feedback along the bundled walk as it is tracked, from the folder of the run to pushes and other worlds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "retrace/control/push_text.h"
#include "retrace/io/error.h"
#include "retrace/io/file.h"
#include "retrace/jobs/push_table.h"
#include "retrace/jobs/stabilize.h"
#include "retrace/jobs/tracking_run.h"
#include "retrace/parallel/rank_report.h"
#include "retrace/parallel/task_farm.h"
#include "retrace/parallel/thread_farm.h"
#include "retrace/runs/inputs/world_input.h"
#include "retrace/runs/stored/perturbation.h"
#include "retrace/runs/stored/replay_files.h"
#include "retrace/runs/stored/stored_feedback.h"
#include "retrace/runs/stored/stored_scene.h"
#include "retrace/runs/stored/verification.h"

namespace retrace::runs {
namespace {

using stabilization::Options;
using stabilization::ReindexingOptions;

class Stabilization : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::filesystem::path(testing::TempDir()) / ("stabilization_" + std::to_string(::getpid()));
    std::filesystem::remove_all(folder_);
    JobOptions options;
    options.clip.file = std::string(RETRACE_SOURCE_DIR) + "/data/clips/walk.bvh";
    const Job job(options);
    const Tracking tracked = Track(job);
    {
      results::RunFolder folder(folder_, false);
      WriteTracking(folder, job, tracked, {}, KeptFiles::kAll);
    }
    Write({});
  }
  static void TearDownTestSuite() { std::filesystem::remove_all(folder_); }

  /// Makes the feedback of the folder.
  static void Write(const Options& options) {
    const StabilizationJob job(folder_, options);
    const auto farm = parallel::MakeThreadFarm(1, stabilization::MakeWorkerFactory(job.problem));
    WriteFeedback(job, Stabilize(job, *farm), true);
  }

  static ReindexingOptions ByTime() {
    ReindexingOptions options;
    options.candidates = 0;
    return options;
  }

  /// How many of the pushes the feedback withstands.
  static int Withstood(const StoredRun& run, const RunFeedback& feedback) {
    PushTableOptions table;
    table.body = "trunk";
    table.forces = {75};
    table.times = {0.7, 1.3};
    const Replayed unpushed = Replay(run);
    int count = 0;
    for (const PushOutcome& outcome : TryPushes(run, unpushed.first(), table, [&](std::vector<control::Push> pushes) {
           return ReplayWithFeedback(run, feedback, std::move(pushes)).replayed;
         })) {
      count += outcome.left ? 0 : 1;
    }
    return count;
  }

  static std::filesystem::path folder_;
};
std::filesystem::path Stabilization::folder_;

TEST_F(Stabilization, LeavesTheMotionAsItIsToTheBit) {
  const StoredRun run(folder_);
  const RunFeedback feedback(run, {});
  EXPECT_TRUE(feedback.feedback.full_servos);
  const FeedbackReplay with = ReplayWithFeedback(run, feedback);
  const Replayed without = Replay(run);
  ASSERT_EQ(with.replayed.first().states.size(), without.first().states.size());
  for (size_t i = 0; i < without.first().states.size(); ++i) {
    ASSERT_EQ(control::Fingerprint(with.replayed.first().states[i]), control::Fingerprint(without.first().states[i]))
        << i;
  }
  EXPECT_EQ(with.LargestTorque(), 0);
  EXPECT_EQ(with.simulations, 0u);
}

TEST_F(Stabilization, FullServosMakeTheSameMotionButForRounding) {
  const StoredRun run(folder_);
  const RunFeedback feedback(run, {});
  control::OpenLoopControl stiff = feedback.control;
  stiff.fragments = feedback.full_servos;
  const control::Trajectory motion = control::Replay(feedback.character, stiff);
  const control::Trajectory stored = control::Replay(feedback.character, feedback.control);
  const auto largest = [&](size_t steps) {
    double distance = 0;
    for (size_t i = 0; i <= steps; ++i) {
      for (size_t b = 0; b < motion.states[i].size(); ++b) {
        distance = std::max(distance, (motion.states[i][b].position - stored.states[i][b].position).norm());
      }
    }
    return distance;
  };
  EXPECT_LT(largest(1), 1e-12);
  EXPECT_LT(largest(24), 1e-9);
  EXPECT_LT(largest(240), 1e-2);  // by then contacts have made the rounding large
  EXPECT_GT(largest(24), 0);
}

TEST_F(Stabilization, WithstandsPushesThatTheOpenLoopDoesNotAndThatWrongFeedbackDoesNot) {
  const StoredRun run(folder_);
  std::optional<RunFeedback> feedback(std::in_place, run, ByTime());
  const int good = Withstood(run, *feedback);
  // Gains of 0.3 s later.
  const auto size = static_cast<size_t>(feedback->feedback.num_differences() * feedback->feedback.num_torques());
  std::vector<float>& gains = feedback->feedback.gains;
  std::rotate(gains.begin(), gains.begin() + static_cast<std::ptrdiff_t>(18 * size), gains.end());
  const int shifted = Withstood(run, *feedback);
  gains.assign(gains.size(), 0);
  const int stiff = Withstood(run, *feedback);
  Options options;
  options.torque_cost = 1e-12;
  options.turn_cost = 1e-2;
  Write(options);
  const int turns = Withstood(run, feedback.emplace(run, ByTime()));
  Write({});
  const int chosen = Withstood(run, feedback.emplace(run, ReindexingOptions{}));
  int open = 0;
  PushTableOptions table{"trunk", {75}, {0.7, 1.3}, 0.2};
  for (const PushOutcome& outcome : TryPushes(run, Replay(run).first(), table)) open += outcome.left ? 0 : 1;
  std::printf("of 8: open %d, feedback %d, chosen nodes %d; gains later %d, none %d, turns %d\n", open, good, chosen,
              shifted, stiff, turns);
  EXPECT_LE(open, 1);
  EXPECT_GE(good, 5);
  EXPECT_GE(chosen, good);
  EXPECT_LE(shifted, good / 2);
  EXPECT_LE(stiff, good / 2);
  EXPECT_LE(turns, good / 2);
}

TEST_F(Stabilization, HoldsInWorldsThatItWasNotMadeIn) {
  Perturbation heavier, lighter, rough;
  heavier.gravity = 10.6;
  lighter.gravity = 9.0;
  rough.friction = 1.2;
  rough.mass = 66;
  Perturbation noisy;
  noisy.noise = 0.03;
  for (const Perturbation& perturbation : {heavier, lighter, rough, noisy}) {
    StoredRun run(folder_);
    const RunFeedback feedback(run, {});
    Perturb(perturbation, run);
    EXPECT_TRUE(ReplayWithFeedback(run, feedback).replayed.success()) << io::Dump(io::Write(perturbation));
    EXPECT_FALSE(Replay(run).success()) << io::Dump(io::Write(perturbation));
  }
  StoredRun run(folder_);
  const RunFeedback feedback(run, {});
  PutInto(ReadWorlds({"vest"}), run);
  EXPECT_TRUE(ReplayWithFeedback(run, feedback).replayed.success());
}

TEST_F(Stabilization, WhatItDoesReplaysToTheSameBits) {
  StoredRun run(folder_);
  const RunFeedback feedback(run, {});
  Perturbation perturbation;
  perturbation.friction = 1.2;
  perturbation.mass = 65;
  perturbation.noise = 0.01;
  Perturb(perturbation, run);
  const std::vector<control::Push> pushes = {control::ParsePush("trunk,40:0:0,1,0.2", run.scene)};
  const FeedbackReplay replay = ReplayWithFeedback(run, feedback, pushes);
  EXPECT_GT(replay.LargestTorque(), 1);
  const std::filesystem::path out = folder_.string() + "_pushed";
  std::filesystem::remove_all(out);
  {
    results::RunFolder folder(out, false);
    ReplayOptions options;
    options.feedback = &feedback;
    options.feedback_replay = &replay;
    options.perturbation = io::Write(perturbation);
    WriteReplay(folder, run, replay.replayed, {}, options);
  }
  EXPECT_EQ(Verify(StoredRun(out)).difference, "");
  const io::Json manifest = io::ReadJson(out / "manifest.json");
  EXPECT_EQ(manifest["program"], "replay with feedback");
  EXPECT_EQ(manifest["perturbation"]["character"]["mass"], 65);
  EXPECT_TRUE(std::filesystem::exists(out / "feedback.csv"));
  // It can be stabilized in its turn.
  const StabilizationJob again(out, {});
  EXPECT_EQ(again.problem.nominal.states.size(), feedback.feedback.nominal.size());
  std::filesystem::remove_all(out);
}

TEST_F(Stabilization, RefusesFeedbackOfAnotherControlOrCharacter) {
  const std::filesystem::path file = folder_ / "feedback.bin";
  const std::string kept = io::ReadFile(file);
  const auto complaint = [&](const std::string& bytes) {
    if (bytes.empty()) {
      std::filesystem::remove(file);
    } else {
      io::WriteFile(file, bytes);
    }
    const StoredRun run(folder_);
    try {
      const RunFeedback feedback(run, {});
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  control::Feedback feedback = control::ParseFeedback(kept, "");
  feedback.control_sha256[0] = feedback.control_sha256[0] == '0' ? '1' : '0';
  EXPECT_THAT(complaint(control::FormatFeedback(feedback)), testing::HasSubstr("found feedback of another control"));
  feedback.character_sha256 = "robot";
  EXPECT_THAT(complaint(control::FormatFeedback(feedback)), testing::HasSubstr("found feedback of another character"));
  EXPECT_THAT(complaint(kept.substr(0, 5000)), testing::HasSubstr("bytes after the first line"));
  EXPECT_THAT(complaint(""), testing::HasSubstr("found no such file, expected feedback, which stabilize makes"));
  io::WriteFile(file, kept);
}

}  // namespace
}  // namespace retrace::runs
