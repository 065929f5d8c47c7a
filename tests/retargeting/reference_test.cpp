/// From a clip to the reference: motions of the character itself, exported as other programs would have recorded them,
/// must come back as they were.
#include "retrace/retargeting/reference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "character/sample_human.h"
#include "retrace/character/skeleton.h"
#include "retrace/io/error.h"
#include "retrace/math/random.h"
#include "retrace/recordings/bvh.h"

namespace retrace::character {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

constexpr double kFrame = 1.0 / 120;
constexpr double kRounding = 2e-5;  // of angles: a foot that begins to swing turns the fitted floor by this [rad]
constexpr double kFloor = 1e-4;     // of positions, for the same reason [m]

/// The clip of a motion with the names of HumanIK, as a file has it after it was written and read.
motion::Clip Recorded(const std::vector<Pose>& poses, const std::function<void(motion::Clip&)>& change = nullptr,
                      double frame_time = kFrame) {
  motion::Clip clip = ClipOf(Human(), poses, frame_time);
  const std::map<std::string, std::string> names = {
      {"pelvis", "Hips"},       {"trunk", "Spine1"}, {"head", "Head"},   {"clavicle", "Shoulder"}, {"upper_arm", "Arm"},
      {"lower_arm", "ForeArm"}, {"hand", "Hand"},    {"thigh", "UpLeg"}, {"shin", "Leg"},          {"foot", "Foot"}};
  for (motion::Joint& joint : clip.skeleton.joints) {
    if (joint.end_site) continue;
    std::string side;
    std::string segment = joint.name;
    if (segment.starts_with("left_")) side = "Left", segment = segment.substr(5);
    if (segment.starts_with("right_")) side = "Right", segment = segment.substr(6);
    joint.name = side + names.at(segment);
  }
  if (change) change(clip);
  return motion::ParseBvh(motion::FormatBvh(clip), "walk.bvh");
}

struct Made {
  std::vector<Pose> poses;
  ReferenceReport report;
};

ReferenceOptions Plain() {
  ReferenceOptions options;
  options.smoothing = 0;
  return options;
}

Made Make(const motion::Clip& clip, const ReferenceOptions& options = Plain()) {
  Made made;
  made.poses = MakeReference(Human(), clip, "walk.bvh", options, made.report).poses();
  return made;
}

/// Largest angle between the rotations of a joint in two motions.
double LargestAngle(const std::vector<Pose>& a, const std::vector<Pose>& b, size_t joint) {
  double largest = 0;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    largest = std::max(largest, AngleBetween(a[i].joint_rotations[joint], b[i].joint_rotations[joint]));
  }
  return largest;
}

/// All joints and the root within bounds.
void ExpectSameMotion(const std::vector<Pose>& made, const std::vector<Pose>& expected, double angle, double distance) {
  ASSERT_EQ(made.size(), expected.size());
  for (size_t j = 0; j < Human().joints.size(); ++j) {
    EXPECT_LT(LargestAngle(made, expected, j), angle) << Human().joints[j].name;
  }
  double off = 0;
  double turned = 0;
  for (size_t i = 0; i < made.size(); ++i) {
    off = std::max(off, (made[i].root_position - expected[i].root_position).norm());
    turned = std::max(turned, AngleBetween(made[i].root_orientation, expected[i].root_orientation));
  }
  EXPECT_LT(off, distance);
  EXPECT_LT(turned, angle);
}

const std::vector<Pose>& StandAndWalk() {
  static const std::vector<Pose> poses = [] {
    Walk walk;
    walk.stand = 0.5;
    return walk.Poses(Human(), 3.5, kFrame);
  }();
  return poses;
}

/// The whole recording turned and moved.
std::function<void(motion::Clip&)> Turned(const Quat& turn, const Vec3& shift) {
  return [=](motion::Clip& clip) {
    for (motion::Frame& frame : clip.frames) {
      frame.translations[0] = turn * frame.translations[0] + shift;
      frame.rotations[0] = turn * frame.rotations[0];
    }
  };
}

TEST(Reference, OfTheCharactersOwnMotionIsThatMotion) {
  const Made made = Make(Recorded(StandAndWalk()));
  ExpectSameMotion(made.poses, StandAndWalk(), kRounding, kFloor);
  EXPECT_EQ(made.report.map.family, "HumanIK");
  EXPECT_TRUE(made.report.rest_pose_used);
  EXPECT_NEAR(made.report.scale, 1, 1e-9);
  EXPECT_NEAR(made.report.frame_rate, 120, 1e-6);
  EXPECT_NEAR(made.report.floor_height, 0, kFloor);
  EXPECT_NEAR(made.report.floor_tilt, 0, kRounding);
  EXPECT_EQ(made.report.largest_lift, 0);
  EXPECT_EQ(made.report.lead_in_frames, 0);
  EXPECT_THAT(made.report.notes, Contains(HasSubstr("left_foot leveled by 0.0 degrees")));
}

TEST(Reference, UnitsDoNotMatter) {
  for (const double scale : {100.0, 1 / 0.0254, 0.02}) {
    const Made made = Make(Recorded(StandAndWalk(), [&](motion::Clip& clip) {
      for (motion::Joint& joint : clip.skeleton.joints) joint.offset *= scale;
      for (motion::Frame& frame : clip.frames) {
        for (Vec3& translation : frame.translations) translation *= scale;
      }
    }));
    ExpectSameMotion(made.poses, StandAndWalk(), kRounding, kFloor);
    EXPECT_NEAR(made.report.scale * scale, 1, 1e-9);
  }
}

TEST(Reference, FacingOfTheRestPoseDoesNotMatter) {
  for (const double angle : {-3.0, -1.2, 0.5, 1.57, 2.5}) {
    SCOPED_TRACE(angle);
    const Quat yaw = AxisRotation(1, angle);
    const Made made = Make(Recorded(StandAndWalk(), [&](motion::Clip& clip) {
      for (motion::Joint& joint : clip.skeleton.joints) joint.offset = yaw * joint.offset;
      for (motion::Frame& frame : clip.frames) {
        for (size_t j = 0; j < frame.rotations.size(); ++j) {
          frame.rotations[j] =
              j == 0 ? frame.rotations[j] * yaw.conjugate() : yaw * frame.rotations[j] * yaw.conjugate();
          if (j > 0) frame.translations[j] = clip.skeleton.joints[j].offset;
          if (clip.skeleton.joints[j].end_site) frame.rotations[j] = Quat::Identity();
        }
      }
    }));
    EXPECT_TRUE(made.report.rest_pose_used);
    ExpectSameMotion(made.poses, StandAndWalk(), kRounding, kFloor);
  }
}

