/// A character of the recorded person's size: lengths that are known, and skeletons that are no person's.
#include "retrace/retargeting/subject.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "character/sample_human.h"
#include "retrace/character/skeleton.h"
#include "retrace/io/error.h"
#include "retrace/retargeting/reference.h"
#include "retrace/retargeting/reference_report.h"

namespace retrace::character {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

const Character& Adult() {
  static const Character adult = LoadCharacter(std::string(RETRACE_SOURCE_DIR) + "/data/characters/adult.json");
  return adult;
}

/// A walk of the adult whose bones are multiplied.
/// @param factor of the bone that leads to a body's joint
template <typename Factor>
motion::Clip WalkOf(const Factor& factor) {
  motion::Clip clip = ClipOf(Adult(), Walk().Poses(Adult(), 1, 1.0 / 60), 1.0 / 60);
  for (size_t j = 1; j < clip.skeleton.joints.size(); ++j) {
    motion::Joint& joint = clip.skeleton.joints[j];
    const Vec3 offset = joint.offset.cwiseProduct(factor(joint.name));
    for (motion::Frame& frame : clip.frames) frame.translations[j] = offset;
    joint.offset = offset;
  }
  return clip;
}

Vec3 Even(double factor) {
  return Vec3::Constant(factor);
}

struct Found {
  explicit Found(const motion::Clip& clip, const ReferenceOptions& options = {})
      : subject(MakeSubject(Adult(), clip, "clip", options, notes)) {}
  std::vector<std::string> notes;
  Character subject;
};

TEST(MakeSubject, GivesTheModelItsOwnLengths) {
  const Character subject = Found(WalkOf([](const std::string&) { return Even(1); })).subject;
  constexpr double kTolerance = 3e-4;  // arms that hang draw the shoulders together a little
  EXPECT_NEAR(subject.height, 1.7, 1e-9);
  for (const Body& body : Adult().bodies) {
    const Body& found = BodyOf(subject, body.name);
    EXPECT_LT((found.rest_position - body.rest_position).norm(), kTolerance) << body.name;
    EXPECT_NEAR(found.mass, body.mass, 1e-9) << body.name;
    EXPECT_LT((found.InertiaTensor() - body.InertiaTensor()).norm(), kTolerance) << body.name;
  }
  for (const Joint& joint : Adult().joints) {
    EXPECT_LT((JointOf(subject, joint.name).anchor - joint.anchor).norm(), kTolerance) << joint.name;
    EXPECT_NEAR(JointOf(subject, joint.name).kp, joint.kp, 1e-6 * joint.kp) << joint.name;
  }
}

TEST(MakeSubject, HasTheLengthsOfTheRecordedSkeleton) {
  const auto factor = [](const std::string& joint) {
    if (joint.ends_with("thigh")) return Vec3(0.9, 1, 1);
    if (joint.ends_with("shin")) return Even(1.04);
    if (joint.ends_with("foot")) return Even(1.2);
    if (joint.ends_with("lower_arm")) return Even(1.15);
    return Even(1);
  };
  const motion::Clip clip = WalkOf(factor);
  const Found found(clip);
  const auto distance = [](const Character& character, const char* a, const char* b) {
    return (JointOf(character, a).anchor - JointOf(character, b).anchor).norm();
  };
  EXPECT_NEAR(distance(found.subject, "left_hip", "right_hip"), 0.9 * 0.18, 1e-9);
  EXPECT_NEAR(distance(found.subject, "left_hip", "left_knee"), 1.04 * 0.42, 1e-9);
  EXPECT_NEAR(distance(found.subject, "right_knee", "right_ankle"), 1.2 * 0.405, 1e-9);
  EXPECT_NEAR(distance(found.subject, "left_shoulder", "left_elbow"), 1.15 * 0.26, 1e-9);
  double lowest = 1;
  for (const Body& body : found.subject.bodies) {
    for (const Shape& shape : body.shapes) {
      lowest = std::min(lowest, body.rest_position.y() + shape.offset.y() - shape.HalfExtents().y());
    }
  }
  EXPECT_NEAR(lowest, 0, 1e-9);  // it stands on the floor

  // The recording is not scaled then, and the legs are where they were.
  ReferenceReport report;
  MakeReference(found.subject, clip, "clip", {}, report);
  EXPECT_NEAR(report.scale, 1, 1e-9);
  ReferenceReport of_adult;
  MakeReference(Adult(), clip, "clip", {}, of_adult);
  EXPECT_LT(report.joint_distance, 0.5 * of_adult.joint_distance);
}

TEST(MakeSubject, WeighsAsMuchAsTheSquareOfTheHeight) {
  const Character subject = Found(WalkOf([](const std::string&) { return Even(1.1); })).subject;
  EXPECT_NEAR(subject.height, 1.1 * 1.7, 1e-9);
  EXPECT_NEAR(subject.total_mass(), 1.21 * Adult().total_mass(), 1e-9);
  for (const Body& body : Adult().bodies) {  // shares are kept
    EXPECT_NEAR(BodyOf(subject, body.name).mass, 1.21 * body.mass, 1e-9);
  }
  EXPECT_NEAR(JointOf(subject, "left_knee").kp, 1.21 * 1.21 * JointOf(Adult(), "left_knee").kp, 1e-6);
}

TEST(MakeSubject, LeansAsTheRestPoseDoes) {
  motion::Clip clip = WalkOf([](const std::string&) { return Even(1); });
  for (size_t j = 1; j < clip.skeleton.joints.size(); ++j) {
    if (clip.skeleton.joints[j].name != "trunk") continue;
    clip.skeleton.joints[j].offset.z() -= 0.04;
    for (motion::Frame& frame : clip.frames) frame.translations[j].z() -= 0.04;
  }
  const Character subject = Found(clip).subject;
  EXPECT_NEAR(JointOf(subject, "left_shoulder").anchor.z(), -0.04, 2e-4);
  EXPECT_NEAR(JointOf(subject, "left_knee").anchor.z(), 0, 1e-9);
}

TEST(MakeSubject, DoesNotBelieveLengthsThatNobodyHas) {
  const Found wide(WalkOf([](const std::string& joint) { return joint.ends_with("thigh") ? Vec3(2, 1, 1) : Even(1); }));
  EXPECT_THAT(wide.notes, Contains(HasSubstr("follow the legs: hips")));
  EXPECT_NEAR(JointOf(wide.subject, "left_hip").anchor.x(), 0.09, 1e-9);

  ReferenceOptions options;
  options.unit = 0.3;
  const Found small(WalkOf([](const std::string&) { return Even(1); }), options);
  EXPECT_THAT(small.notes, Contains(HasSubstr("a person of 0.51 m, which is not believed")));
  EXPECT_NEAR(small.subject.height, 1.7, 1e-9);
  EXPECT_NEAR(JointOf(small.subject, "left_hip").anchor.y(), 0.9, 1e-9);

  options.unit = 1.1;
  const Found tall(WalkOf([](const std::string&) { return Even(1); }), options);
  EXPECT_THAT(tall.notes, Not(Contains(HasSubstr("not believed"))));
  EXPECT_NEAR(tall.subject.height, 1.87, 1e-9);
}

/// The same with toes at the end of the adult's sole, or at a share of the way from the ankle.
motion::Clip WalkWithToes(double share) {
  motion::Clip clip = WalkOf([](const std::string&) { return Even(1); });
  for (const std::string side : {"left_", "right_"}) {
    const Joint& ankle = JointOf(Adult(), side + "ankle");
    const Body& foot = BodyOf(Adult(), side + "foot");
    const double front = foot.rest_position.z() + foot.shapes[0].offset.z() + 0.5 * foot.shapes[0].size.z();
    motion::Joint toe;
    toe.name = side + "toe";
    toe.parent = clip.skeleton.Find(side + "foot");
    toe.offset = share * Vec3(0, -ankle.anchor.y(), front - ankle.anchor.z());
    clip.skeleton.joints.push_back(toe);
    for (motion::Frame& frame : clip.frames) {
      frame.translations.push_back(toe.offset);
      frame.rotations.push_back(Quat::Identity());
    }
  }
  return clip;
}

TEST(MakeSubject, HasSolesUpToTheBallAlsoWhereTheJointOfTheToesIsBeforeIt) {
  const auto front = [](const Character& character) {
    const Body& foot = BodyOf(character, "left_foot");
    return foot.rest_position.z() + foot.shapes[0].offset.z() + 0.5 * foot.shapes[0].size.z() -
           JointOf(character, "left_ankle").anchor.z();
  };
  const Found shorter(WalkWithToes(0.95)), too_short(WalkWithToes(0.8));
  EXPECT_NEAR(front(shorter.subject), 0.95 * front(Adult()), 1e-3);
  EXPECT_THAT(shorter.notes, Not(Contains(HasSubstr("feet"))));
  EXPECT_NEAR(front(too_short.subject), front(Adult()), 1e-9);
  EXPECT_THAT(too_short.notes, Contains(HasSubstr("follow the legs: feet")));
}

TEST(MakeSubject, RefusesAModelWithoutTheLimbsOfAPerson) {
  const Character quadruped = LoadCharacter(std::string(RETRACE_SOURCE_DIR) + "/data/characters/quadruped.json");
  std::vector<std::string> notes;
  EXPECT_THROW(MakeSubject(quadruped, WalkOf([](const std::string&) { return Even(1); }), "clip", {}, notes),
               InputError);
}

}  // namespace
}  // namespace retrace::character
