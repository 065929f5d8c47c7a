/// Servos and largest torques of a character that was made from another one.
#include "retrace/character/strength.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "character/sample_human.h"
#include "retrace/character/builder.h"
#include "retrace/io/error.h"

namespace retrace::character {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Character Heavier(double factor) {
  CharacterBuilder builder(Human());
  builder.ScaleMass(factor);
  return builder.Build("heavier.json");
}

TEST(Strength, IsReadFromText) {
  EXPECT_EQ(ParseJointEffort("100").joint, "");
  EXPECT_EQ(ParseJointEffort("100").effort, 100);
  EXPECT_EQ(ParseJointEffort("left_knee=62.5").joint, "left_knee");
  EXPECT_EQ(ParseJointEffort("left_knee=62.5").effort, 62.5);
  for (const char* const wrong : {"", "strong", "knee=", "=5", "knee=-1", "-1", "1e10", "5 N m", "nan"}) {
    EXPECT_THROW(ParseJointEffort(wrong), UsageError) << wrong;
  }
}

TEST(Strength, LimitsAllJointsOrThoseOfAName) {
  std::vector<std::string> notes;
  const Character human = WithEfforts(Human(), {{"", 100}, {"knee", 60}, {"left_ankle", 0}}, notes);
  EXPECT_EQ(JointOf(human, "waist").effort, Vec3(100, 100, 100));
  EXPECT_EQ(JointOf(human, "left_knee").effort, Vec3(60, 0, 0)) << "a hinge about x";
  EXPECT_EQ(JointOf(human, "right_knee").effort, Vec3(60, 0, 0));
  EXPECT_FALSE(JointOf(human, "left_ankle").limited());
  EXPECT_EQ(JointOf(human, "right_ankle").effort, Vec3(100, 100, 100));
  EXPECT_THAT(notes, ElementsAre("largest torques: all joints 100 N m, knee 60 N m, left_ankle any"));
  // The document has them, so that a run that stores it is replayed with them.
  const Character again = ParseCharacter(human.json, "again.json");
  for (size_t j = 0; j < human.joints.size(); ++j) EXPECT_EQ(again.joints[j].effort, human.joints[j].effort);
  try {
    WithEfforts(Human(), {{"left_kne", 60}}, notes);
    FAIL() << "there is no such joint";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("left_kne"));
    EXPECT_THAT(error.what(), HasSubstr("did you mean \"left_knee\"?"));
  }
}

TEST(Strength, FollowsTheBodyOrStaysOrIsThatOfThePaper) {
  std::vector<std::string> notes;
  const Character heavy = Heavier(2);
  EXPECT_EQ(JointOf(heavy, "waist").kp, 2 * JointOf(Human(), "waist").kp);
  const Character scaled = WithServos(heavy, Human(), Servos::kScaled, notes);
  EXPECT_EQ(JointOf(scaled, "waist").kp, JointOf(heavy, "waist").kp);
  EXPECT_THAT(notes, ElementsAre());
  const Character kept = WithServos(heavy, Human(), Servos::kKept, notes);
  const Character paper = WithServos(heavy, Human(), Servos::kPaper, notes);
  for (size_t j = 0; j < Human().joints.size(); ++j) {
    const Joint& joint = Human().joints[j];
    EXPECT_EQ(kept.joints[j].kp, joint.kp);
    EXPECT_EQ(kept.joints[j].kd, joint.kd);
    EXPECT_EQ(kept.joints[j].strength_scale, joint.strength_scale);
    EXPECT_FALSE(kept.joints[j].limited());
    EXPECT_EQ(paper.joints[j].kp, 700);
    EXPECT_EQ(paper.joints[j].kd, 1);
    for (int a = 0; a < 3; ++a) EXPECT_EQ(paper.joints[j].effort[a], joint.UsesAxis(a) ? 100 : 0);
  }
  EXPECT_EQ(kept.total_mass(), heavy.total_mass());
  EXPECT_THAT(notes, ElementsAre("the servos are those of human, whatever the body weighs",
                                 HasSubstr("as in Al Borno et al. 2018")));
}

TEST(Strength, GrowsWithTheMassThatIsMultiplied) {
  std::vector<std::string> notes;
  const Character limited = WithEfforts(Human(), {{"", 100}}, notes);
  CharacterBuilder builder(limited);
  builder.ScaleMass(1.5);
  const Character heavier = builder.Build("heavier.json");
  EXPECT_EQ(JointOf(heavier, "waist").effort, Vec3(150, 150, 150));
  EXPECT_EQ(JointOf(heavier, "left_knee").effort, Vec3(150, 0, 0));
}

}  // namespace
}  // namespace retrace::character