TEST(Reference, TurnsWithTheRecording) {
  const Quat yaw = AxisRotation(1, 2.1);
  const Vec3 shift(3, 0.25, -7);
  const Made made = Make(Recorded(StandAndWalk(), Turned(yaw, shift)));
  std::vector<Pose> expected = StandAndWalk();
  for (Pose& pose : expected) {
    pose.root_position = yaw * pose.root_position + Vec3(shift.x(), 0, shift.z());  // the floor is moved to 0
    pose.root_orientation = yaw * pose.root_orientation;
  }
  ExpectSameMotion(made.poses, expected, kRounding, kFloor);
  EXPECT_NEAR(made.report.floor_height, 0.25, kFloor);
}

RC_GTEST_PROP(ReferenceProperty, TurnedMovedAndRescaledRecordingsAreTheSameMotion, ()) {
  RandomStream random(*rc::gen::arbitrary<uint64_t>(), RandomStage::kTest, 0, 0);
  const Quat yaw = AxisRotation(1, random.Uniform(-kPi, kPi));
  const Vec3 shift(random.Uniform(-50, 50), random.Uniform(-2, 2), random.Uniform(-50, 50));
  const double scale = std::pow(10, random.Uniform(-1.5, 2.5));
  const Made made = Make(Recorded(StandAndWalk(), [&](motion::Clip& clip) {
    Turned(yaw, shift)(clip);
    for (motion::Joint& joint : clip.skeleton.joints) joint.offset *= scale;
    for (motion::Frame& frame : clip.frames) {
      for (Vec3& translation : frame.translations) translation *= scale;
    }
  }));
  RC_ASSERT(made.poses.size() == StandAndWalk().size());
  for (size_t j = 0; j < Human().joints.size(); ++j) RC_ASSERT(LargestAngle(made.poses, StandAndWalk(), j) < kRounding);
  for (size_t f = 0; f < made.poses.size(); ++f) {
    const Pose& expected = StandAndWalk()[f];
    const Vec3 place = yaw * expected.root_position + Vec3(shift.x(), 0, shift.z());
    RC_ASSERT((made.poses[f].root_position - place).norm() < kFloor);
    RC_ASSERT(AngleBetween(made.poses[f].root_orientation, yaw * expected.root_orientation) < kRounding);
  }
}

TEST(Reference, FilesWhoseZAxisPointsUpAreTurned) {
  const Quat lie = AxisRotation(0, kPi / 2);  // y to z
  const Made made = Make(Recorded(StandAndWalk(), [&](motion::Clip& clip) {
    for (motion::Joint& joint : clip.skeleton.joints) joint.offset = lie * joint.offset;
    for (motion::Frame& frame : clip.frames) {
      for (size_t j = 0; j < frame.rotations.size(); ++j) {
        frame.translations[j] = lie * frame.translations[j];
        if (!clip.skeleton.joints[j].end_site) frame.rotations[j] = lie * frame.rotations[j] * lie.conjugate();
      }
    }
  }));
  EXPECT_TRUE(made.report.rest_pose_used);
  EXPECT_THAT(made.report.notes, Contains(HasSubstr("z axis points up")));
  ExpectSameMotion(made.poses, StandAndWalk(), kRounding, kFloor);
}

/// Every joint's own frame turned by a constant of its own: the rest pose is then a heap of bones.
std::function<void(motion::Clip&)> Scrambled(uint64_t seed) {
  return [=](motion::Clip& clip) {
    RandomStream random(seed, RandomStage::kTest, 0, 0);
    std::vector<Quat> constant;
    for (const motion::Joint& joint : clip.skeleton.joints) {
      constant.push_back(joint.end_site ? Quat(Quat::Identity()) : RandomRotation(random));
    }
    for (size_t j = 1; j < clip.skeleton.joints.size(); ++j) {
      motion::Joint& joint = clip.skeleton.joints[j];
      joint.offset = constant[static_cast<size_t>(joint.parent)].conjugate() * joint.offset;
    }
    for (motion::Frame& frame : clip.frames) {
      for (size_t j = 0; j < frame.rotations.size(); ++j) {
        const motion::Joint& joint = clip.skeleton.joints[j];
        if (joint.end_site) {
          frame.translations[j] = joint.offset;
          continue;
        }
        frame.rotations[j] = frame.rotations[j] * constant[j];
        if (j == 0) continue;
        frame.rotations[j] = constant[static_cast<size_t>(joint.parent)].conjugate() * frame.rotations[j];
        frame.translations[j] = joint.offset;
      }
    }
  };
}

TEST(Reference, WithoutARestPoseAxesComeFromGeometryAndMotion) {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE(seed);
    const Made made = Make(Recorded(StandAndWalk(), Scrambled(seed)));
    EXPECT_FALSE(made.report.rest_pose_used);
    EXPECT_NEAR(made.report.scale, 1, 1e-9);
    // The neck sways by 0.1 rad while the head's mean direction is taken; everything else is seen exactly.
    ExpectSameMotion(made.poses, StandAndWalk(), Radians(1), 0.001);
  }
}

/// Directions of the limbs' bones in a state, as the joints show them.
std::vector<Vec3> BoneDirections(const State& state) {
  std::vector<Vec3> directions;
  for (const std::string side : {"left", "right"}) {
    const std::vector<std::string> arm = {"shoulder", "elbow", "wrist"};
    const std::vector<std::string> leg = {"hip", "knee", "ankle"};
    for (const auto& chain : {arm, leg}) {
      for (size_t k = 0; k + 1 < chain.size(); ++k) {
        directions.push_back((JointPosition(Human(), JointOf(Human(), side + "_" + chain[k + 1]), state) -
                              JointPosition(Human(), JointOf(Human(), side + "_" + chain[k]), state))
                                 .normalized());
      }
    }
  }
  return directions;
}

TEST(Reference, WithoutARestPoseOrAStandLimbsStillPointWhereTheyDid) {
  const std::vector<Pose> poses = Walk().Poses(Human(), 3, kFrame);
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE(seed);
    const Made made = Make(Recorded(poses, Scrambled(seed)));
    EXPECT_FALSE(made.report.rest_pose_used);
    ASSERT_EQ(made.poses.size(), poses.size());
    for (size_t i = 0; i < poses.size(); ++i) {
      const auto got = BoneDirections(StateOf(Human(), made.poses[i]));
      const auto want = BoneDirections(StateOf(Human(), poses[i]));
      for (size_t k = 0; k < want.size(); ++k) {
        ASSERT_LT(std::acos(std::clamp(got[k].dot(want[k]), -1.0, 1.0)), Radians(1)) << "bone " << k << ", pose " << i;
      }
    }
  }
}

