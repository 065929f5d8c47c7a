#include "retrace/jobs/inverse_dynamics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobs/force_page.h"
#include "jobs/gait_files.h"
#include "jobs/measured_comparison.h"
#include "jobs/residuals.h"
#include "jobs/sample_runs.h"
#include "recordings/sample_opensim.h"
#include "retrace/io/error.h"
#include "retrace/io/file.h"
#include "retrace/jobs/forces.h"
#include "retrace/math/rotation.h"
#include "retrace/recordings/bvh.h"
#include "retrace/results/tables.h"

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

/// The same plates in other axes, and with sides that may be exchanged.
motion::MeasuredForces InOtherAxes(motion::MeasuredForces measured, const metrics::MeasurementPlace& place) {
  for (motion::MeasuredForce& force : measured.forces) {
    if (place.exchanged) force.side = force.side == motion::Side::kLeft ? motion::Side::kRight : motion::Side::kLeft;
    for (size_t i = 0; i < force.forces.size(); ++i) {
      force.forces[i] = place.ForceToRecording(force.forces[i]);
      force.points[i] = place.ToRecording(force.points[i], 0);
      force.moments[i] = place.MomentToRecording(force.moments[i]);
    }
  }
  return measured;
}

TEST(InverseDynamics, PlatesInOtherAxesAreLaidUnderTheFeet) {
  Job job = JobOfEstimate(EstimateOfAWalk());
  const ForceEstimate estimate = EstimateForces(job);
  job.options.measured = "plates";
  for (const double degrees : {90, 180, 270}) {
    for (const bool mirrored : {false, true}) {
      metrics::MeasurementPlace place;
      place.heading = Radians(degrees);
      place.mirrored = mirrored;
      job.measured = InOtherAxes(PlatesOf(job, estimate, 0), place);
      ForceEstimate compared = estimate;
      CompareWithMeasured(job, compared);
      ASSERT_TRUE(compared.comparison);
      for (const char* part : {"total", "left", "right"}) {
        for (const auto component : {metrics::ForceComponent::kForeAft, metrics::ForceComponent::kLateral}) {
          EXPECT_LT(compared.comparison->At("run", results::kTableCutoff, part, component).rmse, 0.5)
              << degrees << mirrored << part;
        }
      }
      EXPECT_LT(compared.centers->across, 0.002);
      EXPECT_EQ(std::any_of(compared.warnings.begin(), compared.warnings.end(),
                            [](const std::string& text) { return text.find("handedness") != std::string::npos; }),
                mirrored);
    }
  }
}

/// What a comparison is refused for.
std::string RefusalOf(const Job& job, const ForceEstimate& estimate) {
  ForceEstimate compared = estimate;
  try {
    CompareWithMeasured(job, compared);
  } catch (const InputError& error) {
    return error.what();
  }
  return "none";
}

TEST(InverseDynamics, ForcesThatContradictTheMotionAreRefused) {
  JobOptions options = EstimateOfAWalk();
  options.clip.end.reset();
  Job job = JobOfEstimate(options);
  const ForceEstimate estimate = EstimateForces(job);
  job.options.measured = "plates";
  metrics::MeasurementPlace exchanged;
  exchanged.exchanged = true;
  job.measured = InOtherAxes(PlatesOf(job, estimate, 0), exchanged);
  EXPECT_THAT(RefusalOf(job, estimate), testing::HasSubstr("under the other one"));
  job.options.measured_exchanged = true;
  EXPECT_EQ(RefusalOf(job, estimate), "none");

  // Without points of application, the forces alone tell.
  for (motion::MeasuredForce& force : job.measured->forces) force.points.clear();
  EXPECT_EQ(RefusalOf(job, estimate), "none");
  job.options.measured_exchanged = false;
  EXPECT_THAT(RefusalOf(job, estimate), testing::HasSubstr("left and right are exchanged (r 1.00, 1.00"));

  job.measured = PlatesOf(job, estimate, 0.5);  // about half a stride
  for (motion::MeasuredForce& force : job.measured->forces) force.points.clear();
  EXPECT_THAT(RefusalOf(job, estimate), testing::HasSubstr("0.50 s late"));

  job.measured = PlatesOf(job, estimate, 0);
  for (motion::MeasuredForce& force : job.measured->forces) {
    for (Vec3& one : force.forces) one = -one;
  }
  EXPECT_THAT(RefusalOf(job, estimate), testing::HasSubstr("pull the person down"));
}

/// A left-handed laboratory: motion and plates are mirrored, and the user says so.
TEST(InverseDynamics, PlatesAreMirroredWithTheMotion) {
  const SampleFolder scratch;
  const std::filesystem::path clip = scratch.path() / "mirrored.bvh";
  io::WriteFile(clip, motion::FormatBvh(motion::Mirrored(motion::ReadBvh(SampleClip("walk")))));
  JobOptions options = EstimateOfAWalk();
  options.clip.file = clip;
  options.clip.mirror = true;
  Job job = JobOfEstimate(options);
  const ForceEstimate estimate = EstimateForces(job);
  metrics::MeasurementPlace left_handed;
  left_handed.mirrored = true;
  job.measured = InOtherAxes(PlatesOf(job, estimate, 0), left_handed);
  job.options.measured = "plates";
  ForceEstimate compared = estimate;
  CompareWithMeasured(job, compared);
  EXPECT_LT(compared.comparison->At("run", results::kTableCutoff, "left", metrics::ForceComponent::kLateral).rmse, 0.5);
  EXPECT_THAT(compared.warnings, testing::Not(testing::Contains(testing::HasSubstr("handedness"))));
}

