#include "retrace/jobs/inverse_dynamics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobs/gait_files.h"
#include "jobs/measured_comparison.h"
#include "jobs/sample_runs.h"
#include "retrace/io/error.h"
#include "retrace/jobs/forces.h"

namespace retrace::runs {
namespace {

JobOptions EstimateOfAWalk() {
  JobOptions options = TrackedOptions("walk", 0.8);
  options.character = kForcesCharacter;
  options.configuration = ForcesConfiguration();
  return options;
}

TEST(InverseDynamics, SmoothsAFilteredRecordingAsLittleAsItCan) {
  const Job job = JobOfEstimate(EstimateOfAWalk());
  EXPECT_GE(job.configuration.task.reference.smoothing, 0.015);
  EXPECT_FALSE(job.configuration.task.reference.lift_root);
  JobOptions given = EstimateOfAWalk();
  given.configuration.task.reference.smoothing = 0.03;
  EXPECT_EQ(JobOfEstimate(given).configuration.task.reference.smoothing, 0.03) << "what a user sets holds";
}

TEST(InverseDynamics, FeetCarryTheWeightOfAWalk) {
  const Job job = JobOfEstimate(EstimateOfAWalk());
  const ForceEstimate estimate = EstimateForces(job);
  const size_t poses = job.reference().poses().size();
  ASSERT_EQ(estimate.ground.num_states, poses);
  EXPECT_EQ(static_cast<size_t>(estimate.joint_loads.values.rows()), poses);
  EXPECT_FALSE(estimate.comparison);
  const auto feet = metrics::FindFeet(job.character(), estimate.ground.plates);
  ASSERT_TRUE(feet);
  const metrics::FootForces forces = metrics::FootForcesOf(estimate.ground, *feet);
  EXPECT_NEAR(forces.total.col(1).mean() / (job.character().total_mass() * kStandardGravity), 1, 0.1);
  // Newton's law holds between what is supplied and what is missing.
  for (size_t i = 1; i + 1 < poses; ++i) {
    Vec3 supplied = Vec3::Zero();
    for (const auto& support : estimate.motion[i - 1].support) supplied += support.force;
    EXPECT_LT((supplied - forces.total.row(static_cast<Eigen::Index>(i)).transpose()).norm(), 1e-9);
  }
}

TEST(InverseDynamics, TheLoadGoesOverEvenlyFromFootToFoot) {
  JobOptions options = EstimateOfAWalk();
  options.clip.end = 2;
  const Job job = JobOfEstimate(options);
  const ForceEstimate estimate = EstimateForces(job);
  const metrics::FootForces forces =
      metrics::FootForcesOf(estimate.ground, *metrics::FindFeet(job.character(), estimate.ground.plates));
  const double least = 0.05 * job.character().total_mass() * kStandardGravity;
  std::vector<double> shares;  // of the left foot while both carry
  size_t found = 0;
  for (Eigen::Index i = 0; i < forces.left.rows(); ++i) {
    const double left = forces.left(i, 1), right = forces.right(i, 1);
    if (std::min(left, right) > least) {
      shares.push_back(left / (left + right));
      continue;
    }
    if (shares.size() > 4 && static_cast<size_t>(i) > shares.size()) {
      if (shares.front() > shares.back()) {
        for (double& share : shares) share = 1 - share;
      }
      for (size_t k = 0; k < shares.size(); ++k) {
        EXPECT_NEAR(shares[k], static_cast<double>(k + 1) / static_cast<double>(shares.size() + 1), 0.12);
      }
      ++found;
    }
    shares.clear();
  }
  EXPECT_GE(found, 2u);
}

/// What a plate would have measured if the estimate were right and its clock were late.
motion::MeasuredForces PlatesOf(const Job& job, const ForceEstimate& estimate, double late) {
  motion::MeasuredForces measured;
  const size_t poses = job.reference().poses().size();
  for (size_t i = 0; i < poses; ++i) {
    measured.times.push_back(PlaceOf(job).start + static_cast<double>(i) * job.reference().frame_time() + late);
  }
  measured.valid.assign(poses, true);
  const auto feet = metrics::FindFeet(job.character(), estimate.ground.plates);
  for (const bool left : {true, false}) {
    motion::MeasuredForce& force = measured.forces.emplace_back();
    force.name = left ? "left" : "right";
    force.side = left ? motion::Side::kLeft : motion::Side::kRight;
    for (const metrics::AppliedForce& applied : estimate.ground.forces[left ? feet->left : feet->right]) {
      force.forces.push_back(applied.force);
      force.points.push_back(applied.point);
      force.moments.push_back(applied.moment);
    }
  }
  return measured;
}

TEST(InverseDynamics, PlatesWhoseClockIsLateAreComparedWithoutThat) {
  Job job = JobOfEstimate(EstimateOfAWalk());
  const ForceEstimate estimate = EstimateForces(job);
  job.options.measured = "plates";
  for (const double late : {0.0, 0.024}) {
    job.measured = PlatesOf(job, estimate, late);
    ForceEstimate compared = estimate;
    CompareWithMeasured(job, compared);
    EXPECT_NEAR(compared.delay, late, 0.003);
    ASSERT_TRUE(compared.comparison);
    const auto& total =
        compared.comparison->At("run", results::kTableCutoff, "total", metrics::ForceComponent::kVertical);
    EXPECT_LT(total.rmse, 2);
  }
  // What a user says holds, and is doubted.
  job.options.measured_delay = 0;
  ForceEstimate asked = estimate;
  CompareWithMeasured(job, asked);
  EXPECT_EQ(asked.delay, 0);
  EXPECT_THAT(asked.warnings, testing::Contains(testing::HasSubstr("24 ms late on the clock that was asked for")));
}

TEST(InverseDynamics, PlatesThatCarryAnotherMassAreWarnedOf) {
  JobOptions options = EstimateOfAWalk();
  options.clip.end.reset();
  Job job = JobOfEstimate(options);
  const ForceEstimate estimate = EstimateForces(job);
  job.options.measured = "plates";
  job.measured = PlatesOf(job, estimate, 0);
  for (motion::MeasuredForce& force : job.measured->forces) {
    for (Vec3& one : force.forces) one *= 0.9;
  }
  ForceEstimate compared = estimate;
  CompareWithMeasured(job, compared);
  EXPECT_THAT(compared.warnings, testing::Contains(testing::HasSubstr("kg on average")));
}

TEST(InverseDynamics, EventsAndCyclesAreWritten) {
  JobOptions options = EstimateOfAWalk();
  options.clip.end.reset();
  const Job job = JobOfEstimate(options);
  const ForceEstimate estimate = EstimateForces(job);
  const SampleFolder scratch;
  results::RunFolder folder(scratch.path() / "walk", false, {});
  EXPECT_THAT(WriteFootEvents(folder, job, estimate), testing::HasSubstr("foot strikes"));
  EXPECT_THAT(WriteGaitCycles(folder, job, estimate), testing::HasSubstr("strides"));
}

TEST(InverseDynamics, RefusesMeasuredForcesThatThereAreNot) {
  const Job job = JobOfEstimate(EstimateOfAWalk());
  EXPECT_THROW(EstimateForces(job, {.use_measured = true}), UsageError);
}

}  // namespace
}  // namespace retrace::runs
