/// Feet that are pressed into soft ground by what they carry.
#include "retrace/motion_editing/foot_contact.h"

#include <gtest/gtest.h>

#include "retrace/character/corners.h"
#include "task/synthetic_motion.h"

namespace retrace::task {
namespace {

constexpr double kSeatingGravity = 9.81;
constexpr double kStiffness = 2e4;

/// What springs under the corners of a foot carry [N].
double Carried(const character::Pose& pose, const std::string& name) {
  character::State state;
  character::ForwardKinematics(Human(), pose, state);
  const size_t body = BodyIndex(name);
  double force = 0;
  for (const character::Shape& shape : Human().bodies[body].shapes) {
    for (const Vec3& corner : character::CornersOf(shape)) {
      force += kStiffness * std::max(0.0, -(state[body].position + state[body].orientation * corner).y());
    }
  }
  return force;
}

TEST(SeatFeet, TheGroundCarriesTheWeightOfWhoStands) {
  const double weight = Human().total_mass() * kSeatingGravity;
  for (const double height : {0.0, 0.02, -0.03}) {
    const auto course = [&](double) {
      character::Pose pose = SquatPose(0.5);
      pose.root_position.y() += height;
      return pose;
    };
    const FootSeating seated = SeatFeet(Motion(course, 1), kStiffness, kSeatingGravity);
    EXPECT_NEAR(seated.lowering, height + weight / (8 * kStiffness), 1e-3) << height;
    EXPECT_LT(seated.largest_shift, 1e-3) << height;
    for (const std::string foot : {"left_foot", "right_foot"}) {
      EXPECT_NEAR(Carried(seated.poses[60], foot), weight / 2, 0.05 * weight) << foot;
    }
    ASSERT_EQ(seated.notes.size(), 1u);
  }
}

TEST(SeatFeet, ChangesNothingWhereNothingStands) {
  const auto course = [](double) {
    character::Pose pose = SquatPose(0.5);
    pose.root_position.y() += 1;
    return pose;
  };
  const character::ReferenceMotion motion = Motion(course, 0.5);
  const FootSeating seated = SeatFeet(motion, kStiffness, kSeatingGravity);
  EXPECT_EQ(seated.lowering, 0);
  EXPECT_TRUE(seated.notes.empty());
  for (size_t i = 0; i < seated.poses.size(); ++i) {
    EXPECT_EQ(seated.poses[i].root_position, motion.poses()[i].root_position);
  }
}

}  // namespace
}  // namespace retrace::task
