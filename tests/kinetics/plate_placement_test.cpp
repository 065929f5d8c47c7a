/// Plates under the feet of a body that steps: which turn, which handedness and which sides they have is found again.
#include "retrace/kinetics/plate_placement.h"

#include <gtest/gtest.h>

#include <cmath>

#include "character/sample_human.h"
#include "retrace/character/segments.h"
#include "retrace/math/rotation.h"

namespace retrace::kinetics {
namespace {

constexpr double kWalkFrame = 0.02;
constexpr int kWalkPoses = 101;

/// A body that drifts ahead and to the side.
character::ReferenceMotion Walk() {
  return character::StandingHuman(
      [](double time) -> Vec3 {
        return {0.5 + 0.1 * time, 0, 1 + 0.8 * time};
      },
      kWalkPoses, kWalkFrame);
}

/// Loads under each foot, half of the time each, as a laboratory has them.
motion::MeasuredForces LoadsIn(const metrics::MeasurementPlace& place, const character::ReferenceMotion& reference) {
  motion::MeasuredForces measured;
  const auto states = reference.StatesOfPoses();
  for (const bool left : {true, false}) {
    motion::MeasuredForce& force = measured.forces.emplace_back();
    force.side = left != place.exchanged ? motion::Side::kLeft : motion::Side::kRight;
    const int foot = character::BodyOfSegment(reference.character(), left ? "left_foot" : "right_foot");
    for (size_t i = 0; i < states.size(); ++i) {
      const bool on = (i / 20 % 2 == 0) == left;
      const Vec3 under(states[i][static_cast<size_t>(foot)].position.x(), 0,
                       states[i][static_cast<size_t>(foot)].position.z() + 0.03);
      force.forces.push_back(place.ForceToRecording({0, on ? 700.0 : 0.0, 0}));
      force.points.push_back(place.ToRecording(under, 0));
    }
  }
  for (int i = 0; i < kWalkPoses; ++i) measured.times.push_back(i * kWalkFrame);
  measured.valid.assign(kWalkPoses, true);
  return measured;
}

TEST(PlatePlacement, QuarterTurnsHandednessAndSidesAreFound) {
  const auto reference = Walk();
  for (int turn = 0; turn < 4; ++turn) {
    for (const bool mirrored : {false, true}) {
      for (const bool exchanged : {false, true}) {
        if (mirrored && exchanged) continue;  // which of the two it is cannot be told
        metrics::MeasurementPlace place;
        place.heading = turn * kPi / 2;
        place.mirrored = mirrored;
        place.exchanged = exchanged;
        const auto found = FindPlacement(LoadsIn(place, reference), {}, reference);
        ASSERT_TRUE(found);
        EXPECT_TRUE(found->Clear()) << turn << mirrored << exchanged;
        EXPECT_NEAR(std::remainder(found->heading - place.heading, 2 * kPi), 0, 1e-9) << turn << mirrored << exchanged;
        EXPECT_EQ(found->mirrored, mirrored) << turn;
        EXPECT_EQ(found->exchanged, exchanged) << turn;
        EXPECT_LT(found->distance, 0.05);
      }
    }
  }
}

TEST(PlatePlacement, AnotherTurnIsSaid) {
  const auto reference = Walk();
  metrics::MeasurementPlace place;
  place.heading = Radians(40);
  const auto found = FindPlacement(LoadsIn(place, reference), {}, reference);
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->Clear());
  ASSERT_TRUE(found->oblique);
  EXPECT_NEAR(*found->oblique, Radians(40), Radians(3));
}

TEST(PlatePlacement, ForcesWithoutPlacesTellNothing) {
  const auto reference = Walk();
  motion::MeasuredForces measured = LoadsIn({}, reference);
  for (motion::MeasuredForce& force : measured.forces) force.points.clear();
  EXPECT_FALSE(FindPlacement(measured, {}, reference));
}

TEST(PlatePlacement, AMirrorTurnsMomentsRound) {
  metrics::MeasurementPlace place;
  place.mirrored = true;
  place.heading = 0.4;
  const Vec3 arm(0.3, 0.1, -0.5), force(10, 700, -30);
  // The moment of a force at a point is that of the mirrored force at the mirrored point.
  EXPECT_LT((place.MomentToRun(arm.cross(force)) - place.ToRun(arm, 0).cross(place.ForceToRun(force))).norm(), 1e-9);
  EXPECT_LT((place.MomentToRecording(place.MomentToRun(force)) - force).norm(), 1e-9);
  EXPECT_LT((place.ToRecording(place.ToRun(arm, 0), 0) - arm).norm(), 1e-12);
}

}  // namespace
}  // namespace retrace::kinetics