TEST(Reference, KneelingAndLyingDoNotCountAsStanding) {
  // As in a recording in which a body stands, falls, and lies for most of the time: ankles are lowest while it lies.
  std::vector<Pose> poses = StandAndWalk();
  Pose lying = RestPose(Human());
  lying.root_position = poses.back().root_position;
  lying.root_position.y() = 0.1;
  lying.root_orientation = AxisRotation(0, -kPi / 2);
  for (const char* ankle : {"left_ankle", "right_ankle"}) RotationOf(Human(), lying, ankle) = AxisRotation(0, 0.7);
  for (int i = 0; i < 600; ++i) poses.push_back(lying);
  for (const bool scrambled : {false, true}) {
    const Made made = Make(Recorded(poses, scrambled ? Scrambled(3) : nullptr));
    for (const char* ankle : {"left_ankle", "right_ankle"}) {
      const auto joint = static_cast<size_t>(Human().FindJoint(ankle));
      EXPECT_LT(LargestAngle(made.poses, poses, joint), Radians(1)) << ankle;
    }
  }
}

TEST(Reference, FeetThatAreNotFlatAtRestAreFlattened) {
  // As in CMU's skeletons: the rest pose has the feet pitched and splayed, standing has them flat.
  const Quat splay = AxisRotation(0, 0.15) * AxisRotation(2, 0.1);
  const Made made = Make(Recorded(StandAndWalk(), [&](motion::Clip& clip) {
    for (const char* name : {"LeftFoot", "RightFoot"}) {
      const auto foot = static_cast<size_t>(clip.skeleton.Find(name));
      for (size_t j = foot + 1; j < clip.skeleton.joints.size(); ++j) {
        if (clip.skeleton.joints[j].parent == static_cast<int>(foot)) {
          clip.skeleton.joints[j].offset = splay * clip.skeleton.joints[j].offset;
        }
      }
      for (motion::Frame& frame : clip.frames) frame.rotations[foot] = frame.rotations[foot] * splay.conjugate();
    }
    for (motion::Frame& frame : clip.frames) {
      for (size_t j = 1; j < frame.translations.size(); ++j) frame.translations[j] = clip.skeleton.joints[j].offset;
    }
  }));
  ExpectSameMotion(made.poses, StandAndWalk(), 1e-4, 1e-4);
  EXPECT_THAT(made.report.notes, Contains(HasSubstr("left_foot leveled by 10.3 degrees")));
}

TEST(Reference, AFootIsLeveledWhateverAFewFramesShow) {
  // In one frame in fifteen an ankle lies far below all others, so that no frame of its lowest shows a planted foot; in
  // the other recording the foot is turned against its shin throughout.
  const auto sunk = [](motion::Clip& clip) {
    const auto knee = static_cast<size_t>(clip.skeleton.Find("LeftLeg"));
    for (size_t f = 7; f < clip.frames.size(); f += 15) clip.frames[f].translations[knee].y() -= 0.15;
  };
  const auto turned = [](motion::Clip& clip) {
    const auto foot = static_cast<size_t>(clip.skeleton.Find("LeftFoot"));
    const Quat turn = AxisRotation(0, 0.7);
    for (motion::Frame& frame : clip.frames) frame.rotations[foot] = frame.rotations[foot] * turn.conjugate();
  };
  const auto foot = static_cast<size_t>(Human().FindJoint("left_ankle"));
  ReferenceOptions options = Plain();
  options.bridge_spikes = false;
  const Made low = Make(Recorded(StandAndWalk(), sunk), options);
  EXPECT_THAT(low.report.notes, Contains(HasSubstr("left_foot leveled by 0.0 degrees")));
  const Made off = Make(Recorded(StandAndWalk(), turned), options);
  EXPECT_THAT(off.report.notes, Contains(HasSubstr("left_foot leveled by 40.1 degrees")));
  EXPECT_LT(LargestAngle(off.poses, StandAndWalk(), foot), Radians(2));
}

/// All lengths and positions of a clip in another unit.
std::function<void(motion::Clip&)> InUnit(double meters) {
  return [=](motion::Clip& clip) {
    for (motion::Joint& joint : clip.skeleton.joints) joint.offset /= meters;
    for (motion::Frame& frame : clip.frames) {
      for (Vec3& translation : frame.translations) translation /= meters;
    }
  };
}

/// Sits all the time, on something 0.45 m high, the feet on the floor in front of it.
std::vector<Pose> Sitting() {
  Pose pose = RestPose(Human());
  pose.root_position.y() -= 0.42;
  for (const std::string side : {"left", "right"}) {
    RotationOf(Human(), pose, side + "_hip") = AxisRotation(0, -kPi / 2);
    RotationOf(Human(), pose, side + "_knee") = AxisRotation(0, kPi / 2);
    RotationOf(Human(), pose, side + "_shoulder") = AxisRotation(2, side == "left" ? -1.3 : 1.3);
  }
  return std::vector<Pose>(240, pose);
}

TEST(Reference, BonesTellTheUnitOfSomebodyWhoSits) {
  for (const double unit : {1.0, 0.1, 0.01, 0.001, 0.0254, 0.0254 / 0.45, 0.3048}) {
    const Made made = Make(Recorded(Sitting(), InUnit(unit)));
    EXPECT_NEAR(made.report.unit, unit, 1e-9);
    EXPECT_NEAR(made.report.height, 1.6, 0.15) << unit;
  }
}

/// What a walk is on the way: raised from second `from` on by `height`, as if there was a step.
std::vector<Pose> RaisedFrom(double from, double height) {
  std::vector<Pose> poses = StandAndWalk();
  for (size_t f = static_cast<size_t>(from / kFrame); f < poses.size(); ++f) poses[f].root_position.y() += height;
  return poses;
}

TEST(FloorOfAClip, IsTheLowestLevelAtWhichFeetStand) {
  // Most of the time on the upper one.
  const Made made = Make(Recorded(RaisedFrom(1, 0.3)));
  EXPECT_NEAR(made.report.floor_height, 0, 0.01);
  ASSERT_EQ(made.report.levels.size(), 1u);
  EXPECT_NEAR(made.report.levels[0].height, 0.3, 0.02);
  EXPECT_GT(made.report.levels[0].seconds, 1);
  EXPECT_THAT(made.report.notes, Contains(HasSubstr("feet also stand over the floor: 0.3")));
  EXPECT_TRUE(Make(Recorded(StandAndWalk())).report.levels.empty());
}

