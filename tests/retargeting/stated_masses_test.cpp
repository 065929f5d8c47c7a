/// Masses that a recording states, on the character that is made of it.
#include "retargeting/stated_masses.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "character/sample_human.h"
#include "retrace/character/skeleton.h"
#include "retrace/retargeting/subject.h"

namespace retrace::character {
namespace {

const Character& Grown() {
  static const Character adult = LoadCharacter(std::string(RETRACE_SOURCE_DIR) + "/data/characters/adult.json");
  return adult;
}

/// A walk of the adult that states masses: those of the adult, heavier, with the center of the trunk farther back.
/// @param without a body of which it states nothing
motion::Clip WeighedWalk(double heavier, double back, const std::string& without = "") {
  motion::Clip clip = ClipOf(Grown(), Walk().Poses(Grown(), 1, 1.0 / 60), 1.0 / 60);
  clip.unit = 1;
  clip.masses.resize(clip.skeleton.joints.size());
  for (const Body& body : Grown().bodies) {
    const int joint = clip.skeleton.Find(body.name);
    if (joint < 0 || body.name == without) continue;
    Vec3 from = body.rest_position;
    for (const Joint& mover : Grown().joints) {
      if (Grown().bodies[static_cast<size_t>(mover.child)].name == body.name) from = mover.anchor;
    }
    motion::StatedMass& stated = clip.masses[static_cast<size_t>(joint)];
    stated = {heavier * body.mass, body.rest_position - from, heavier * body.InertiaTensor()};
    if (body.segment == "trunk") stated.center.z() -= back;
  }
  return clip;
}

TEST(StatedMasses, GiveTheMassAndTheCenterOfTheTrunk) {
  std::vector<std::string> notes;
  const Character plain = MakeSubject(Grown(), WeighedWalk(0, 0), "clip", {}, notes);
  const Character subject = MakeSubject(Grown(), WeighedWalk(1.2, 0.05), "clip", {}, notes);
  EXPECT_NEAR(subject.total_mass(), 1.2 * Grown().total_mass(), 1e-6);
  EXPECT_NE(notes.back().find("those that the file states, 75.0 kg"), std::string::npos) << notes.back();
  const Vec3 moved = BodyOf(subject, "trunk").rest_position - BodyOf(plain, "trunk").rest_position;
  EXPECT_LT((moved - Vec3(0, 0, -0.05)).norm(), 5e-3);
  EXPECT_LT((BodyOf(subject, "left_thigh").rest_position - BodyOf(plain, "left_thigh").rest_position).norm(), 1e-9);
  for (const Body& body : Grown().bodies) {
    EXPECT_NEAR(BodyOf(subject, body.name).mass / subject.total_mass(), body.mass / Grown().total_mass(), 1e-6);
  }
}

/// A head of which nothing is stated gets its part of the trunk that carries it.
TEST(StatedMasses, AreSharedWithWhatIsNotStated) {
  std::vector<std::string> notes;
  const Character subject = MakeSubject(Grown(), WeighedWalk(1, 0, "head"), "clip", {}, notes);
  EXPECT_NEAR(subject.total_mass(), Grown().total_mass() - BodyOf(Grown(), "head").mass, 1e-6);
  EXPECT_GT(BodyOf(subject, "head").mass, 1);
}

TEST(StatedMasses, AreNoneWhereTheClipHasNone) {
  motion::Clip clip = WeighedWalk(1, 0);
  clip.masses.clear();
  EXPECT_FALSE(WithStatedMasses(Grown(), clip, {}, "clip", {}));
}

}  // namespace
}  // namespace retrace::character
