/// Feet that are put on the floor.
#include "retrace/motion_editing/footskate.h"

#include <gtest/gtest.h>

#include "retrace/character/legs.h"
#include "retrace/metrics/surface.h"
#include "task/synthetic_motion.h"

namespace retrace::task {
namespace {

constexpr double kFrames = 120;  // per second

/// Height of the lowest corner of a foot in each pose.
std::vector<double> LowestOf(const std::string& foot, const std::vector<character::Pose>& poses) {
  std::vector<double> heights;
  character::State state;
  for (const character::Pose& pose : poses) {
    character::ForwardKinematics(Human(), pose, state);
    heights.push_back(character::LowestPoint(Human().bodies[BodyIndex(foot)], state[BodyIndex(foot)]));
  }
  return heights;
}

double LargestMagnitude(const std::vector<double>& values) {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  return largest;
}

/// Standing 2 cm in the floor, with the left foot rolled to its side and pitched.
character::Pose Sunken(double) {
  character::Pose pose = SquatPose(0.3);
  pose.root_position.y() -= 0.02;
  Quat& ankle = pose.joint_rotations[JointIndex("left_ankle")];
  ankle = AxisRotation(2, 0.1) * AxisRotation(0, 0.05) * ankle;
  return pose;
}

TEST(CleanFeet, PutsStandingFeetFlatOnTheFloor) {
  const FootCleaning cleaned = CleanFeet(Motion(Sunken, 1));
  for (const std::string foot : {"left_foot", "right_foot"}) {
    EXPECT_LT(LargestMagnitude(LowestOf(foot, cleaned.poses)), 1e-3) << foot;
    character::State state;
    character::ForwardKinematics(Human(), cleaned.poses[60], state);
    EXPECT_NEAR((state[BodyIndex(foot)].orientation * Vec3::UnitY()).y(), 1, 1e-6) << foot;
  }
  EXPECT_NEAR(cleaned.largest_tilt, std::hypot(0.1, 0.05), 0.01);
  EXPECT_GT(cleaned.largest_shift, 0.015);
  EXPECT_LT(cleaned.largest_lowering, 1e-3);
  EXPECT_EQ(cleaned.supported, 1);
}

TEST(CleanFeet, PutsFeetOnAStepAsOnTheFloor) {
  constexpr double kHeight = 0.3;
  simulation::Environment step;
  step.boxes.push_back({"step", Vec3(4, kHeight, 4), Vec3(0, 0.5 * kHeight, 0)});
  const FootCleaning floor = CleanFeet(Motion(Sunken, 1));
  const FootCleaning cleaned = CleanFeet(Motion(
                                             [](double time) {
                                               character::Pose pose = Sunken(time);
                                               pose.root_position.y() += kHeight;
                                               return pose;
                                             },
                                             1),
                                         step);
  for (size_t i = 0; i < floor.poses.size(); ++i) {
    EXPECT_LT((cleaned.poses[i].root_position - floor.poses[i].root_position - Vec3(0, kHeight, 0)).norm(), 1e-9);
    for (size_t j = 0; j < Human().joints.size(); ++j) {
      EXPECT_LT(AngleBetween(cleaned.poses[i].joint_rotations[j], floor.poses[i].joint_rotations[j]), 1e-6);
    }
  }
}

TEST(CleanFeet, TurnsStandingFeetAsTheirSlopeIs) {
  const double angle = 0.05;
  const Quat turned = AxisRotation(0, angle);
  simulation::Environment slope;
  slope.ground.present = false;
  slope.boxes.push_back({"slope", Vec3(8, 1, 8), turned * Vec3(0, -0.5, 0), turned});
  const character::ReferenceMotion on_it = Motion([](double) { return SquatPose(0.3); }, 1);
  // Each foot is on the slope where it is, and as flat on it as on a floor.
  const FootCleaning cleaned = CleanFeet(on_it, slope);
  character::State state;
  character::ForwardKinematics(Human(), cleaned.poses[60], state);
  const metrics::Surface surface(slope);
  for (const std::string foot : {"left_foot", "right_foot"}) {
    const character::BodyState& body = state[BodyIndex(foot)];
    EXPECT_LT(std::abs(surface.HeightOf(Human().bodies[BodyIndex(foot)], body)), 2e-3) << foot;
    EXPECT_LT((body.orientation * Vec3::UnitY() - turned * Vec3::UnitY()).norm(), 1e-3) << foot;
  }
}

TEST(CleanFeet, LeavesAloneWhatStandsAlready) {
  const character::ReferenceMotion squat = Motion([](double time) { return SquatPose(0.3 + 0.2 * std::sin(time)); }, 1);
  const FootCleaning cleaned = CleanFeet(squat);
  EXPECT_LT(cleaned.largest_shift, 1e-3);
  EXPECT_LT(cleaned.largest_tilt, 1e-3);
  for (size_t i = 0; i < cleaned.poses.size(); ++i) {
    EXPECT_LT((cleaned.poses[i].root_position - squat.poses()[i].root_position).norm(), 1e-3);
    for (size_t j = 0; j < Human().joints.size(); ++j) {
      EXPECT_LT(AngleBetween(cleaned.poses[i].joint_rotations[j], squat.poses()[i].joint_rotations[j]), 0.01);
    }
  }
}

TEST(CleanFeet, PutsDownAFootThatRestsOverTheFloor) {
  const auto raised = [](double height) {
    return Motion(
        [height](double) {
          character::Pose pose = SquatPose(0.5);
          character::State state;
          character::ForwardKinematics(Human(), pose, state);
          const character::Leg leg = character::LegsOf(Human())[0];
          const Vec3 ankle = character::JointPosition(Human(), Human().joints[static_cast<size_t>(leg.ankle)], state);
          character::BendLeg(Human(), leg, state, {ankle + Vec3(0, height, 0), Quat::Identity()}, pose);
          return pose;
        },
        1);
  };
  const std::string foot =
      Human()
          .bodies[static_cast<size_t>(Human().joints[static_cast<size_t>(character::LegsOf(Human())[0].ankle)].child)]
          .name;
  EXPECT_NEAR(LowestOf(foot, raised(0.05).poses())[60], 0.05, 1e-3);
  EXPECT_LT(LowestOf(foot, CleanFeet(raised(0.05)).poses)[60], 1e-3);
  EXPECT_NEAR(LowestOf(foot, CleanFeet(raised(0.12)).poses)[60], 0.12, 1e-3);
}

TEST(CleanFeet, KeepsASwingingFootClearOfTheFloor) {
  // The left foot goes forward at 2 m/s, 1 cm over the floor: it does not stand.
  const auto sliding = [](double time) {
    character::Pose pose = SquatPose(0.4);
    pose.root_position.y() += 0.01;
    pose.joint_rotations[JointIndex("left_hip")] =
        AxisRotation(0, -2.4 * (time - 0.1)) * pose.joint_rotations[JointIndex("left_hip")];
    return pose;
  };
  const FootCleaning cleaned = CleanFeet(Motion(sliding, 0.2));
  const std::vector<double> left = LowestOf("left_foot", cleaned.poses);
  EXPECT_GT(left[12], 0.025);
}

TEST(CleanFeet, LowersTheRootOverAStretchedLeg) {
  const auto stretched = [](double) {
    character::Pose pose = StandingPose();
    pose.root_position.y() += 0.015;
    return pose;
  };
  const FootCleaning cleaned = CleanFeet(Motion(stretched, 1));
  EXPECT_GT(cleaned.largest_lowering, 0.015);
  EXPECT_LT(cleaned.largest_lowering, 0.03);
  EXPECT_LT(LargestMagnitude(LowestOf("left_foot", cleaned.poses)), 2e-3);
  EXPECT_GT(RotationVector(cleaned.poses[60].joint_rotations[JointIndex("left_knee")]).x(), 0.1);
}

/// Standing on the right leg, the left one more than 10 cm up and turned inwards so far that the feet overlap as seen
/// from above.
character::Pose Passing(double) {
  character::Pose pose = SquatPose(0.3);
  pose.joint_rotations[JointIndex("left_hip")] =
      AxisRotation(2, -0.16) * AxisRotation(0, -0.45) * pose.joint_rotations[JointIndex("left_hip")];
  pose.joint_rotations[JointIndex("left_knee")] = AxisRotation(0, 1.2);
  return pose;
}

TEST(CleanFeet, MovesASwingingLegAwayFromTheOneThatStands) {
  const character::ReferenceMotion passing = Motion(Passing, 1);
  const FootCleaning cleaned = CleanFeet(passing);
  EXPECT_GT(cleaned.largest_separation, 0.01);
  EXPECT_LT(cleaned.largest_separation, 0.15);
  character::State before, after;
  character::ForwardKinematics(Human(), passing.poses()[60], before);
  character::ForwardKinematics(Human(), cleaned.poses[60], after);
  const Vec3 left = after[BodyIndex("left_foot")].position - before[BodyIndex("left_foot")].position;
  const Vec3 right = after[BodyIndex("right_foot")].position - before[BodyIndex("right_foot")].position;
  EXPECT_NEAR(left.x(), cleaned.largest_separation, 0.005) << "to its own side";
  EXPECT_LT(std::hypot(right.x(), right.z()), 2e-3) << "stands";
  // What was apart by more than the clearance is not moved.
  EXPECT_EQ(CleanFeet(Motion([](double) { return SquatPose(0.3); }, 1)).largest_separation, 0);
}

TEST(CleanFeet, FeetHighInTheAirKeepTheirTilt) {
  const auto jumping = [](double) {
    character::Pose pose = Sunken(0);
    pose.root_position.y() += 0.5;
    return pose;
  };
  const FootCleaning cleaned = CleanFeet(Motion(jumping, 0.5));
  EXPECT_LT(cleaned.largest_shift, 1e-6);
  EXPECT_LT(cleaned.largest_tilt, 1e-6);
  EXPECT_EQ(cleaned.supported, 0);
  EXPECT_EQ(cleaned.poses.size(), static_cast<size_t>(0.5 * kFrames) + 1);
}

}  // namespace
}  // namespace retrace::task