TEST(FloorOfAClip, IsNotInTheAirWhereItBegins) {
  // From the top of a jump into a crouch, in which the feet show little.
  std::vector<Pose> poses;
  constexpr double kTop = 0.35;
  for (int f = 0; f < 90; ++f) {
    const double t = f * kFrame, fall = kTop - 0.5 * 9.81 * t * t;
    Pose pose = Sitting().front();
    if (fall > 0) {
      pose = RestPose(Human());
      pose.root_position.y() += fall;
    } else {
      pose.root_position.y() -= 0.2;
      for (const std::string side : {"left", "right"}) {
        RotationOf(Human(), pose, side + "_hip") = AxisRotation(0, -2.2);
        RotationOf(Human(), pose, side + "_knee") = AxisRotation(0, 2.4);
        RotationOf(Human(), pose, side + "_ankle") = AxisRotation(0, -0.2);
      }
      double lowest = 1;
      const State state = StateOf(Human(), pose);
      for (const std::string side : {"left", "right"}) {
        const auto foot = static_cast<size_t>(Human().FindBody(side + "_foot"));
        lowest = std::min(lowest, LowestPoint(Human().bodies[foot], state[foot]));
      }
      pose.root_position.y() -= lowest;
    }
    poses.push_back(pose);
  }
  ReferenceOptions options = Plain();
  options.keep_calibration_frames = true;  // the crouch, into which nobody comes within a frame
  const Made made = Make(Recorded(poses), options);
  EXPECT_NEAR(made.report.floor_height, 0, 0.03);
  EXPECT_FALSE(made.report.floor_shown);
}

TEST(FloorOfAClip, OfAPartInWhichNobodyStandsIsThatOfTheRecording) {
  // The first second stands; in the part that is used the body lies on its back, feet in the air.
  std::vector<Pose> poses(static_cast<size_t>(1 / kFrame), RestPose(Human()));
  Pose lying = RestPose(Human());
  lying.root_orientation = AxisRotation(0, -kPi / 2);
  lying.root_position.y() = 0.12;
  for (const std::string side : {"left", "right"}) {
    RotationOf(Human(), lying, side + "_hip") = AxisRotation(0, -0.5);
  }
  poses.resize(poses.size() + 240, lying);
  ReferenceOptions options = Plain();
  options.start = 1.5;
  options.lift_root = options.raise_hands = false;
  const Made made = Make(Recorded(poses), options);
  EXPECT_NEAR(made.report.floor_height, 0, 0.01);
  EXPECT_NEAR(made.poses[0].root_position.y(), 0.12, 0.01);
  EXPECT_THAT(made.report.notes, Contains(HasSubstr("under planted feet of other parts of the recording")));
}

TEST(Reference, TiltedFloorIsReportedAndLeveled) {
  Walk walk;
  const std::vector<Pose> poses = walk.Poses(Human(), 4, kFrame);
  const motion::Clip clip = Recorded(poses, Turned(AxisRotation(0, Radians(3)), Vec3(0, 0.1, 0)));
  const Made made = Make(clip);
  // A weak prior holds the plane level: a walk of 4 m gives up a twentieth of the tilt.
  EXPECT_NEAR(Degrees(made.report.floor_tilt), 3, 0.3);
  EXPECT_THAT(made.report.notes, Contains(HasSubstr("degrees leveled")));
  double highest = -1;
  double lowest = 1;
  for (size_t i = 1; i + 1 < made.poses.size(); ++i) {
    const State state = StateOf(Human(), made.poses[i]);
    for (const char* ankle : {"left_ankle", "right_ankle"}) {
      const Vec3 place = JointPosition(Human(), JointOf(Human(), ankle), state);
      const Vec3 next = JointPosition(Human(), JointOf(Human(), ankle), StateOf(Human(), made.poses[i + 1]));
      if ((next - place).norm() > 1e-4) continue;
      highest = std::max(highest, place.y());
      lowest = std::min(lowest, place.y());
    }
  }
  EXPECT_GT(lowest, 0.06);
  EXPECT_LT(highest - lowest, 0.015);  // it was 0.21 m over 4 m
  EXPECT_LT(AngleBetween(made.poses[100].root_orientation, Quat::Identity()), Radians(0.3));

  ReferenceOptions as_recorded = Plain();
  as_recorded.level_floor = false;
  const Made tilted = Make(clip, as_recorded);
  EXPECT_EQ(tilted.report.floor_tilt, 0);
  EXPECT_NEAR(AngleBetween(tilted.poses[100].root_orientation, Quat::Identity()), Radians(3), 1e-3);
}

TEST(Reference, KneesBendAboutTheirHingeAlone) {
  const Made made = Make(Recorded(StandAndWalk(), [](motion::Clip& clip) {
    for (motion::Frame& frame : clip.frames) {
      for (const char* knee : {"LeftLeg", "RightLeg"}) {
        Quat& rotation = frame.rotations[static_cast<size_t>(clip.skeleton.Find(knee))];
        rotation = AxisRotation(1, 0.15) * rotation * AxisRotation(1, 0.1);
      }
    }
  }));
  for (const Pose& pose : made.poses) {
    for (const char* knee : {"left_knee", "right_knee"}) {
      const Quat& rotation = pose.joint_rotations[static_cast<size_t>(Human().FindJoint(knee))];
      ASSERT_EQ(rotation.y(), 0);
      ASSERT_EQ(rotation.z(), 0);
    }
  }
}

TEST(Reference, StartVelocityIsNotHalvedByTheFilter) {
  Walk walk;
  walk.speed = 1.2;
  walk.half_period = 0.4;
  const motion::Clip clip = Recorded(walk.Poses(Human(), 2, kFrame));
  ReferenceReport report;
  const ReferenceMotion reference = MakeReference(Human(), clip, "walk.bvh", {}, report);
  const auto root = static_cast<size_t>(Human().root);
  for (const double time : {0.0, 0.05, 1.0, reference.duration() - 0.05, reference.duration()}) {
    State state;
    reference.StateAt(time, state);
    EXPECT_NEAR(state[root].linear_velocity.z(), 1.2, 0.012) << time;
    EXPECT_NEAR(state[root].linear_velocity.y(), 0, 0.01) << time;
  }
}

TEST(Reference, FilterOnlySmooths) {
  ReferenceOptions options;
  const std::vector<Pose> poses = Walk().Poses(Human(), 3, kFrame);
  const Made made = Make(Recorded(poses), options);
  // The swing of a foot lasts half a second: 25 ms take off little.
  ExpectSameMotion(made.poses, poses, Radians(5), 0.005);
  const Made rough = Make(Recorded(poses));
  const auto roughness = [](const std::vector<Pose>& motion) {
    double sum = 0;
    for (size_t i = 1; i + 1 < motion.size(); ++i) {
      for (size_t j = 0; j < Human().joints.size(); ++j) {
        const Vec3 before = RotationVector(motion[i].joint_rotations[j] * motion[i - 1].joint_rotations[j].conjugate());
        const Vec3 after = RotationVector(motion[i + 1].joint_rotations[j] * motion[i].joint_rotations[j].conjugate());
        sum += (after - before).squaredNorm();
      }
    }
    return sum;
  };
  EXPECT_LT(roughness(made.poses), 0.8 * roughness(rough.poses));
}

