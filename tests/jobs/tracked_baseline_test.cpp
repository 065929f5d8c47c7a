/// Targets at which servos give the torques of a tracked motion.
#include "retrace/jobs/tracked_baseline.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "jobs/sample_runs.h"
#include "retrace/math/rotation.h"
#include "retrace/planning/hybrid/hybrid_control.h"

namespace retrace::runs {
namespace {

Job Searched(JobOptions options) {
  options.configuration.run.method = Method::kSampling;
  return WithBaseline(Job(options));
}

/// Largest angle of a joint between two frames' rotations relative to those of the reference.
double LargestStep(const character::ReferenceMotion& reference, const character::ReferenceMotion& baseline) {
  double largest = 0;
  for (size_t f = 0; f + 1 < reference.poses().size(); ++f) {
    for (size_t j = 0; j < reference.poses()[f].joint_rotations.size(); ++j) {
      const auto lead = [&](size_t frame) {
        const Quat& goal = reference.poses()[frame].joint_rotations[j];
        return Quat(baseline.poses()[frame].joint_rotations[j] * goal.conjugate());
      };
      largest = std::max(largest, AngleBetween(lead(f), lead(f + 1)));
    }
  }
  return largest;
}

TEST(TrackedBaseline, IsThatOfASearchAndNotOfTrackingAlone) {
  const Job searched = Searched(TrackedOptions("walk", 0.5));
  ASSERT_NE(searched.tracked, nullptr);
  ASSERT_NE(searched.baseline, nullptr);
  EXPECT_EQ(searched.problem.baseline, searched.baseline.get());
  EXPECT_FALSE(searched.LacksBaseline());
  JobOptions options = TrackedOptions("walk", 0.5);
  options.configuration.run.method = Method::kAuto;
  const Job found = WithBaseline(Job(options));
  ASSERT_NE(found.tracked, nullptr);
  EXPECT_TRUE(found.tracked->success());
  EXPECT_EQ(found.baseline, nullptr) << "the tracked motion is the result";
  options.configuration.run.baseline = Baseline::kReference;
  EXPECT_EQ(WithBaseline(Job(options)).tracked, nullptr);
}

TEST(TrackedBaseline, LeadsTheReferenceWithoutJumps) {
  const Job job = Searched(TrackedOptions("walk", 1));
  double largest = 0;
  for (size_t f = 0; f < job.reference().poses().size(); ++f) {
    for (size_t j = 0; j < job.character().joints.size(); ++j) {
      largest = std::max(largest, AngleBetween(job.baseline->poses()[f].joint_rotations[j],
                                               job.reference().poses()[f].joint_rotations[j]));
    }
  }
  EXPECT_GT(largest, 0.1) << "a leg that carries the body needs a lead";
  EXPECT_LT(LargestStep(job.reference(), *job.baseline), 0.5 * largest);
}

TEST(TrackedBaseline, TakesTheTorquesOfInverseDynamicsFromWhereItIsUsableNoMore) {
  const Job job(TrackedOptions("walk", 1.2));
  const control::OpenLoopControl control = Track(job).summary.control;
  const double usable = 0.6, frame_time = job.reference().frame_time();
  const character::ReferenceMotion baseline = BaselineOf(job, control, usable), required = BaselineOf(job, control, 0),
                                   tracked = BaselineOf(job, control, control.duration());
  double lead = 0, from_tracked = 0;
  for (auto f = static_cast<size_t>((usable + 0.2) / frame_time); f < job.reference().poses().size(); ++f) {
    for (size_t j = 0; j < job.character().joints.size(); ++j) {
      const Quat& target = baseline.poses()[f].joint_rotations[j];
      EXPECT_LT(AngleBetween(target, required.poses()[f].joint_rotations[j]), 1e-6) << f;
      lead = std::max(lead, AngleBetween(target, job.reference().poses()[f].joint_rotations[j]));
      from_tracked = std::max(from_tracked, AngleBetween(target, tracked.poses()[f].joint_rotations[j]));
    }
  }
  EXPECT_GT(lead, 0.1) << "a leg that carries the body needs a lead";
  EXPECT_LT(from_tracked, 2 * lead) << "they are torques of the same motion";
  EXPECT_LT(LargestStep(job.reference(), baseline), 0.3);
}

TEST(TrackedBaseline, IsThatOfTrackedAndSearchedPartsWhereTrackingIsLost) {
  const Job job = Searched(TrackedOptions("roll_sideways", 1));
  ASSERT_NE(job.tracked, nullptr);
  ASSERT_FALSE(job.tracked->success());
  ASSERT_NE(job.hybrid, nullptr);
  ASSERT_NE(job.baseline, nullptr);
  const double lost = job.tracked->evaluation.FirstViolated()->first_violation;
  ASSERT_GT(job.hybrid->control.duration(), lost + 0.1);
  const auto f = static_cast<size_t>(lost / job.reference().frame_time());
  double largest = 0;
  for (size_t j = 0; j < job.character().joints.size(); ++j) {
    largest = std::max(largest, AngleBetween(job.baseline->poses()[f].joint_rotations[j],
                                             job.reference().poses()[f].joint_rotations[j]));
  }
  EXPECT_GT(largest, 0.05);
}

TEST(TrackedBaseline, ASeedForgetsWhatWasTrackedAndKeepsTheBaseline) {
  Job job = Searched(TrackedOptions("walk", 0.5));
  const auto baseline = job.baseline;
  job.SetSeed(5);
  EXPECT_EQ(job.tracked, nullptr);
  EXPECT_EQ(job.hybrid, nullptr);
  EXPECT_EQ(job.baseline, baseline);
  EXPECT_FALSE(job.LacksBaseline());
}

}  // namespace
}  // namespace retrace::runs
