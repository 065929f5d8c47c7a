#include "retrace/recordings/asf_amc.h"

#include <gmock/gmock.h>

#include "recordings/motion_laws.h"
#include "retrace/math/rotation.h"

namespace retrace::motion {
namespace {

using testing::HasSubstr;

const std::string kAsf =
    "# comment\n"
    ":version 1.10\n"
    ":name test\n"
    ":units\n"
    "  mass 1.0\n"
    "  length 0.5\n"
    "  angle deg\n"
    ":documentation\n"
    "  free text\n"
    ":root\n"
    "  order TX TY TZ RX RY RZ\n"
    "  axis XYZ\n"
    "  position 0 1 0\n"
    "  orientation 0 0 0\n"
    ":bonedata\n"
    "  begin\n"
    "    id 1\n"
    "    name hip\n"
    "    direction 1 0 0\n"
    "    length 2\n"
    "    axis 0 0 0 XYZ\n"
    "  end\n"
    "  begin\n"
    "    id 2\n"
    "    name leg\n"
    "    direction 0 -1 0\n"
    "    length 3\n"
    "    axis 90 0 20 XYZ\n"
    "    dof rx rz\n"
    "    limits (-160.0 20.0)\n"
    "           (-inf inf)\n"
    "  end\n"
    ":hierarchy\n"
    "  begin\n"
    "    root hip\n"
    "    hip leg\n"
    "  end\n";
const std::string kAmc =
    "#!OML:ASF test\n"
    ":FULLY-SPECIFIED\n"
    ":DEGREES\n"
    "1\n"
    "root 5 6 7 0 90 0\n"
    "leg 30 40\n"
    "2\n"
    "root 5 6 7 10 20 30\n"
    "leg 0 0\n";

Clip Parse(const std::string& asf, const std::string& amc) {
  return ParseAsfAmc(asf, "a.asf", amc, "a.amc");
}

std::string Refusal(const std::string& asf, const std::string& amc) {
  return laws::Refusal([&] { Parse(asf, amc); });
}

std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(AsfAmc, ReadsBonesAsJointsAtTheirNearEnd) {
  const Clip clip = Parse(kAsf, kAmc);
  laws::IsWellFormed(clip);
  const auto& joints = clip.skeleton.joints;
  ASSERT_EQ(joints.size(), 4);
  EXPECT_EQ(joints[0].name, "root");
  EXPECT_EQ(joints[1].name, "hip");
  EXPECT_EQ(joints[1].offset, Vec3::Zero());
  EXPECT_EQ(joints[2].name, "leg");
  EXPECT_EQ(joints[2].offset, Vec3(2, 0, 0));
  EXPECT_EQ(joints[3].name, "leg_end");
  EXPECT_EQ(joints[3].offset, Vec3(0, -3, 0));
  EXPECT_TRUE(joints[3].end_site);
  EXPECT_EQ(clip.unit, 0.0254 / 0.5);
  EXPECT_EQ(clip.frame_time, 1.0 / 120);
  EXPECT_FALSE(clip.frame_time_known);

  GlobalPose pose;
  ForwardKinematics(clip.skeleton, clip.frames[0], pose);
  EXPECT_EQ(pose.positions[0], Vec3(5, 7, 7));                    // the motion's position on top of the skeleton's
  EXPECT_TRUE(pose.positions[2].isApprox(Vec3(5, 7, 5), 1e-14));  // 90 degrees about y carry x to -z
}

TEST(AsfAmc, TurnsAboutTheAxesOfTheBone) {
  const Clip clip = Parse(kAsf, kAmc);
  const Quat frame = AxisRotation(2, Radians(20)) * AxisRotation(0, Radians(90));
  const Quat turn = AxisRotation(2, Radians(40)) * AxisRotation(0, Radians(30));
  EXPECT_LT(AngleBetween(clip.frames[0].rotations[2], frame * turn * frame.conjugate()), 1e-14);
  EXPECT_LT(AngleBetween(clip.frames[1].rotations[2], Quat::Identity()), 1e-14);
  const Quat root = AxisRotation(2, Radians(30)) * AxisRotation(1, Radians(20)) * AxisRotation(0, Radians(10));
  EXPECT_LT(AngleBetween(clip.frames[1].rotations[0], root), 1e-14);
}

TEST(AsfAmc, AcceptsTheDialects) {
  const Clip plain = Parse(kAsf, kAmc);
  std::string crlf;
  for (const char c : kAsf) crlf += c == '\n' ? "\r\n" : std::string(1, c);
  EXPECT_EQ(laws::Difference(plain, Parse(crlf, kAmc)), "");
  EXPECT_EQ(
      laws::Difference(plain, Parse("\xef\xbb\xbf" + kAsf, Replaced(kAmc, "#!OML:ASF test\n:FULLY-SPECIFIED\n", "\n"))),
      "");
  EXPECT_EQ(laws::Difference(plain, Parse(Replaced(kAsf, "order TX TY TZ RX RY RZ", "order tx ty tz rx ry rz"), kAmc)),
            "");
}

TEST(AsfAmc, HonorsTheUnitOfAngles) {
  const Clip degrees = Parse(kAsf, kAmc);
  const Clip radians = Parse(kAsf, Replaced(kAmc, ":DEGREES", ":RADIANS"));
  EXPECT_LT(AngleBetween(radians.frames[0].rotations[0], AxisRotation(1, 90)), 1e-12);
  // Without a word in the motion, the skeleton's unit holds for both.
  const std::string asf = Replaced(Replaced(kAsf, "angle deg", "angle rad"), "axis 90 0 20", "axis 1 0 2");
  const Clip neither = Parse(asf, Replaced(kAmc, ":DEGREES\n", ""));
  EXPECT_LT(AngleBetween(neither.frames[0].rotations[0], AxisRotation(1, 90)), 1e-12);
  EXPECT_LT(AngleBetween(degrees.frames[0].rotations[0], AxisRotation(1, Radians(90))), 1e-12);
}

TEST(AsfAmc, TakesTheRateOfTheMotion) {
  const Clip clip = Parse(kAsf, Replaced(kAmc, ":DEGREES", ":DEGREES\n:SAMPLES-PER-SECOND 30"));
  EXPECT_EQ(clip.frame_time, 1.0 / 30);
  EXPECT_TRUE(clip.frame_time_known);
}

TEST(AsfAmc, MovesABoneAlongItsAxes) {
  const std::string asf = Replaced(kAsf, "dof rx rz", "dof tx ty tz");
  const std::string amc = Replaced(Replaced(kAmc, "leg 30 40", "leg 0 1 0"), "leg 0 0", "leg 0 0 0");
  const Clip clip = Parse(asf, amc);
  const Quat frame = AxisRotation(2, Radians(20)) * AxisRotation(0, Radians(90));
  EXPECT_TRUE(clip.frames[0].translations[2].isApprox(Vec3(2, 0, 0) + frame * Vec3(0, 1, 0), 1e-14));
  EXPECT_EQ(clip.frames[1].translations[2], Vec3(2, 0, 0));
}

TEST(AsfAmc, SaysWhereAndWhatIsWrong) {
  EXPECT_EQ(Refusal(kAsf, Replaced(kAmc, "leg 30 40", "leg 30")),
            "a.amc:6:7: found a line with 1, expected 2 values of bone 'leg' in frame 1");
  EXPECT_EQ(Refusal(kAsf, Replaced(kAmc, "leg 30 40", "leg 30 40 50")),
            "a.amc:6:11: found one more value, '50', expected 2 values of bone 'leg' in frame 1");
  EXPECT_THAT(Refusal(kAsf, Replaced(kAmc, "leg 0 0\n", "")), HasSubstr("a.amc:9:1: found the end of the file"));
  EXPECT_THAT(Refusal(kAsf, Replaced(kAmc, "\n2\n", "\n3\n")), HasSubstr("a.amc:7:1: found frame '3' behind frame 1"));
  EXPECT_THAT(Refusal(kAsf, Replaced(kAmc, ":DEGREES", ":DEGREES\n:RADIANS")), HasSubstr("a.amc:4:1:"));
  EXPECT_THAT(Refusal(kAsf, Replaced(kAmc, ":DEGREES", ":SAMPLES-PER-SECOND 0")), HasSubstr("a.amc:3:21: found '0'"));
  EXPECT_THAT(Refusal(Replaced(kAsf, "length 3", "longth 3"), kAmc),
              HasSubstr("a.asf:32:3: found 'end', expected 'length'"));
  EXPECT_THAT(Refusal(Replaced(kAsf, "    axis 0 0 0 XYZ", "    axis 0 0 0 XYX"), kAmc), HasSubstr("a.asf:21:16:"));
  EXPECT_THAT(Refusal(Replaced(kAsf, "hip leg", "leg hip"), kAmc), HasSubstr("'hip' as a child of both"));
  EXPECT_THAT(Refusal(Replaced(kAsf, "root hip\n    hip leg", "root\n    hip leg\n    leg hip"), kAmc),
              HasSubstr("a.asf:18:10: found bone 'hip', which the hierarchy does not connect to the root"));
  EXPECT_THAT(Refusal(Replaced(kAsf, "angle deg", "angle grad"), kAmc), HasSubstr("a.asf:7:9: found 'grad'"));
}

TEST(AsfAmc, GivesBackTheBonesItRead) {
  const Clip clip = Parse(kAsf, kAmc);
  const Clip again = Parse(FormatAsf(clip), FormatAmc(clip));
  EXPECT_EQ(laws::Difference(clip, again), "");
  ASSERT_EQ(again.skeleton.joints.size(), clip.skeleton.joints.size());
  for (size_t j = 0; j < clip.skeleton.joints.size(); ++j) {
    EXPECT_EQ(again.skeleton.joints[j].name, clip.skeleton.joints[j].name);
  }
  EXPECT_FALSE(again.frame_time_known);
}

TEST(AsfAmc, LinksJointsThatStartInDifferentPlaces) {
  Clip clip;
  clip.frame_time = 0.01;
  clip.skeleton.joints = {{"Hips", -1, {0, 1, 0}, false},        {"Spine", 0, {0, 1, 0}, false},
                          {"Left Leg", 0, {1, 0, 0}, false},     {"Right Leg", 0, {1, 0, 0}, false},
                          {"Left Leg_end", 2, {0, -1, 0}, true}, {"Spine_link", 1, {0, 2, 0}, false}};
  Frame frame;
  for (const Joint& joint : clip.skeleton.joints) {
    frame.translations.push_back(joint.offset);
    frame.rotations.push_back(Quat::Identity());
  }
  clip.frames.push_back(frame);
  const Clip again = Parse(FormatAsf(clip), FormatAmc(clip));
  std::vector<std::string> names;
  for (const Joint& joint : again.skeleton.joints) names.push_back(joint.name);
  // The legs share a link; the spine's link gives way to a joint of that name; what ends here gets an end site.
  EXPECT_THAT(names, testing::ElementsAre("root", "Hips", "Spine_link_2", "Spine", "Spine_link", "Spine_link_end",
                                          "Left_Leg_link", "Left_Leg", "Left_Leg_end", "Right_Leg", "Right_Leg_end"));
  EXPECT_EQ(FormatAsf(clip), FormatAsf(clip));
}

TEST(AsfAmc, BrokenBytesNeverCrash) {
  for (size_t i = 0; i < kAsf.size() + kAmc.size(); ++i) {
    for (const char c : {'\0', ' ', '\n', ':', '#', '9', '-', 'x', '\xff'}) {
      std::string asf = kAsf, amc = kAmc;
      (i < asf.size() ? asf[i] : amc[i - asf.size()]) = c;
      try {
        laws::IsWellFormed(Parse(asf, amc));
      } catch (const InputError&) {
      }
    }
  }
  for (size_t length = 0; length < kAsf.size() - 2; ++length) Refusal(kAsf.substr(0, length), kAmc);
}

}  // namespace
}  // namespace retrace::motion