TEST(Reference, LowFrameRatesAreInterpolated) {
  Walk walk;
  const motion::Clip clip = Recorded(walk.Poses(Human(), 3, 1.0 / 30), nullptr, 1.0 / 30);
  const Made made = Make(clip);
  EXPECT_NEAR(made.report.frame_rate, 30, 1e-6);
  const std::vector<Pose> expected = walk.Poses(Human(), 3, kFrame);
  ASSERT_EQ(made.poses.size(), expected.size());
  ExpectSameMotion(made.poses, expected, Radians(3), 0.01);
}

TEST(Reference, LeadInInTheRestPoseIsSkipped) {
  for (const int frames : {1, 3}) {
    const Made made = Make(Recorded(StandAndWalk(), [&](motion::Clip& clip) {
      motion::Frame rest = clip.frames[0];
      for (Quat& rotation : rest.rotations) rotation = Quat::Identity();
      rest.translations[0] = Vec3(0, 1, 5);
      clip.frames.insert(clip.frames.begin(), static_cast<size_t>(frames), rest);
    }));
    EXPECT_EQ(made.report.lead_in_frames, frames);
    EXPECT_THAT(made.report.notes, Contains(HasSubstr("in the rest pose at the start")));
    ASSERT_EQ(made.poses.size(), StandAndWalk().size());
    ExpectSameMotion(made.poses, StandAndWalk(), kRounding, kFloor);
  }
}

TEST(Reference, AClipThatStandsInItsRestPoseHasNoLeadIn) {
  const std::vector<Pose> poses(60, RestPose(Human()));
  const Made made = Make(Recorded(poses));
  EXPECT_EQ(made.report.lead_in_frames, 0);
  ExpectSameMotion(made.poses, poses, 1e-9, 1e-9);
}

TEST(Reference, TheBodyIsLiftedOutOfTheFloorAndHandsAreNot) {
  std::vector<Pose> poses = StandAndWalk();
  // The last second: sinking on the back until the trunk is 5 cm under the floor.
  for (size_t i = poses.size() - 120; i < poses.size(); ++i) {
    poses[i].joint_rotations = RestPose(Human()).joint_rotations;
    poses[i].root_orientation = AxisRotation(0, -kPi / 2);
    poses[i].root_position.y() = BodyOf(Human(), "trunk").shapes[0].radius - 0.05;
  }
  const Made made = Make(Recorded(poses));
  EXPECT_NEAR(made.report.largest_lift, 0.05 - 0.005, 0.01);
  EXPECT_THAT(made.report.notes, Contains(HasSubstr("root raised by up to")));
  ReferenceOptions options = Plain();
  options.lift_root = false;
  EXPECT_EQ(Make(Recorded(poses), options).report.largest_lift, 0);
}

/// What is said of a clip that is refused.
template <typename Refused>
std::string RefusalOf(const motion::Clip& clip, const ReferenceOptions& options) {
  try {
    Make(clip, options);
  } catch (const Refused& error) {
    return error.what();
  }
  return "not refused";
}

// Row 5 of the list of defects: a clip that was played a hundred times as fast had less than two poses.
TEST(Reference, Row05AMotionLastsForAWhileAndEnds) {
  const motion::Clip clip = Recorded(StandAndWalk());  // 3.5 s
  ReferenceOptions options = Plain();
  options.time_scale = 0.01;
  EXPECT_EQ(RefusalOf<UsageError>(clip, options),
            "walk.bvh: found 3.500 s, played 0.01 times as long, expected a motion of 0.1 to 1200 s");
  motion::Clip slow = clip;
  slow.frame_time = 60;
  EXPECT_THAT(RefusalOf<UsageError>(slow, Plain()), HasSubstr("expected a motion of 0.1 to 1200 s"));
  // Only what is used of a long recording is looked at.
  options = Plain();
  options.end = 100;
  EXPECT_EQ(Make(slow, options).poses.size(), 12001u);
}

// Row 13: what is far away was written to files that could not be read.
TEST(Reference, Row13AMotionIsNearTheOrigin) {
  std::vector<Pose> poses = StandAndWalk();
  for (Pose& pose : poses) pose.root_position.x() += 1e6;
  EXPECT_THAT(
      RefusalOf<InputError>(Recorded(poses), Plain()),
      testing::MatchesRegex("walk.bvh: found a root [0-9e+]+ m from the origin at 0.00 s, expected at most 1000 m "
                            ".is the unit of the file known.."));
}

TEST(Reference, PartsAreRetimed) {
  const motion::Clip clip = Recorded(StandAndWalk());  // 3.5 s
  ReferenceOptions options = Plain();
  const Made plain = Make(clip, options);
  options.retimings = {{1.5, 2.5, 2}};
  const Made slow = Make(clip, options);
  ASSERT_EQ(slow.poses.size(), plain.poses.size() + 120);
  EXPECT_THAT(slow.report.notes, Contains(HasSubstr("from 1.5 to 2.5 s played 2 times as long as the rest")));
  for (const size_t f : {size_t{0}, size_t{100}, size_t{160}}) {  // before
    EXPECT_LT(LargestAngle({plain.poses[f]}, {slow.poses[f]}, 0), 1e-6) << f;
  }
  // In the middle of the part, and after it.
  EXPECT_LT((plain.poses[240].root_position - slow.poses[300].root_position).norm(), 1e-4);
  EXPECT_LT((plain.poses[400].root_position - slow.poses[520].root_position).norm(), 3e-4);
  const Vec3 walked = plain.poses[250].root_position - plain.poses[230].root_position;
  const Vec3 slowly = slow.poses[310].root_position - slow.poses[290].root_position;
  EXPECT_NEAR(slowly.norm(), walked.norm() / 2, 0.02 * walked.norm() + 1e-4);
  options.retimings = {{1.5, 4, 2}};
  EXPECT_THAT(RefusalOf<UsageError>(clip, options), HasSubstr("found the retimed part 1.5-4:2, expected one between"));
}

