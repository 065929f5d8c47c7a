/// The estimate of forces against closed forms: a body that stands, sways, and steps.
#include "retrace/kinetics/force_estimate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <stdexcept>

#include "character/sample_human.h"
#include "retrace/character/kinematics.h"
#include "retrace/kinetics/foot_model.h"
#include "retrace/kinetics/smoothing_choice.h"
#include "retrace/math/rotation.h"

namespace retrace::kinetics {
namespace {

using character::Human;

constexpr double kFrame = 1.0 / 120;

character::ReferenceMotion Moved(const std::function<Vec3(double)>& offset, double duration) {
  return character::StandingHuman(offset, static_cast<int>(std::lround(duration / kFrame)) + 1, kFrame);
}

double Weight() {
  return Human().total_mass() * kStandardGravity;
}

TEST(EstimateForces, TwoFeetThatStandShareTheWeight) {
  const auto reference = Moved([](double) -> Vec3 { return Vec3::Zero(); }, 0.5);
  const auto motion = EstimateForces(reference, FootModelsOf(Human()));
  ASSERT_EQ(motion.size(), reference.poses().size() - 2);
  for (const metrics::RequiredForces& instant : motion) {
    ASSERT_EQ(instant.support.size(), 2u);
    const Vec3 left = instant.support[0].force, right = instant.support[1].force;
    EXPECT_NEAR(left.y(), 0.5 * Weight(), 0.01 * Weight());
    EXPECT_NEAR(right.y(), 0.5 * Weight(), 0.01 * Weight());
    EXPECT_LT(instant.missing_force.norm(), 0.01 * Weight());
    // Each points to a pivot over the center of mass, so that the feet push apart.
    EXPECT_NEAR(left.x(), -right.x(), 1e-3 * Weight());
    EXPECT_LT(left.x() * instant.support[0].center.x(), 0);
  }
}

TEST(EstimateForces, NewtonsLawHoldsInTotal) {
  constexpr double kRate = 2 * kPi * 0.8, kSize = 0.03;
  const auto reference = Moved([](double time) -> Vec3 { return {0, -kSize * (1 - std::cos(kRate * time)), 0}; }, 2.5);
  for (const metrics::RequiredForces& instant : EstimateForces(reference, FootModelsOf(Human()))) {
    Vec3 total = Vec3::Zero();
    for (const metrics::SupportForce& support : instant.support) total += support.force;
    const double expected = Weight() - Human().total_mass() * kSize * kRate * kRate * std::cos(kRate * instant.time);
    EXPECT_NEAR(total.y(), expected, 0.01 * Weight()) << instant.time;
  }
}

/// Errors of a recording that let a body that stands shake to the front and back: its center of pressure would have to
/// run over the whole feet, five times a second, which no center of pressure does.
TEST(EstimateForces, FastErrorsOfTheForeAftForceAreLargelyMissing) {
  constexpr double kRate = 2 * kPi * 5, kSize = 0.001;
  const auto reference = Moved([](double time) -> Vec3 { return {0, 0, kSize * std::sin(kRate * time)}; }, 2);
  double required = 0, supplied = 0;
  for (const metrics::RequiredForces& instant : EstimateForces(reference, FootModelsOf(Human()))) {
    Vec3 total = Vec3::Zero();
    for (const metrics::SupportForce& support : instant.support) total += support.force;
    required = std::max(required, std::abs(instant.force.z()));
    supplied = std::max(supplied, std::abs(total.z()));
    EXPECT_NEAR(total.y(), Weight(), 0.02 * Weight());
  }
  EXPECT_GT(required, 0.08 * Weight());
  EXPECT_LT(supplied, 0.9 * required);
}

TEST(EstimateForces, WhatIsInTheAirIsNotSupported) {
  const auto reference = Moved(
      [](double time) -> Vec3 {
        return {0, 0.3 - 0.5 * kStandardGravity * (time - 0.1) * (time - 0.1), 0};
      },
      0.2);
  for (const metrics::RequiredForces& instant : EstimateForces(reference, FootModelsOf(Human()))) {
    EXPECT_TRUE(instant.support.empty());
    EXPECT_LT(instant.force.norm(), 1e-3 * Weight());
  }
}

/// A board whose top is at a height, under everything.
simulation::Environment WithBoard(double top) {
  simulation::Environment environment;
  simulation::Box& box = environment.boxes.emplace_back();
  box.size = Vec3(4, 0.04, 4);
  box.position = Vec3(0, top - 0.02, 0);
  return environment;
}

TEST(EstimateForces, AStepBearsFeetOnIt) {
  static constexpr double kStepHeight = 0.3;
  const auto on_floor = Moved([](double) -> Vec3 { return Vec3::Zero(); }, 0.2);
  const auto on_step = Moved([](double) -> Vec3 { return {0, kStepHeight, 0}; }, 0.2);
  const auto floor = EstimateForces(on_floor, FootModelsOf(Human()));
  for (const auto& instant : EstimateForces(on_step, FootModelsOf(Human()))) EXPECT_TRUE(instant.support.empty());
  ForceEstimateOptions options;
  options.environment = WithBoard(kStepHeight);
  const auto step = EstimateForces(on_step, FootModelsOf(Human()), options);
  ASSERT_EQ(step.size(), floor.size());
  for (size_t k = 0; k < step.size(); ++k) {
    ASSERT_EQ(step[k].support.size(), 2u);
    for (size_t foot = 0; foot < 2; ++foot) {
      EXPECT_LT((step[k].support[foot].force - floor[k].support[foot].force).norm(), 1e-3 * Weight());
      EXPECT_NEAR(step[k].support[foot].center.y(), kStepHeight, 1e-9);
      EXPECT_NEAR(floor[k].support[foot].center.y(), 0, 1e-9);
    }
  }
}

/// Legs that hang from a high seat: it bears all, by pelvis and thighs.
TEST(EstimateForces, ASeatBearsABodyWhoseFeetHang) {
  const auto reference = Moved([](double) -> Vec3 { return {0, 1, 0}; }, 0.2);
  const character::State state = reference.StatesOfPoses().front();
  const auto root = static_cast<size_t>(Human().root);
  ForceEstimateOptions options;
  options.environment = WithBoard(character::LowestPoint(Human().bodies[root], state[root]));
  const auto motion = EstimateForces(reference, FootModelsOf(Human()), options);
  for (const auto& instant : motion) {
    double borne = 0;
    for (const auto& support : instant.support) {
      const std::string& segment = Human().bodies[static_cast<size_t>(support.body)].segment;
      EXPECT_TRUE(support.body == Human().root || segment.ends_with("_thigh")) << segment;
      borne += support.force.y();
    }
    EXPECT_NEAR(borne, Weight(), 0.02 * Weight());
  }
}

/// Torques that follow from forces which satisfy the laws of motion leave nothing at the root.
TEST(ApplyForces, LeavesNoResidualWhereForcesFitTheMotion) {
  const auto reference = Moved([](double) -> Vec3 { return Vec3::Zero(); }, 0.2);
  const auto motion = EstimateForces(reference, FootModelsOf(Human()));
  std::vector<std::vector<metrics::SupportForce>> measured(reference.poses().size());
  for (size_t k = 0; k < motion.size(); ++k) measured[k + 1] = motion[k].support;
  const auto applied = ApplyForces(reference, measured);
  ASSERT_EQ(applied.size(), motion.size());
  for (size_t k = 0; k < motion.size(); ++k) {
    EXPECT_LT((applied[k].missing_force - motion[k].missing_force).norm(), 1e-6 * Weight());
    EXPECT_LT((applied[k].missing_moment - motion[k].missing_moment).norm(), 1e-6 * Weight());
    for (size_t j = 0; j < motion[k].torques.size(); ++j) {
      EXPECT_LT((applied[k].torques[j] - motion[k].torques[j]).norm(), 1e-6 * Weight());
    }
  }
  EXPECT_THROW(ApplyForces(reference, {}), std::invalid_argument);
}

TEST(EstimateForces, RefusesOptionsThatAreNoNumbers) {
  const auto reference = Moved([](double) -> Vec3 { return Vec3::Zero(); }, 0.1);
  ForceEstimateOptions options;
  options.friction = -1;
  EXPECT_THROW(EstimateForces(reference, FootModelsOf(Human()), options), std::invalid_argument);
  options.friction = std::nan("");
  EXPECT_THROW(EstimateForces(reference, FootModelsOf(Human()), options), std::invalid_argument);
}

TEST(FootModels, AreSharesOfTheHeight) {
  const auto feet = FootModelsOf(Human());
  ASSERT_EQ(feet.size(), 2u);
  EXPECT_NEAR(feet[0].heel + feet[0].ball + feet[0].toes, 0.96 * 0.152 * Human().height + 0.01, 1e-9);
  EXPECT_EQ(feet[0].ball, feet[1].ball);
}

TEST(ChooseSmoothing, LeavesAMotionThatIsSmoothAndSmoothsOneThatIsRough) {
  const auto moved = [](double trembling) {
    return Moved(
        [=](double time) -> Vec3 {
          return {0, 0.01 * std::sin(2 * kPi * 4 * time) + trembling * std::sin(2 * kPi * 11 * time), 0};
        },
        3);
  };
  EXPECT_EQ(ChooseSmoothing(moved(0)), kLeastSmoothing);
  EXPECT_GT(ChooseSmoothing(moved(0.004)), kLeastSmoothing);
}

}  // namespace
}  // namespace retrace::kinetics
