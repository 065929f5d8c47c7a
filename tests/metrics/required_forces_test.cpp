/// Inverse dynamics of motions whose forces are known, and laws that hold for all.
#include "retrace/metrics/required_forces.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "character/sample_human.h"
#include "retrace/dynamics/character_dynamics.h"

namespace retrace::metrics {
namespace {

using character::Human;
using character::Pose;
using character::ReferenceMotion;

constexpr double kFrame = 1.0 / 120;

ReferenceMotion MotionOf(const std::vector<Pose>& poses) {
  return {Human(), kFrame, poses, 1.0 / 60};
}

/// The rest pose with its soles on the floor, moved by `place(time)`.
template <typename Place>
ReferenceMotion Moved(const Place& place, int frames = 41) {
  return character::StandingHuman(place, frames, kFrame);
}

ReferenceMotion Walking(double height) {
  std::vector<Pose> poses;
  for (int i = 0; i <= 180; ++i) {
    poses.push_back(character::Walk().At(Human(), i * kFrame));
    poses.back().root_position.y() += height;
  }
  return MotionOf(poses);
}

double Weight() {
  return Human().total_mass() * kStandardGravity;
}

TEST(RequiredForces, OfStandingAreTheWeight) {
  const auto motion = RequiredForcesOf(Moved([](double) -> Vec3 { return Vec3::Zero(); }));
  ASSERT_EQ(motion.size(), 39u);
  for (const RequiredForces& instant : motion) {
    EXPECT_LT((instant.force - Weight() * Vec3::UnitY()).norm(), 1e-6);
    EXPECT_LT(instant.moment.norm(), 1e-6);
    EXPECT_LT(instant.missing_force.norm(), 1e-3 * Weight());
    EXPECT_LT(instant.missing_moment.norm(), 1e-3 * Weight());
    double sum = 0;
    Vec3 center = Vec3::Zero();
    for (const SupportForce& support : instant.support) {
      sum += support.force.y();
      center += support.force.y() * support.center;
      EXPECT_EQ(support.center.y(), 0);
    }
    EXPECT_NEAR(sum, Weight(), 1e-3 * Weight());
    center /= sum;
    EXPECT_NEAR(center.x(), instant.center_of_mass.x(), 2e-3);
    EXPECT_NEAR(center.z(), instant.center_of_mass.z(), 2e-3);
    for (const double power : instant.powers) EXPECT_NEAR(power, 0, 1e-9);
  }
  EXPECT_DOUBLE_EQ(motion.front().time, kFrame);
}

TEST(RequiredForces, OnABoxAreThoseOnTheFloor) {
  constexpr double kHeight = 0.45;
  RequiredForcesOptions options;
  options.environment.boxes.push_back({"box", Vec3(20, kHeight, 20), Vec3(0, 0.5 * kHeight, 0)});
  const auto floor = RequiredForcesOf(Walking(0)), box = RequiredForcesOf(Walking(kHeight), options);
  ASSERT_EQ(floor.size(), box.size());
  for (size_t i = 0; i < floor.size(); ++i) {
    ASSERT_EQ(floor[i].support.size(), box[i].support.size());
    for (size_t k = 0; k < floor[i].support.size(); ++k) {
      EXPECT_LT((floor[i].support[k].force - box[i].support[k].force).norm(), 1e-6 * Weight());
      EXPECT_LT((floor[i].support[k].center + Vec3(0, kHeight, 0) - box[i].support[k].center).norm(), 1e-6);
    }
    EXPECT_LT((floor[i].missing_force - box[i].missing_force).norm(), 1e-6 * Weight());
    for (size_t j = 0; j < floor[i].torques.size(); ++j) {
      EXPECT_LT((floor[i].torques[j] - box[i].torques[j]).norm(), 1e-4);
    }
  }
}

TEST(RequiredForces, OfAFallAreZero) {
  const auto motion = RequiredForcesOf(Moved([](double time) -> Vec3 {
    return {0.3 * time, 2 - 0.5 * kStandardGravity * time * time, 0};
  }));
  for (const RequiredForces& instant : motion) {
    EXPECT_LT(instant.force.norm(), 1e-6);
    EXPECT_TRUE(instant.support.empty());
    for (const Vec3& torque : instant.torques) EXPECT_LT(torque.norm(), 1e-6);
  }
}

TEST(RequiredForces, BeyondFrictionAreMissing) {
  // Standing that slides off with 3 m/s^2: the ground can give friction times the weight and no more.
  const auto pushed = [](double time) -> Vec3 { return {1.5 * time * time, 0, 0}; };
  RequiredForcesOptions options;
  options.friction = 0.1;
  for (const RequiredForces& instant : RequiredForcesOf(Moved(pushed, 11), options)) {
    EXPECT_NEAR(instant.force.x(), 3 * Human().total_mass(), 1e-6);
    EXPECT_GT(instant.missing_force.x(), 0.5 * instant.force.x());
    for (const SupportForce& support : instant.support) {
      EXPECT_LE(std::abs(support.force.x()), options.friction * support.force.y() + 1e-6);
    }
  }
}

/// Of a walk: what supports and what is missing make up what is required, and the ground only pushes.
TEST(RequiredForces, AddUp) {
  size_t supported = 0;
  for (const RequiredForces& instant : RequiredForcesOf(Walking(0))) {
    Vec3 sum = instant.missing_force;
    for (const SupportForce& support : instant.support) {
      sum += support.force;
      EXPECT_GE(support.force.y(), -1e-6);
      for (const int axis : {0, 2}) EXPECT_LE(std::abs(support.force[axis]), 0.8 * support.force.y() + 1e-6);
    }
    EXPECT_LT((sum - instant.force).norm(), 1e-6);
    supported += !instant.support.empty();
  }
  EXPECT_GT(supported, 150u);
}

/// In the air, where all is missing: the work of the torques and of what is missing is the change of the energy.
TEST(RequiredForces, DoTheWorkThatChangesTheEnergy) {
  const ReferenceMotion walk = Walking(10);
  const auto motion = RequiredForcesOf(walk);
  dynamics::CharacterDynamics dynamics(Human());
  Eigen::VectorXd before(dynamics.size());
  Eigen::VectorXd after(dynamics.size());
  std::vector<double> energy;
  std::vector<double> power;
  for (size_t i = 0; i < motion.size(); ++i) {
    dynamics.coordinates().Difference(walk.poses()[i], walk.poses()[i + 1], before);
    dynamics.coordinates().Difference(walk.poses()[i + 1], walk.poses()[i + 2], after);
    dynamics.SetMotion(walk.poses()[i + 1], (before + after) / (2 * kFrame));
    energy.push_back(dynamics.KineticEnergy() + dynamics.PotentialEnergy());
    const RequiredForces& instant = motion[i];
    EXPECT_TRUE(instant.support.empty());
    const Vec3 root = dynamics.CenterOf(Human().root);
    const Vec3 torque = instant.missing_moment - (root - instant.center_of_mass).cross(instant.missing_force);
    double sum = instant.missing_force.dot(dynamics.VelocityOf(Human().root, root)) +
                 torque.dot(dynamics.AngularVelocityOf(Human().root));
    for (const double joint : instant.powers) sum += joint;
    power.push_back(sum);
  }
  double largest = 0;
  double error = 0;
  for (size_t i = 1; i + 1 < energy.size(); ++i) {
    const double rate = (energy[i + 1] - energy[i - 1]) / (2 * kFrame);
    largest = std::max(largest, std::abs(rate));
    error = std::max(error, std::abs(rate - power[i]));
  }
  EXPECT_GT(largest, 50);
  EXPECT_LT(error, 0.05 * largest) << "differences of the second order at 120 poses per second";
}

TEST(RequiredForceOn, IsLinearBetweenPosesAndConstantBeyond) {
  std::vector<RequiredForces> required(3);
  for (size_t i = 0; i < required.size(); ++i) {
    required[i].time = 0.1 * static_cast<double>(i + 1);
    if (i > 0) required[i].support = {{4, Vec3(0, 100.0 * static_cast<double>(i), 0), Vec3::Zero(), 0}};
  }
  const auto at = [&](double time) { return RequiredForceOn(4, time, required, 0.1).y(); };
  EXPECT_NEAR(at(0), 0, 1e-9);
  EXPECT_NEAR(at(0.15), 50, 1e-9);
  EXPECT_NEAR(at(0.25), 150, 1e-9);
  EXPECT_NEAR(at(9), 200, 1e-9);
  EXPECT_EQ(RequiredForceOn(3, 0.25, required, 0.1), Vec3::Zero());
  EXPECT_EQ(RequiredForceOn(3, 0.25, {}, 0.1), Vec3::Zero());
}

TEST(RequiredForces, NeedThreePosesAndFiniteOptions) {
  const auto at_rest = [](double) -> Vec3 { return Vec3::Zero(); };
  EXPECT_TRUE(RequiredForcesOf(Moved(at_rest, 2)).empty());
  RequiredForcesOptions options;
  options.friction = -1;
  EXPECT_THROW(RequiredForcesOf(Moved(at_rest, 3), options), std::invalid_argument);
  options.friction = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(RequiredForcesOf(Moved(at_rest, 3), options), std::invalid_argument);
}

}  // namespace
}  // namespace retrace::metrics