TEST(Reference, TimeRange) {
  const motion::Clip clip = Recorded(StandAndWalk());  // 3.5 s
  ReferenceOptions options = Plain();
  options.start = 1;
  options.end = 2;
  const Made cut = Make(clip, options);
  ASSERT_EQ(cut.poses.size(), 121u);
  EXPECT_LT(LargestAngle(cut.poses, {StandAndWalk().begin() + 120, StandAndWalk().end()}, 0), 1e-6);

  options.end = 3.54;  // quoted a little too long
  const Made rounded = Make(clip, options);
  EXPECT_EQ(rounded.poses.size(), 301u);
  EXPECT_THAT(rounded.report.notes, Contains(HasSubstr("the clip ends at 3.500 s")));

  const auto refusal = [&](double start, double end) {
    options.start = start;
    options.end = end;
    try {
      Make(clip, options);
    } catch (const UsageError& error) {
      EXPECT_EQ(error.code(), ExitCode::kUsage);
      return std::string(error.what());
    }
    return std::string("not refused");
  };
  EXPECT_EQ(refusal(1, 3.7),
            "walk.bvh: found a start of 1 s and an end of 3.7 s, expected at least 0.1 s between 0.000 and 3.500 s");
  EXPECT_THAT(refusal(-0.5, 2), HasSubstr("found a start of -0.5 s"));
  EXPECT_THAT(refusal(2, 2.05), HasSubstr("at least 0.1 s"));
  EXPECT_THAT(refusal(9, -1), HasSubstr("found a start of 9 s"));
}

TEST(Reference, TimeScaleStretches) {
  ReferenceOptions options = Plain();
  options.time_scale = 2;
  const Made slow = Make(Recorded(StandAndWalk()), options);
  ASSERT_EQ(slow.poses.size(), 2 * (StandAndWalk().size() - 1) + 1);
  EXPECT_LT((slow.poses[400].root_position - StandAndWalk()[200].root_position).norm(), 1e-3);
}

TEST(Reference, ASingleFrameIsNoMotion) {
  const motion::Clip clip = Recorded({StandAndWalk()[0]});
  try {
    Make(clip);
    ADD_FAILURE() << "not refused";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "walk.bvh: found 1 frames, expected at least two frames of motion");
  }
}

TEST(Reference, BodiesWithoutACounterpartFollowTheirParents) {
  // A recording without clavicles and hands.
  const Made made = Make(Recorded(StandAndWalk(), [](motion::Clip& clip) {
    for (const char* name : {"LeftShoulder", "RightShoulder", "LeftHand", "RightHand"}) {
      clip.skeleton.joints[static_cast<size_t>(clip.skeleton.Find(name))].name += "_helper";
    }
  }));
  for (const char* joint : {"left_sternoclavicular", "right_sternoclavicular", "left_wrist", "right_wrist"}) {
    for (const Pose& pose : made.poses) {
      ASSERT_LT(AngleBetween(pose.joint_rotations[static_cast<size_t>(Human().FindJoint(joint))], Quat::Identity()),
                1e-9);
    }
  }
}

TEST(ReferenceMotion, IsClampedAndInterpolated) {
  const ReferenceMotion reference(Human(), kFrame, StandAndWalk(), 1.0 / 60);
  EXPECT_NEAR(reference.duration(), 3.5, 1e-12);
  Pose pose;
  reference.PoseAt(-1, pose);
  EXPECT_EQ(pose.root_position, StandAndWalk().front().root_position);
  reference.PoseAt(99, pose);
  EXPECT_NEAR((pose.root_position - StandAndWalk().back().root_position).norm(), 0, 1e-12);
  reference.PoseAt(100.25 * kFrame, pose);
  EXPECT_NEAR(
      (pose.root_position - (0.75 * StandAndWalk()[100].root_position + 0.25 * StandAndWalk()[101].root_position))
          .norm(),
      0, 1e-12);
}

TEST(ReferenceMotion, VelocitiesAreCentralDifferencesOfTheBodies) {
  const ReferenceMotion reference(Human(), kFrame, StandAndWalk(), 1.0 / 60);
  for (const double time : {0.0, 0.77, 2.0, 3.5}) {
    State state;
    reference.StateAt(time, state);
    const double from = std::max(0.0, time - 1.0 / 60);
    const double to = std::min(3.5, time + 1.0 / 60);
    Pose pose;
    reference.PoseAt(from, pose);
    const State before = StateOf(Human(), pose);
    reference.PoseAt(to, pose);
    const State after = StateOf(Human(), pose);
    for (size_t b = 0; b < state.size(); ++b) {
      EXPECT_LT((state[b].linear_velocity * (to - from) - (after[b].position - before[b].position)).norm(), 1e-12);
      EXPECT_LT(AngleBetween(FromRotationVector((to - from) * state[b].angular_velocity) * before[b].orientation,
                             after[b].orientation),
                1e-12);
    }
  }
}

TEST(ReferenceReport, HasEverythingInJson) {
  const Made made = Make(Recorded(StandAndWalk()));
  const io::Json json = made.report.ToJson();
  for (const char* key :
       {"naming_family", "axes_from_rest_pose", "source_frame_rate", "metres_per_file_unit", "floor_height",
        "floor_tilt", "largest_lift", "lead_in_frames", "lead_out_frames", "handedness", "notes"}) {
    EXPECT_TRUE(json.contains(key)) << key;
  }
}

// ---- what the user says of a clip

TEST(GivenByTheUser, UnitHeightAndWhereTheyComeFrom) {
  const auto in_centimeters = Recorded(StandAndWalk(), [](motion::Clip& clip) {
    for (motion::Joint& joint : clip.skeleton.joints) joint.offset *= 100;
    for (motion::Frame& frame : clip.frames) {
      for (Vec3& translation : frame.translations) translation *= 100;
    }
  });
  const Made found = Make(in_centimeters);
  EXPECT_EQ(found.report.unit, 0.01);
  EXPECT_EQ(found.report.unit_from, "size of the skeleton");
  EXPECT_NEAR(found.report.height, 1.6, 0.15);
  ReferenceOptions options = Plain();
  options.unit = 0.02;
  const Made given = Make(in_centimeters, options);
  EXPECT_EQ(given.report.unit_from, "given");
  EXPECT_NEAR(given.report.height, 2 * found.report.height, 1e-9);
  ExpectSameMotion(given.poses, found.poses, 1e-12, 1e-12);  // the character's size decides
}

TEST(GivenByTheUser, TheAxisThatPointsUp) {
  const Vec3 axes[] = {Vec3::UnitX(), Vec3::UnitZ(), -Vec3::UnitX(), -Vec3::UnitY(), -Vec3::UnitZ()};
  const char* const names[] = {"x", "z", "-x", "-y", "-z"};
  for (int a = 0; a < 5; ++a) {
    SCOPED_TRACE(names[a]);
    const Quat turn = ShortestArc(Vec3::UnitY(), axes[a]);
    ReferenceOptions options = Plain();
    options.up_axis = names[a];
    options.facing = 0;
    const Made made = Make(Recorded(StandAndWalk(), Turned(turn, Vec3::Zero())), options);
    EXPECT_EQ(made.report.up_axis, names[a]);
    for (const Pose& pose : made.poses) ASSERT_GT((pose.root_orientation * Vec3::UnitY()).y(), 0.95);
    for (size_t j = 0; j < Human().joints.size(); ++j) {
      EXPECT_LT(LargestAngle(made.poses, StandAndWalk(), j), 1e-3) << Human().joints[j].name;
    }
  }
}

