/// Repairs of references that reach into the floor: what they must reach and what they must leave alone.
#include "retargeting/floor_clearance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "character/sample_human.h"
#include "retrace/character/reference_motion.h"
#include "retrace/character/skeleton.h"
#include "retrace/retargeting/reference.h"
#include "retrace/retargeting/reference_options.h"
#include "retrace/retargeting/reference_report.h"

namespace retrace::character {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr double kRate = 120;
constexpr double kSkin = 0.01;  // how deep a repaired part may still be [m]

bool SameBits(const Pose& a, const Pose& b) {
  return std::memcmp(a.root_position.data(), b.root_position.data(), sizeof(Vec3)) == 0 &&
         std::memcmp(a.root_orientation.coeffs().data(), b.root_orientation.coeffs().data(), sizeof(Quat)) == 0 &&
         a.joint_rotations.size() == b.joint_rotations.size() &&
         std::memcmp(a.joint_rotations.data(), b.joint_rotations.data(), a.joint_rotations.size() * sizeof(Quat)) == 0;
}

double Lowest(const State& state, const std::string& body) {
  const auto b = static_cast<size_t>(Human().FindBody(body));
  return LowestPoint(Human().bodies[b], state[b]);
}

/// Bent over, both arms straight down, hands over the floor but for a dip of the whole body in the middle: `depth` is
/// how deep the lower hand is then.
std::vector<Pose> Dip(double depth, size_t count = 360) {
  Pose pose = RestPose(Human());
  pose.root_orientation = AxisRotation(0, kPi / 2);
  // Forward is now down; upper arms point to the sides at rest.
  RotationOf(Human(), pose, "left_shoulder") = AxisRotation(1, -kPi / 2);
  RotationOf(Human(), pose, "right_shoulder") = AxisRotation(1, kPi / 2);
  State state = StateOf(Human(), pose);
  const double low = std::min(Lowest(state, "left_hand"), Lowest(state, "right_hand"));
  std::vector<Pose> poses(count, pose);
  for (size_t i = 0; i < count; ++i) {
    const double t = (static_cast<double>(i) - 0.5 * static_cast<double>(count)) / kRate;  // from the middle [s]
    const double dip = std::max(0.0, 1 - t * t / 0.04);                                    // for 0.4 s
    poses[i].root_position.y() += -low + 0.05 - (0.05 + depth) * dip;
  }
  return poses;
}

TEST(RaiseHands, BendsStraightArmsOutOfTheFloor) {
  const std::vector<Pose> before = Dip(0.1);
  std::vector<Pose> after = before;
  ReferenceReport report;
  RaiseHands(Human(), kRate, after, report);
  double deepest_before = 0;
  double deepest = 0;
  double turned = 0;
  for (size_t i = 0; i < before.size(); ++i) {
    const State was = StateOf(Human(), before[i]);
    const State is = StateOf(Human(), after[i]);
    for (const std::string side : {"left", "right"}) {
      for (const char* part : {"_hand", "_lower_arm"}) {
        std::string name = side;
        name.append(part);
        deepest_before = std::max(deepest_before, -Lowest(was, name));
        deepest = std::max(deepest, -Lowest(is, name));
      }
      const auto hand = static_cast<size_t>(Human().FindBody(side + "_hand"));
      turned = std::max(turned, AngleBetween(was[hand].orientation, is[hand].orientation));
      // Bones keep their lengths: joints where they are seen from both bodies.
      const Joint& elbow = JointOf(Human(), side + "_elbow");
      const Joint& wrist = JointOf(Human(), side + "_wrist");
      ASSERT_NEAR((JointPosition(Human(), wrist, is) - JointPosition(Human(), elbow, is)).norm(),
                  (wrist.anchor - elbow.anchor).norm(), 1e-12);
    }
    ASSERT_EQ(std::memcmp(&before[i].root_position, &after[i].root_position, sizeof(Vec3)), 0);
    ASSERT_EQ(std::memcmp(&before[i].root_orientation, &after[i].root_orientation, sizeof(Quat)), 0);
  }
  EXPECT_NEAR(deepest_before, 0.1, 1e-9);
  EXPECT_LT(deepest, kSkin);
  EXPECT_LT(turned, 1e-6);
  EXPECT_GT(report.largest_hand_raise, 0.09);
  EXPECT_LT(report.largest_hand_raise, 0.15);
  EXPECT_THAT(report.notes, Contains(HasSubstr("wrists raised by up to 0.095 m")));
}

TEST(RaiseHands, TurnsNothingButTheArms) {
  const std::vector<Pose> before = Dip(0.1);
  std::vector<Pose> after = before;
  ReferenceReport report;
  RaiseHands(Human(), kRate, after, report);
  for (size_t j = 0; j < Human().joints.size(); ++j) {
    double turned = 0;
    for (size_t i = 0; i < before.size(); ++i) {
      turned = std::max(turned, AngleBetween(before[i].joint_rotations[j], after[i].joint_rotations[j]));
    }
    const std::string& name = Human().joints[j].name;
    const bool arm = name.ends_with("shoulder") || name.ends_with("elbow") || name.ends_with("wrist");
    if (arm) {
      EXPECT_GT(turned, 0.05) << name;
    } else {
      EXPECT_EQ(turned, 0) << name;
    }
  }
}

TEST(RaiseHands, LeavesFramesFarFromTheContactToTheBit) {
  const std::vector<Pose> before = Dip(0.1);
  std::vector<Pose> after = before;
  ReferenceReport report;
  RaiseHands(Human(), kRate, after, report);
  // The dip lasts from 1.3 to 1.7 s; each of three rounds reaches 0.1 s further.
  size_t changed = 0;
  for (size_t i = 0; i < before.size(); ++i) {
    const double time = static_cast<double>(i) / kRate;
    const bool same = SameBits(before[i], after[i]);
    changed += !same;
    if (time < 1.0 || time > 2.0) {
      EXPECT_TRUE(same) << time;
    }
  }
  EXPECT_GT(changed, 40u);
}

TEST(RaiseHands, MovesWristsSmoothly) {
  std::vector<Pose> poses = Dip(0.1);
  ReferenceReport report;
  RaiseHands(Human(), kRate, poses, report);
  const Joint& wrist = JointOf(Human(), "left_wrist");
  double fastest = 0;
  Vec3 last = JointPosition(Human(), wrist, StateOf(Human(), poses[0]));
  for (const Pose& pose : poses) {
    const Vec3 now = JointPosition(Human(), wrist, StateOf(Human(), pose));
    fastest = std::max(fastest, (now - last).norm() * kRate);
    last = now;
  }
  EXPECT_LT(fastest, 3);  // the dip alone has 1.5 m/s
}

TEST(RaiseHands, LeavesHandsThatAreOverTheFloor) {
  std::vector<Pose> poses = Dip(-0.001);
  const std::vector<Pose> before = poses;
  ReferenceReport report;
  RaiseHands(Human(), kRate, poses, report);
  for (size_t i = 0; i < poses.size(); ++i) EXPECT_TRUE(SameBits(before[i], poses[i])) << i;
  EXPECT_EQ(report.largest_hand_raise, 0);
  EXPECT_THAT(report.notes, IsEmpty());
}

TEST(RaiseHands, IsAnOption) {
  motion::Clip clip = ClipOf(Human(), Dip(0.1), 1 / kRate);
  const auto make = [&](bool raise_hands, ReferenceReport& report) {
    ReferenceOptions options;
    options.smoothing = 0;
    options.level_floor = false;
    options.up_axis.assign(1, 'y');
    options.floor_height = 0;
    options.lift_root = false;
    options.raise_hands = raise_hands;
    const ReferenceMotion reference = MakeReference(Human(), clip, "dip.bvh", options, report);
    double lowest = 0;
    for (const Pose& pose : reference.poses()) lowest = std::min(lowest, Lowest(StateOf(Human(), pose), "left_hand"));
    return lowest;
  };
  ReferenceReport without;
  ReferenceReport with;
  EXPECT_LT(make(false, without), -0.09);
  EXPECT_EQ(without.largest_hand_raise, 0);
  EXPECT_THAT(without.notes, Not(Contains(HasSubstr("wrists raised"))));
  EXPECT_GT(make(true, with), -kSkin);
  EXPECT_GT(with.largest_hand_raise, 0.09);
  EXPECT_THAT(with.notes, Contains(HasSubstr("wrists raised")));
}

TEST(LiftRoot, RaisesTheBodyAndTurnsNoJoint) {
  Pose lying = RestPose(Human());
  lying.root_orientation = AxisRotation(0, -kPi / 2);
  State state = StateOf(Human(), lying);
  double lowest = std::numeric_limits<double>::infinity();
  for (const char* part : {"pelvis", "trunk", "head", "left_thigh", "left_upper_arm", "left_clavicle"}) {
    lowest = std::min(lowest, Lowest(state, part));
  }
  std::vector<Pose> before(240, lying);
  for (size_t i = 0; i < before.size(); ++i) {
    before[i].root_position.y() += -lowest + (i >= 110 && i < 130 ? -0.06 : 0.001);
  }
  std::vector<Pose> poses = before;
  ReferenceReport report;
  LiftRoot(Human(), kRate, poses, report);
  EXPECT_NEAR(report.largest_lift, 0.06 - 0.005, 1e-9);  // skin is soft
  EXPECT_THAT(report.notes, Contains(HasSubstr("root raised by up to 0.055 m")));
  for (size_t i = 0; i < poses.size(); ++i) {
    const double lift = poses[i].root_position.y() - before[i].root_position.y();
    if (i >= 110 && i < 130) {
      EXPECT_NEAR(lift, 0.055, 0.002) << i;
    }
    if (i < 80 || i >= 160) {
      EXPECT_TRUE(SameBits(before[i], poses[i])) << i;
    }
    Pose moved = poses[i];
    moved.root_position.y() = before[i].root_position.y();
    EXPECT_TRUE(SameBits(before[i], moved)) << i;
  }
}

TEST(LiftRoot, DoesNotCareForHandsAndFeet) {
  std::vector<Pose> poses = Dip(0.1);
  ReferenceReport report;
  LiftRoot(Human(), kRate, poses, report);
  EXPECT_EQ(report.largest_lift, 0);
  EXPECT_THAT(report.notes, IsEmpty());
}

}  // namespace
}  // namespace retrace::character
