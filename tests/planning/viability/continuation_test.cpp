#include "retrace/planning/viability/continuation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "retrace/character/kinematics.h"
#include "retrace/jobs/reconstruction_job.h"
#include "retrace/math/rotation.h"
#include "retrace/recordings/bvh.h"

namespace retrace::runs {
namespace {

using character::Pose;

std::filesystem::path ClipOfContinuation(const std::string& name) {
  return std::filesystem::path(RETRACE_SOURCE_DIR) / "data/clips" / (name + ".bvh");
}

/// A part of a clip that ends, with a walk that may follow.
struct Ending {
  Ending(const std::string& name, std::optional<double> end) : job(OptionsOf(name, end)) {
    walk = motion::ReadBvh(ClipOfContinuation("walk"));
  }
  static JobOptions OptionsOf(const std::string& name, std::optional<double> end) {
    JobOptions options;
    options.clip.file = ClipOfContinuation(name);
    options.clip.end = end;
    return options;
  }
  std::vector<Continuation> Of(double seconds, bool with_walk = true) const {
    return ContinuationsOf({*job.prepared, with_walk ? &walk : nullptr}, seconds);
  }
  const character::ReferenceMotion& reference() const { return job.reference(); }

  Job job;
  motion::Clip walk;
};

const Continuation* Find(const std::vector<Continuation>& ways, ContinuationKind kind) {
  for (const Continuation& way : ways) {
    if (way.kind == kind) return &way;
  }
  return nullptr;
}

/// Largest distance that a body goes in a frame [m].
double LargestStep(const character::Character& character, const Pose& from, const Pose& to) {
  character::State before, after;
  character::ForwardKinematics(character, from, before);
  character::ForwardKinematics(character, to, after);
  double largest = 0;
  for (size_t b = 0; b < before.size(); ++b) {
    largest = std::max(largest, (before[b].position - after[b].position).norm());
  }
  return largest;
}

TEST(Continuation, EachGoesOnWithoutAJumpForAsLongAsAsked) {
  for (const auto& [name, end] : {std::pair{"stand", 0.8}, {"walk", 1.6}, {"walk", 2.2}}) {
    const Ending ending(name, end);
    const std::vector<Continuation> ways = ending.Of(1.5);
    ASSERT_FALSE(ways.empty());
    for (const Continuation& way : ways) {
      EXPECT_EQ(way.poses.size(), static_cast<size_t>(std::lround(1.5 / ending.reference().frame_time())));
      const Pose* before = &ending.reference().poses().back();
      for (const Pose& pose : way.poses) {
        EXPECT_LT(LargestStep(ending.job.character(), *before, pose), 8 * ending.reference().frame_time())
            << name << " " << Name(way.kind);
        before = &pose;
      }
      EXPECT_TRUE(IsUp(ending.job.character(), way.poses.back()));
      EXPECT_EQ(way.followed, 0);
    }
  }
}

TEST(Continuation, AStandContinuesStandingAndAWalkWalking) {
  const Ending stand("stand", 0.8), walk("walk", 2.2);
  EXPECT_EQ(stand.Of(1).front().kind, ContinuationKind::kStill);
  EXPECT_NE(walk.Of(1).front().kind, ContinuationKind::kStill);
  EXPECT_TRUE(Find(walk.Of(1), ContinuationKind::kStill));
  EXPECT_TRUE(Find(stand.Of(1), ContinuationKind::kWalk));
  EXPECT_FALSE(Find(stand.Of(1, false), ContinuationKind::kWalk));
}

/// What the recording holds after the part: the same poses as in a longer part of it.
TEST(Continuation, TheRecordingGoesOnWhereThePartEnds) {
  const Ending part("walk", 1.6), longer("walk", 3);
  const std::vector<Continuation> ways = part.Of(1);
  const Continuation* const clip = Find(ways, ContinuationKind::kClip);
  ASSERT_TRUE(clip);
  const std::vector<Pose>& poses = clip->poses;
  const size_t first = part.reference().poses().size();
  for (size_t f = 20; f < poses.size(); ++f) {
    const Pose& expected = longer.reference().poses()[first + f];
    EXPECT_LT((poses[f].root_position - expected.root_position).norm(), 0.01);
    for (size_t j = 0; j < expected.joint_rotations.size(); ++j) {
      EXPECT_LT(AngleBetween(poses[f].joint_rotations[j], expected.joint_rotations[j]), 0.01);
    }
  }
  // After the whole recording nothing is left.
  EXPECT_FALSE(Find(Ending("walk", {}).Of(1), ContinuationKind::kClip));
  EXPECT_FALSE(Find(Ending("walk", 3.19).Of(1), ContinuationKind::kClip));
}

/// It goes on at the velocity of its end, which fades away with a time constant of 0.2 s.
TEST(Continuation, StandingStillTheRootComesToRest) {
  const Ending walk("walk", 1.6);
  const character::ReferenceMotion& reference = walk.reference();
  character::State end;
  reference.StateAt(reference.duration(), end);
  Vec3 velocity = character::CenterOfMassVelocity(reference.character(), end);
  velocity.y() = 0;
  const std::vector<Continuation> ways = walk.Of(3);
  const Continuation* const still = Find(ways, ContinuationKind::kStill);
  ASSERT_TRUE(still);
  for (const size_t frame : {size_t{0}, size_t{9}, still->poses.size() - 1}) {
    const double time = static_cast<double>(frame + 1) * reference.frame_time();
    const Vec3 moved = still->poses[frame].root_position - reference.poses().back().root_position;
    EXPECT_LT((moved - 0.2 * (1 - std::exp(-time / 0.2)) * velocity).norm(), 1e-9);
    EXPECT_EQ(still->poses[frame].joint_rotations[3].coeffs(), reference.poses().back().joint_rotations[3].coeffs());
  }
}

TEST(Continuation, ALyingPoseHasNone) {
  EXPECT_TRUE(Ending("roll_sideways", 0.6).Of(1, false).empty());
}

TEST(Continuation, UprightAndAirbornePosesAreDistinguished) {
  const character::Character human =
      character::LoadCharacter(std::string(RETRACE_SOURCE_DIR) + "/data/characters/human.json");
  Pose pose;
  pose.root_position = human.bodies[static_cast<size_t>(human.root)].rest_position;
  pose.joint_rotations.assign(human.joints.size(), Quat::Identity());
  EXPECT_TRUE(IsUp(human, pose));
  EXPECT_FALSE(IsInTheAir(human, pose));  // the feet are on the floor
  pose.root_position.y() += 0.04;
  EXPECT_FALSE(IsInTheAir(human, pose));
  pose.root_position.y() += 0.02;
  EXPECT_TRUE(IsInTheAir(human, pose));
  pose.root_position.y() = 0.501 * human.bodies[static_cast<size_t>(human.root)].rest_position.y();
  EXPECT_TRUE(IsUp(human, pose));
  pose.root_position.y() *= 0.99;
  EXPECT_FALSE(IsUp(human, pose));
}

TEST(Continuation, HasANameForEachKind) {
  EXPECT_EQ(Name(ContinuationKind::kClip), "clip");
  EXPECT_EQ(Name(ContinuationKind::kCycle), "cycle");
  EXPECT_EQ(Name(ContinuationKind::kStill), "still");
  EXPECT_EQ(Name(ContinuationKind::kWalk), "walk");
}

}  // namespace
}  // namespace retrace::runs