TEST(GivenByTheUser, FrameRateSkippedFramesFloorAndFacing) {
  const motion::Clip clip = Recorded(StandAndWalk());
  ReferenceOptions options = Plain();
  options.frame_rate = 60;
  EXPECT_NEAR(static_cast<double>(Make(clip, options).poses.size()), 2.0 * static_cast<double>(StandAndWalk().size()),
              2);

  options = Plain();
  options.skipped_frames = 30;
  const Made skipped = Make(clip, options);
  EXPECT_EQ(skipped.poses.size() + 30, StandAndWalk().size());
  EXPECT_THAT(skipped.report.notes, Contains(HasSubstr("30 frames at the start are skipped, as given")));

  options = Plain();
  options.floor_height = 0.25;
  options.level_floor = false;
  options.lift_root = false;
  const Made lower = Make(clip, options);
  EXPECT_NEAR(lower.poses[0].root_position.y(), StandAndWalk()[0].root_position.y() - 0.25, kFloor);
  EXPECT_THAT(lower.report.notes, Contains(HasSubstr("floor 0.250 m as given")));

  options = Plain();
  options.facing = 1.0;
  const Made turned = Make(clip, options);
  const Vec3 left = turned.poses[0].root_orientation * Vec3::UnitX();
  EXPECT_NEAR(std::atan2(-left.z(), left.x()), 1.0, 1e-9);
  for (size_t j = 0; j < Human().joints.size(); ++j)
    EXPECT_LT(LargestAngle(turned.poses, StandAndWalk(), j), kRounding);
}

TEST(GivenByTheUser, AFrameLeftAtTheOriginIsSkipped) {
  const Made made = Make(Recorded(StandAndWalk(), [](motion::Clip& clip) {
    for (size_t f = 1; f < clip.frames.size(); ++f) clip.frames[f].translations[0] += Vec3(2, 0, 1);
  }));
  EXPECT_EQ(made.report.lead_in_frames, 1);
  EXPECT_EQ(made.poses.size() + 1, StandAndWalk().size());
}

/// The whole recording seen in a mirror, left for right.
void Mirror(motion::Clip& clip) {
  const auto other = [&](size_t j) {
    std::string name = clip.skeleton.joints[j].name;
    if (name.starts_with("Left")) {
      name = "Right" + name.substr(4);
    } else if (name.starts_with("Right")) {
      name = "Left" + name.substr(5);
    }
    for (size_t k = 0; k < clip.skeleton.joints.size(); ++k) {
      if (clip.skeleton.joints[k].name == name) return k;
    }
    return j;
  };
  const auto mirrored = [](Quat q) { return Quat(q.w(), q.x(), -q.y(), -q.z()); };
  for (motion::Frame& frame : clip.frames) {
    motion::Frame copy = frame;
    for (size_t j = 0; j < clip.skeleton.joints.size(); ++j) {
      frame.rotations[j] = mirrored(copy.rotations[other(j)]);
    }
    frame.translations[0].x() *= -1;
  }
}

TEST(Reference, OfAMirroredClipIsTheMirroredReference) {
  const Made plain = Make(Recorded(StandAndWalk()));
  const Made made = Make(Recorded(StandAndWalk(), Mirror));
  ASSERT_EQ(made.poses.size(), plain.poses.size());
  const auto mirrored = [](const Quat& q) { return Quat(q.w(), q.x(), -q.y(), -q.z()); };
  for (size_t j = 0; j < Human().joints.size(); ++j) {
    std::string name = Human().joints[j].name;
    if (name.starts_with("left_")) {
      name = "right_" + name.substr(5);
    } else if (name.starts_with("right_")) {
      name = "left_" + name.substr(6);
    }
    const auto twin = static_cast<size_t>(Human().FindJoint(name));
    for (size_t f = 0; f < made.poses.size(); ++f) {
      ASSERT_LT(AngleBetween(made.poses[f].joint_rotations[j], mirrored(plain.poses[f].joint_rotations[twin])), 1e-4)
          << name << " " << f;
    }
  }
}

TEST(Reference, OfAResampledClipIsNearlyTheSame) {
  const Made plain = Make(Recorded(StandAndWalk()));
  std::vector<Pose> halved;
  for (size_t f = 0; f < StandAndWalk().size(); f += 2) halved.push_back(StandAndWalk()[f]);
  const Made made = Make(Recorded(halved, nullptr, 2 * kFrame));
  ASSERT_NEAR(static_cast<double>(made.poses.size()), static_cast<double>(plain.poses.size()), 1.5);
  // Where the motion is smooth: it sets out with a jump from standing.
  const std::vector<Pose> walk(plain.poses.begin() + 90, plain.poses.end() - 2);
  const std::vector<Pose> resampled(made.poses.begin() + 90, made.poses.end());
  for (size_t j = 0; j < Human().joints.size(); ++j) {
    EXPECT_LT(LargestAngle(resampled, walk, j), 0.02) << Human().joints[j].name;
  }
}

const Character& Robot() {
  static const Character robot = LoadCharacter(std::string(RETRACE_SOURCE_DIR) + "/data/characters/asimo.json");
  return robot;
}

/// World direction from one joint to the next.
Vec3 Bone(const Character& character, const State& state, const std::string& from, const std::string& to) {
  const auto at = [&](const std::string& name) {
    return JointPosition(character, character.joints[static_cast<size_t>(character.FindJoint(name))], state);
  };
  return (at(to) - at(from)).normalized();
}

