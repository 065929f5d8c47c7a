/// Comparison of ground forces with measured ones: signals whose figures are known.
#include "retrace/metrics/force_comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "character/sample_human.h"
#include "retrace/io/error.h"

namespace retrace::metrics {
namespace {

using character::Human;

constexpr double kForceStep = 1.0 / 240;
constexpr double kBodyMass = 50;
constexpr double kWeight = kBodyMass * kStandardGravity;
constexpr double kMeasuredMass = 80;

/// A motion of that length whose root is where a function of time puts it.
template <typename Place>
character::ReferenceMotion MovingRoot(double duration, const Place& place) {
  std::vector<character::Pose> poses;
  for (int i = 0; i <= static_cast<int>(120 * duration); ++i) {
    character::Pose& pose = poses.emplace_back();
    pose.root_position = place(i / 120.0);
    pose.joint_rotations.assign(Human().joints.size(), Quat::Identity());
  }
  return character::ReferenceMotion(Human(), 1.0 / 120, std::move(poses), 1.0 / 60);
}

std::vector<double> StepTimes(double duration) {
  std::vector<double> times;
  for (int i = 0; i <= std::lround(duration / kForceStep); ++i) times.push_back(i * kForceStep);
  return times;
}

/// Forces [body weights] of a function of time that returns vertical, forwards (z) and to the left (x).
template <typename Force>
VectorSeries ForceSeries(const std::vector<double>& times, double weight, const Force& force) {
  VectorSeries series(static_cast<Eigen::Index>(times.size()), 3);
  for (size_t i = 0; i < times.size(); ++i) {
    const Vec3 components = weight * force(times[i]);
    series.row(static_cast<Eigen::Index>(i)) = Vec3(components[2], components[0], components[1]).transpose();
  }
  return series;
}

/// Everything on the left foot.
template <typename Force>
FootForces OnTheLeft(const std::vector<double>& times, double weight, const Force& force) {
  const VectorSeries series = ForceSeries(times, weight, force);
  return {series, series, VectorSeries::Zero(series.rows(), 3)};
}

double Wave(double frequency, double time) {
  return std::sin(2 * std::numbers::pi * frequency * time);
}

const auto kStill = [](double) { return Vec3(0, 1, 0); };

TEST(ForceComparison, ASineAgainstASineHasTheFiguresOfSines) {
  const std::vector<double> times = StepTimes(4);
  const auto reference = MovingRoot(4, kStill);
  const auto run = [](double t) { return Vec3(1 + 0.3 * Wave(1, t), 0.1 * Wave(1, t), 0); };
  const auto truth = [](double t) { return Vec3(1 + 0.2 * Wave(1, t), -0.1 * Wave(1, t), 0); };
  MeasuredSteps measured{OnTheLeft(times, kMeasuredMass * kStandardGravity, truth), {}};
  for (const double time : times) measured.valid.push_back(time > 0.4499 && time < 2.5501);  // 2 s and what is cut off
  const FootForces simulated = OnTheLeft(times, kWeight, run);
  const ForceComparison comparison = CompareForces({times, simulated, kBodyMass, measured, kMeasuredMass, reference});
  EXPECT_NEAR(comparison.start, 0.45, 1e-9);
  EXPECT_NEAR(comparison.end, 2.55, 1e-9);
  for (const double cutoff : {0.0, 20.0, 12.0}) {
    const auto at = [&](ForceComponent component) { return comparison.At("run", cutoff, "total", component); };
    // Of whole periods: the root mean square of a sine is its amplitude over sqrt(2). A sample more is at its ends.
    EXPECT_NEAR(at(ForceComponent::kVertical).rmse, 100 * 0.1 / std::sqrt(2), 0.02);
    EXPECT_NEAR(at(ForceComponent::kVertical).rrmse, 100 * 0.1 / std::sqrt(2) / 0.5, 0.03);
    EXPECT_NEAR(at(ForceComponent::kVertical).r, 1, 1e-6);
    EXPECT_NEAR(at(ForceComponent::kVertical).peak, 10, 0.01);
    EXPECT_NEAR(at(ForceComponent::kVertical).impulse, 0, 0.01);
    EXPECT_NEAR(at(ForceComponent::kForeAft).rmse, 100 * 0.2 / std::sqrt(2), 0.04);
    EXPECT_NEAR(at(ForceComponent::kForeAft).r, -1, 1e-6);
    EXPECT_NEAR(at(ForceComponent::kForeAft).peak, 0, 0.01);
    EXPECT_NEAR(at(ForceComponent::kLateral).rmse, 0, 1e-9);
    EXPECT_TRUE(std::isnan(at(ForceComponent::kLateral).r));
    EXPECT_TRUE(std::isnan(at(ForceComponent::kLateral).rrmse));
  }
  const auto weight = [&](ForceComponent component) { return comparison.At("body_weight", 0, "total", component); };
  EXPECT_NEAR(weight(ForceComponent::kVertical).rmse, 100 * 0.2 / std::sqrt(2), 0.03);
  EXPECT_TRUE(std::isnan(weight(ForceComponent::kVertical).r));
  EXPECT_NEAR(comparison.largest_step_force, 1.3, 1e-3);
  EXPECT_NEAR(comparison.largest_measured_force, 1.2, 1e-3);
  EXPECT_EQ(comparison.no_contact_share, 0);
  EXPECT_THROW(comparison.At("run", 5, "total", ForceComponent::kVertical), std::out_of_range);
  const io::Json json = comparison.ToJson();
  EXPECT_TRUE(json["figures"]["run"]["raw"]["total"]["lateral"]["r"].is_null());
  EXPECT_NEAR(json["figures"]["run"]["20Hz"]["left"]["vertical"]["peak_percent"].get<double>(), 10, 0.01);
}

TEST(ForceComparison, NewtonsLawExplainsTheForceOfABounce) {
  const std::vector<double> times = StepTimes(4);
  constexpr double kHertz = 1, kHeight = 0.02;
  const auto reference = MovingRoot(4, [](double t) { return Vec3(0, 1 + kHeight * Wave(kHertz, t), t); });
  const double turn = 2 * std::numbers::pi * kHertz;
  const auto truth = [&](double t) {  // in the middle of the step
    return Vec3(1 - kHeight * turn * turn / kStandardGravity * Wave(kHertz, t - kForceStep / 2), 0, 0);
  };
  const MeasuredSteps measured{OnTheLeft(times, kWeight, truth), std::vector<bool>(times.size(), true)};
  const ForceComparison comparison = CompareForces({times, measured.forces, kBodyMass, measured, kBodyMass, reference});
  EXPECT_EQ(comparison.At("run", 0, "left", ForceComponent::kVertical).rmse, 0);
  EXPECT_GT(comparison.At("newton_12Hz", 0, "total", ForceComponent::kVertical).r, 0.999);
  EXPECT_LT(comparison.At("newton_12Hz", 0, "total", ForceComponent::kVertical).rmse, 0.2);
  EXPECT_GT(comparison.At("body_weight", 0, "total", ForceComponent::kVertical).rmse, 5);
}

TEST(ForceComparison, ContactTimesAreMatchedWithoutGapsAndTouches) {
  const std::vector<double> times = StepTimes(3);
  const auto reference = MovingRoot(3, kStill);
  const auto between = [](double t, double a, double b) { return t > a - 1e-6 && t < b + 1e-6; };
  const auto truth = [&](double t) { return Vec3(between(t, 0.5, 1) || between(t, 1.5, 2.0) ? 1 : 0, 0, 0); };
  const auto run = [&](double t) {
    const bool gap = between(t, 0.7, 0.72);
    const bool touch = between(t, 1.2, 1.22);
    return Vec3((between(t, 0.55, 1.05) && !gap) || touch || between(t, 1.475, 2.4) ? 1 : 0, 0, 0);
  };
  const MeasuredSteps measured{OnTheLeft(times, kWeight, truth), std::vector<bool>(times.size(), true)};
  const FootForces simulated = OnTheLeft(times, kWeight, run);
  const ForceComparison comparison = CompareForces({times, simulated, kBodyMass, measured, kBodyMass, reference});
  EXPECT_EQ(comparison.onset.measured, 2);
  EXPECT_EQ(comparison.onset.matched, 2);
  EXPECT_NEAR(comparison.onset.mean.value(), (50 - 25) / 2.0, 1e-6);
  EXPECT_NEAR(comparison.onset.mean_absolute.value(), (50 + 25) / 2.0, 1e-6);
  EXPECT_EQ(comparison.offset.measured, 2);
  EXPECT_EQ(comparison.offset.matched, 1) << "0.4 s is too far";
  EXPECT_NEAR(comparison.offset.mean.value(), 50, 1e-6);
}

TEST(ForceComparison, ForeAftIsAlongTheWay) {
  const auto reference = MovingRoot(2, [](double t) { return Vec3(-t, 1, 0); });  // to the right
  VectorSeries force(1, 3);
  force.row(0) = Vec3(-3, 10, 2).transpose();
  const VectorSeries components = InComponents(force, reference, 0);
  EXPECT_NEAR(components(0, 0), 10, 1e-12);
  EXPECT_NEAR(components(0, 1), 3, 1e-12);
  EXPECT_NEAR(components(0, 2), 2, 1e-12) << "z is to the left of one who walks along -x";
  const VectorSeries turned = InComponents(force, MovingRoot(2, kStill), std::numbers::pi / 2);
  EXPECT_NEAR(turned(0, 1), -3, 1e-12) << "who stands looks along the measurement's z, now the run's x";
}

/// A measurement of one force at `rate`, upwards.
template <typename Force>
motion::MeasuredForces Measurement(double duration, double rate, const Force& force) {
  motion::MeasuredForces measured;
  measured.forces.push_back({"plate", motion::Side::kLeft, {}, {}, {}});
  for (int i = 0; i <= std::lround(duration * rate); ++i) {
    measured.times.push_back(i / rate);
    measured.valid.push_back(true);
    measured.forces[0].forces.emplace_back(0, force(i / rate), 0);
  }
  return measured;
}

TEST(ForceComparison, PutsAMeasurementOnTheStepsOfTheRun) {
  const std::vector<double> times = StepTimes(1);
  const auto reference = MovingRoot(1, kStill);
  for (const double rate : {100.0, 1000.0}) {  // interpolated, averaged
    // The run begins 0.5 s into the recording and takes twice as long.
    const MeasuredSteps steps = MeasuredOnSteps(Measurement(0.8, rate, [](double t) { return 100 * t; }), "f",
                                                {0.5, 2, 0, 1}, reference, times);
    for (const int i : {24, 100}) {
      EXPECT_NEAR(steps.forces.left(i, 1), 100 * (0.5 + (i - 0.5) * kForceStep / 2), 0.01) << rate;
      EXPECT_TRUE(steps.valid[static_cast<size_t>(i)]);
    }
    EXPECT_FALSE(steps.valid[0]);
    EXPECT_FALSE(steps.valid[150]) << "0.6 s are measured";
    EXPECT_EQ(steps.forces.total, steps.forces.left);
  }
  auto measured = Measurement(1, 100, [](double) { return 500; });
  measured.forces[0].forces.assign(measured.times.size(), Vec3(0, 500, 1));
  const MeasuredSteps turned = MeasuredOnSteps(measured, "f", {0, 1, std::numbers::pi / 2, 1}, reference, times);
  EXPECT_NEAR(turned.forces.left(50, 0), 1, 1e-12) << "z of the recording is the run's x";
  measured.valid.assign(measured.times.size(), false);
  EXPECT_THROW(MeasuredOnSteps(measured, "f", {}, reference, times), InputError);
  EXPECT_THROW(MeasuredOnSteps(Measurement(0.1, 100, [](double) { return 500; }), "f", {}, reference, times),
               InputError);
}

/// What stands on the belt of a treadmill goes back in the recording, and stays where it is in the run.
TEST(ForceComparison, PointsGoWithABeltThatWasTakenOut) {
  MeasurementPlace place;
  place.heading = kPi / 2;  // the recording's z is the run's x
  place.scale = 2;
  place.delay = 0.5;
  place.belt = Vec3(-6, 0, 0);  // 3 m/s in the recording
  place.belt_start = 10;
  const auto on_belt = [](double time) -> Vec3 { return {0.1, 0, 1 - 3 * (time - 10)}; };
  const Vec3 at_start = place.ToRun(on_belt(10), 10);
  EXPECT_LT((at_start - Vec3(2, 0, -0.2)).norm(), 1e-12) << at_start.transpose();
  for (const double time : {10.0, 10.4, 12.0}) {
    EXPECT_LT((place.ToRun(on_belt(time), time) - at_start).norm(), 1e-12);
    EXPECT_LT((place.ToRecording(place.ToRun(on_belt(time), time), time) - on_belt(time)).norm(), 1e-12);
  }
  EXPECT_DOUBLE_EQ(place.RecordedTime(3), 2.5);
}

TEST(ForceComparison, APlateBelongsToTheFootThatIsOnIt) {
  const std::vector<double> times = StepTimes(1);
  const auto reference = MovingRoot(1, [](double) { return Vec3(2, 1, 3); });
  character::State state;
  reference.StateAt(0, state);
  auto measured = Measurement(1, 100, [](double t) { return t < 0.5 || t > 0.6 ? 500 : 0; });
  measured.forces[0].side.reset();
  EXPECT_THROW(MeasuredOnSteps(measured, "f", {}, reference, times), InputError) << "it has no place";
  const auto foot = [&](const char* name) { return state[static_cast<size_t>(Human().FindBody(name))].position; };
  for (const double time : measured.times) {  // in a recording of half the size
    measured.forces[0].points.push_back(0.5 * foot(time < 0.55 ? "right_foot" : "left_foot"));
  }
  const MeasuredSteps steps = MeasuredOnSteps(measured, "f", {0, 1, 0, 2}, reference, times);
  EXPECT_NEAR(steps.forces.right(100, 1), 500, 1e-9);
  EXPECT_NEAR(steps.forces.left(100, 1), 0, 1e-9);
  EXPECT_NEAR(steps.forces.left(200, 1), 500, 1e-9);
  EXPECT_NEAR(steps.forces.right(200, 1), 0, 1e-9);
}

TEST(ForceComparison, MotionsShareTheirPlates) {
  const ForcePlate foot{1, {1}}, hand{2, {2}}, head{3, {3}};
  const std::vector<AppliedForce> pressed(4, {Vec3(0, 7, 0), Vec3::Zero(), Vec3::Zero()});
  GroundForces a{{foot, hand}, {pressed, pressed}, 4}, b{{foot, head}, {pressed, pressed}, 4};
  GroundForces* const both[] = {&a, &b};
  SharePlates(both);
  for (const GroundForces* motion : both) {
    ASSERT_EQ(motion->plates.size(), 3u);
    EXPECT_EQ(motion->plates[1].body, 2);
    EXPECT_EQ(motion->plates[2].body, 3);
    for (const auto& forces : motion->forces) EXPECT_EQ(forces.size(), 4u);
    EXPECT_EQ(motion->forces[0][1].force.y(), 7);
  }
  EXPECT_EQ(a.forces[1][0].force.y(), 7);
  EXPECT_EQ(a.forces[2][0].force.y(), 0);
  EXPECT_EQ(b.forces[1][0].force.y(), 0);
  EXPECT_EQ(b.forces[2][0].force.y(), 7);
}

TEST(ForceComparison, TotalIsMoreThanTheFeet) {
  GroundForces ground;
  ground.plates = {{Human().FindBody("left_foot"), {Human().FindBody("left_foot")}},
                   {Human().FindBody("right_foot"), {Human().FindBody("right_foot")}},
                   {Human().FindBody("trunk"), {Human().FindBody("trunk")}}};
  for (const double force : {1.0, 2.0, 4.0}) {
    ground.forces.push_back({{}, {Vec3(0, force, 0), Vec3::Zero(), Vec3::Zero()}});
  }
  ground.num_states = 2;
  const FootPlates feet = FindFeet(Human(), ground.plates).value();
  const FootForces forces = FootForcesOf(ground, feet);
  EXPECT_EQ(forces.left(1, 1), 1);
  EXPECT_EQ(forces.right(1, 1), 2);
  EXPECT_EQ(forces.total(1, 1), 7);
  EXPECT_EQ(forces.total(0, 1), 0);
  const character::Character quadruped =
      character::LoadCharacter(std::string(RETRACE_SOURCE_DIR) + "/data/characters/quadruped.json");
  EXPECT_FALSE(FindFeet(quadruped, ForcePlates(quadruped, {})).has_value());
}

}  // namespace
}  // namespace retrace::metrics
