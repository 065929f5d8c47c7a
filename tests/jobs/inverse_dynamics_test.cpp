#include "retrace/jobs/inverse_dynamics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

TEST(InverseDynamics, RefusesMeasuredForcesThatThereAreNot) {
  const Job job = JobOfEstimate(EstimateOfAWalk());
  EXPECT_THROW(EstimateForces(job, {.use_measured = true}), UsageError);
}

}  // namespace
}  // namespace retrace::runs