/// A body with bent knees at rest, hinged elbows, no waist and other proportions: its bones point as the recorded ones,
/// and its hips go where the recorded ones go, by the ratio of body heights.
TEST(Reference, OfTheRobotHasTheRecordedBonesAndTheScaledRoot) {
  const auto poses = [] {
    std::vector<Pose> walk = Walk().Poses(Human(), 1, kFrame);
    for (size_t f = 0; f < walk.size(); ++f) {  // arms that bend and turn every way
      const double t = static_cast<double>(f) * kFrame;
      for (const char* side : {"left", "right"}) {
        const double sign = side[0] == 'l' ? 1 : -1;
        const auto joint = [&](const char* name) -> Quat& {
          return walk[f].joint_rotations[static_cast<size_t>(Human().FindJoint(std::string(side) + name))];
        };
        joint("_shoulder") = FromRotationVector({0.5 * std::sin(3 * t), -sign * t, -sign * 0.8});
        joint("_elbow") = FromRotationVector({0.4 * std::sin(5 * t), -sign * (0.6 + 0.5 * t), 0.3 * sign});
      }
    }
    return walk;
  }();
  ReferenceOptions options = Plain();
  options.level_floor = false;
  options.lift_root = false;
  options.raise_hands = false;
  const motion::Clip clip = Recorded(poses);
  const Made human = Make(clip, options);
  ReferenceReport report;
  const std::vector<Pose> robot = MakeReference(Robot(), clip, "walk.bvh", options, report).poses();
  ASSERT_EQ(robot.size(), human.poses.size());
  EXPECT_NEAR(report.scale / human.report.scale, 1.2 / 1.7, 1e-6);
  State of_human;
  State of_robot;
  const auto hips = [](const Character& character, const State& state) {
    const auto at = [&](const char* name) {
      return JointPosition(character, character.joints[static_cast<size_t>(character.FindJoint(name))], state);
    };
    return Vec3(0.5 * (at("left_hip") + at("right_hip")));
  };
  Vec3 first_human = Vec3::Zero();
  Vec3 first_robot = Vec3::Zero();
  for (size_t f = 0; f < robot.size(); f += 7) {
    ForwardKinematics(Human(), human.poses[f], of_human);
    ForwardKinematics(Robot(), robot[f], of_robot);
    for (const std::string side : {"left", "right"}) {
      for (const auto& [from, to] : {std::pair("_hip", "_knee"), std::pair("_knee", "_ankle"),
                                     std::pair("_shoulder", "_elbow"), std::pair("_elbow", "_wrist")}) {
        const double dot =
            Bone(Human(), of_human, side + from, side + to).dot(Bone(Robot(), of_robot, side + from, side + to));
        // The plane of a nearly straight arm is not seen well: there the recorded hinge axis has a say.
        EXPECT_GT(dot, std::string(from) == "_elbow" ? std::cos(Radians(3)) : 1 - 1e-6)
            << side << from << " at frame " << f;
      }
    }
    for (size_t j = 0; j < Robot().joints.size(); ++j) {
      const Joint& joint = Robot().joints[j];
      if (joint.type != JointType::kHinge) continue;
      const Vec3 turn = RotationVector(robot[f].joint_rotations[j]);
      EXPECT_LT((turn - turn[joint.axis] * Vec3::Unit(joint.axis)).norm(), 1e-6) << joint.name;
    }
    if (f == 0) {
      first_human = hips(Human(), of_human);
      first_robot = hips(Robot(), of_robot);
    }
    const Vec3 moved = hips(Robot(), of_robot) - first_robot;
    EXPECT_LT((moved - 1.2 / 1.7 * (hips(Human(), of_human) - first_human)).norm(), 1e-4) << f;
  }
  EXPECT_GT((hips(Robot(), of_robot) - first_robot).norm(), 0.3);
}

/// A walk along a heading, as the planar human has it.
TEST(PlanarReference, IsInThePlaneAndFollowsTheRecordedLimbs) {
  const Character planar = LoadCharacter(std::string(RETRACE_SOURCE_DIR) + "/data/characters/planar_human.json");
  std::vector<Pose> walk = Walk{}.Poses(Human(), 3, kFrame);
  const std::vector<Pose> straight = walk;
  const Quat turn = AxisRotation(1, 0.8);
  for (Pose& pose : walk) {
    pose.root_position = turn * pose.root_position + Vec3(2, 0, 1);
    pose.root_orientation = turn * pose.root_orientation;
  }
  ReferenceReport report;
  const std::vector<Pose> poses = MakeReference(planar, Recorded(walk), "walk.bvh", Plain(), report).poses();
  ASSERT_EQ(poses.size(), straight.size());
  EXPECT_NEAR(report.facing, 0.8, 1e-3);
  EXPECT_THAT(report.notes, Contains(HasSubstr("a planar character: the motion is put into the plane of its mean "
                                               "heading, 45.8 degrees about y from z")));
  for (size_t i = 0; i < poses.size(); ++i) {
    EXPECT_EQ(poses[i].root_position.x(), 0);
    EXPECT_EQ(poses[i].root_orientation.y(), 0);
    EXPECT_EQ(poses[i].root_orientation.z(), 0);
    EXPECT_NEAR(poses[i].root_position.z() - poses[0].root_position.z(),
                straight[i].root_position.z() - straight[0].root_position.z(), 1e-3);
    for (const Quat& rotation : poses[i].joint_rotations) {
      EXPECT_EQ(rotation.y(), 0);
      EXPECT_EQ(rotation.z(), 0);
    }
    // The walk's legs move in sagittal planes already, and its arms hang beside the body and swing.
    for (const char* joint : {"left_hip", "right_knee", "left_ankle"}) {
      const Quat recorded = straight[i].joint_rotations[static_cast<size_t>(Human().FindJoint(joint))];
      const Quat made = poses[i].joint_rotations[static_cast<size_t>(planar.FindJoint(joint))];
      EXPECT_LT(AngleBetween(recorded, made), 2e-3) << joint;
    }
    const State recorded = StateOf(Human(), straight[i]), made = StateOf(planar, poses[i]);
    for (const char* side : {"left", "right"}) {
      const auto pitch = [&](const Character& character, const State& state) {
        const Joint& shoulder = JointOf(character, std::string(side) + "_shoulder");
        const Joint& elbow = JointOf(character, std::string(side) + "_elbow");
        const Vec3 arm = JointPosition(character, elbow, state) - JointPosition(character, shoulder, state);
        return std::atan2(-arm.z(), -arm.y());
      };
      EXPECT_NEAR(pitch(planar, made), pitch(Human(), recorded), 0.02) << side;
    }
  }
}

TEST(PlanarReference, RefusesWhatTurnsAway) {
  const Character planar = LoadCharacter(std::string(RETRACE_SOURCE_DIR) + "/data/characters/planar_human.json");
  std::vector<Pose> walk = Walk{}.Poses(Human(), 3, kFrame);
  for (size_t i = 0; i < walk.size(); ++i) {
    const Quat turn = AxisRotation(1, kPi * static_cast<double>(i) / static_cast<double>(walk.size()));
    walk[i].root_orientation = turn * walk[i].root_orientation;
  }
  ReferenceReport report;
  try {
    MakeReference(planar, Recorded(walk), "walk.bvh", Plain(), report);
    ADD_FAILURE() << "not refused";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("walk.bvh: found a motion that turns by 90 degrees from its mean heading at "));
    EXPECT_THAT(error.what(), HasSubstr(", expected one that stays within 60 degrees of it, for a planar character"));
  }
}

}  // namespace
}  // namespace retrace::character
