/// Residual reduction of motions whose errors are known: what was added to a motion, or to masses, is found again.
#include "retrace/kinetics/residual_reduction.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <stdexcept>

#include "character/sample_human.h"
#include "retrace/character/builder.h"
#include "retrace/character/segments.h"
#include "retrace/dynamics/pose_dynamics.h"

namespace retrace::kinetics {
namespace {

using character::Human;
using dynamics::SupportForce;
using Supports = std::vector<std::vector<SupportForce>>;

constexpr double kSwayFrame = 1.0 / 100;
constexpr int kSwayPoses = 81;

character::ReferenceMotion Moved(const std::function<Vec3(double)>& offset) {
  return character::StandingHuman(offset, kSwayPoses, kSwayFrame);
}

/// Sways of a body that stands, 2 cm to the side and 1 cm to the front.
Vec3 Sway(double time) {
  return {0.02 * std::sin(2 * kPi * 0.7 * time), 0, 0.01 * std::sin(2 * kPi * 1.1 * time)};
}

/// One force on the left foot that is all that a motion requires.
Supports ForcesOf(const character::ReferenceMotion& motion) {
  Supports supports(motion.poses().size());
  dynamics::PoseDynamics pose(motion, kStandardGravity);
  for (size_t i = 1; i + 1 < supports.size(); ++i) {
    pose.SetPose(i);
    dynamics::RequiredForces required;
    pose.Require(required);
    const Vec3 &f = required.force, &m = required.moment, &c = required.center_of_mass;
    const double ax = (m.z() - c.y() * f.x()) / f.y(), az = -(m.x() + c.y() * f.z()) / f.y();
    SupportForce support;
    support.body = character::BodyOfSegment(motion.character(), "left_foot");
    support.force = f;
    support.center = Vec3(c.x() + ax, 0, c.z() + az);
    support.free_moment = m.y() - (az * f.x() - ax * f.z());
    supports[i].push_back(support);
  }
  return supports;
}

const std::vector<bool> kAllKnown(kSwayPoses, true);

TEST(ResidualReduction, AMotionThatAgreesStaysAsItIs) {
  const auto motion = Moved(Sway);
  const ReducedResiduals reduced = ReduceResiduals(motion, ForcesOf(motion), kAllKnown);
  EXPECT_LT(reduced.before.force, 1e-6);
  EXPECT_LT(reduced.before.moment, 1e-6);
  EXPECT_LT(reduced.Largest().most_place, 1e-6);
  EXPECT_NEAR(reduced.mass, 1, 1e-6);
  EXPECT_FALSE(reduced.bounded);
}

TEST(ResidualReduction, ErrorsOfTheMotionAreFoundAgain) {
  const auto error = [](double time) -> Vec3 {
    return {0.002 * std::sin(2 * kPi * 2 * time), 0.003 * std::sin(2 * kPi * 2.5 * time), 0};
  };
  const auto truth = Moved(Sway), recorded = Moved([&](double time) -> Vec3 { return Sway(time) + error(time); });
  ResidualReductionOptions options;
  options.masses = false;
  const ReducedResiduals reduced = ReduceResiduals(recorded, ForcesOf(truth), kAllKnown, options);
  EXPECT_GT(reduced.before.force, 20);
  EXPECT_LT(reduced.after.force, 0.2 * reduced.before.force);
  EXPECT_LT(reduced.after.moment, 0.3 * reduced.before.moment);
  EXPECT_LT(reduced.Largest().most_place, 0.01);
  EXPECT_FALSE(reduced.bounded);
  double far_before = 0, far_after = 0;  // centers of mass from the truth
  const auto a = truth.StatesOfPoses(), b = recorded.StatesOfPoses(), c = reduced.motion->StatesOfPoses();
  for (size_t i = 20; i + 20 < a.size(); ++i) {
    const auto center = [](const character::State& state) { return character::CenterOfMass(Human(), state); };
    far_before += (center(b[i]) - center(a[i])).squaredNorm();
    far_after += (center(c[i]) - center(a[i])).squaredNorm();
  }
  EXPECT_LT(far_after, 0.1 * far_before);
}

TEST(ResidualReduction, ErrorsOfMassesAreFoundAgain) {
  const auto truth = Moved(Sway);
  character::CharacterBuilder builder(Human());
  builder.ScaleMass(1.03);
  const character::Character heavy = builder.Build("heavy");
  const ReducedResiduals reduced = ReduceResiduals(truth.Of(heavy), ForcesOf(truth), kAllKnown);
  EXPECT_NEAR(reduced.before.force, 0.03 * Human().total_mass() * kStandardGravity, 2);
  EXPECT_NEAR(reduced.mass, 1 / 1.03, 0.002);
  EXPECT_NEAR(reduced.character->total_mass(), Human().total_mass(), 0.2);
  EXPECT_LT(reduced.after.force, 0.1 * reduced.before.force);
}

TEST(ResidualReduction, ChangesKeepTheirBounds) {
  const auto motion = Moved(Sway);
  Supports wrong = ForcesOf(motion);
  for (size_t i = 0; i < wrong.size(); ++i) {
    for (SupportForce& support : wrong[i]) {
      support.force.x() += 3000 * std::sin(2 * kPi * 0.8 * static_cast<double>(i) * kSwayFrame);
      support.force.y() *= 1.2;
    }
  }
  const ResidualReductionOptions options;
  const ReducedResiduals reduced = ReduceResiduals(motion, wrong, kAllKnown, options);
  EXPECT_TRUE(reduced.bounded);
  EXPECT_LE(reduced.Largest().most_place, options.most_place);
  EXPECT_LE(reduced.Largest().most_turn, options.most_turn);
  EXPECT_LE(std::abs(reduced.mass - 1), options.most_mass + 1e-6);
  EXPECT_LE(reduced.trunk.cwiseAbs().maxCoeff(), options.most_trunk + 1e-5);
  EXPECT_LT(reduced.after.force, reduced.before.force);
}

TEST(ResidualReduction, RefusesForcesOfOtherPosesAndNone) {
  const auto motion = Moved(Sway);
  EXPECT_THROW(ReduceResiduals(motion, Supports(3), std::vector<bool>(3, true)), std::invalid_argument);
  EXPECT_THROW(ReduceResiduals(motion, ForcesOf(motion), std::vector<bool>(kSwayPoses, false)), std::invalid_argument);
}

}  // namespace
}  // namespace retrace::kinetics