TEST(InverseDynamics, ResidualsAreReducedByForcesThatAreGiven) {
  Job job = JobOfEstimate(EstimateOfAWalk());
  const ForceEstimate plain = EstimateForces(job);
  ForceEstimate estimate = EstimateForces(job, {.reduce_residuals = true});
  ASSERT_TRUE(estimate.reduced);
  EXPECT_LT(estimate.reduced->after.force, 0.7 * estimate.reduced->before.force);
  EXPECT_EQ(estimate.reduced->mass, 1) << "estimated forces tell nothing of masses";
  EXPECT_THAT(estimate.notes, testing::Contains(testing::HasSubstr("are reduced to")));

  // The plates carry 3 % more.
  job.options.measured = "plates";
  job.measured = PlatesOf(job, plain, 0);
  for (motion::MeasuredForce& force : job.measured->forces) {
    for (Vec3& one : force.forces) one *= 1.03;
  }
  estimate = EstimateForces(job, {.use_measured = true, .reduce_residuals = true});
  ASSERT_TRUE(estimate.reduced);
  EXPECT_GT(estimate.reduced->mass, 1.01);
  EXPECT_LT(estimate.reduced->after.force, 0.5 * estimate.reduced->before.force);
  EXPECT_LT(estimate.reduced->after.moment, 0.8 * estimate.reduced->before.moment);
  const SampleFolder scratch;
  results::RunFolder folder(scratch.path() / "walk", false, {});
  WriteResiduals(folder, job, estimate);
  const results::Table residuals = results::ReadTable(scratch.path() / "walk" / "residuals.csv");
  EXPECT_TRUE(residuals.Has("reduced_moment_z"));
  EXPECT_EQ(results::ReadTable(scratch.path() / "walk" / "residual_changes.csv").Numbers("place").size(),
            job.character().bodies.size());
  WriteForcePage(folder, job, estimate);
  EXPECT_THAT(io::ReadFile(scratch.path() / "walk" / "report.html"), testing::HasSubstr("moment, largest [N m]"));
}

/// A squat of a model that has not all of a person, down and up again in 2 s.
/// @param depth flexion of the hip [rad]
Job SquatOf(const std::string& model, const std::filesystem::path& folder, double depth = Radians(50)) {
  io::WriteFile(folder / "model.osim", model);
  std::string rows;
  for (int i = 0; i <= 100; ++i) {
    const double bent = 0.5 * depth * (1 - std::cos(2 * kPi * i / 100.0));  // of the hip; the knee twice as much
    rows += std::to_string(0.02 * i) + "\t" + std::to_string(0.9 - 0.8 * (1 - std::cos(bent)));
    for (const double times : {1.0, -2.0, 1.0, 1.0, -2.0, 1.0}) rows += "\t" + std::to_string(times * bent);
    rows += "\n";
  }
  io::WriteFile(folder / "squat.mot",
                recordings::MotionOf("ty\thip_r\tknee_r\tankle_r\thip_l\tknee_l\tankle_l", rows, "inDegrees=no\n"));
  JobOptions options;
  options.clip.file = folder / "squat.mot";
  options.clip.skeleton = folder / "model.osim";
  options.character = kForcesCharacter;
  options.configuration = ForcesConfiguration();
  options.configuration.run.tail = 0;
  return JobOfEstimate(options);
}

/// Mean vertical forces of the left and the right foot [body weights].
std::pair<double, double> MeanLoads(const Job& job) {
  const ForceEstimate estimate = EstimateForces(job);
  const metrics::FootForces forces =
      metrics::FootForcesOf(estimate.ground, *metrics::FindFeet(job.character(), estimate.ground.plates));
  const double weight = job.character().total_mass() * kStandardGravity;
  return {forces.left.col(1).mean() / weight, forces.right.col(1).mean() / weight};
}

TEST(InverseDynamics, ModelsThatLackPartsOfAPersonAreCompleted) {
  const SampleFolder scratch;
  for (const bool torso : {true, false}) {
    const auto [left, right] = MeanLoads(SquatOf(recordings::ModelWith({"r", "l"}, {}, torso), scratch.path()));
    EXPECT_NEAR(left, 0.5, 0.02) << torso;
    EXPECT_NEAR(right, 0.5, 0.02) << torso;
  }
  const auto [left, right] = MeanLoads(SquatOf(recordings::ModelWith({"r"}, {"r"}, true), scratch.path()));
  EXPECT_LT(left, 0.02) << "a leg that is not there carries nothing";
  EXPECT_NEAR(right, 1, 0.05);
  const Job upper = SquatOf(recordings::ModelWith({}, {"r", "l"}, true, false), scratch.path(), Radians(5));
  EXPECT_THAT(upper.prepared->clip.doubts, testing::Contains(testing::HasSubstr("no pelvis and no legs")));
  const auto [one, other] = MeanLoads(upper);
  EXPECT_NEAR(one + other, 1, 0.05);
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
