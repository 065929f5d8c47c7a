#include "retrace/recordings/bvh.h"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <sstream>

#include "recordings/motion_laws.h"
#include "retrace/math/random.h"
#include "retrace/math/rotation.h"

namespace retrace::motion {
namespace {

using testing::HasSubstr;

const char* const kHierarchy =
    "HIERARCHY\n"
    "ROOT mixamorig:Hips\n"
    "{\n"
    "  OFFSET 1 2 3\n"
    "  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation\n"
    "  JOINT Left Up Leg\n"
    "  {\n"
    "    OFFSET 0 -4.5 .25\n"
    "    CHANNELS 2 Yrotation Xrotation\n"
    "    End Site\n"
    "    {\n"
    "      OFFSET 0 -1e-01 0\n"
    "    }\n"
    "  }\n"
    "}\n";

std::string WithRows(const std::string& rows, const std::string& header = "MOTION\nFrames: 1\nFrame Time: 0.01\n") {
  return kHierarchy + header + rows;
}

std::string Refusal(const std::string& text) {
  return laws::Refusal([&] { ParseBvh(text, "clip.bvh"); });
}

TEST(Bvh, ReadsJointsAndChannels) {
  const Clip clip = ParseBvh(WithRows("10 20 30 90 0 0 0 90\n"), "clip.bvh");
  laws::IsWellFormed(clip);
  ASSERT_EQ(clip.skeleton.joints.size(), 3);
  EXPECT_EQ(clip.skeleton.joints[0].name, "mixamorig:Hips");
  EXPECT_EQ(clip.skeleton.joints[0].offset, Vec3(1, 2, 3));
  EXPECT_EQ(clip.skeleton.joints[1].name, "Left Up Leg");
  EXPECT_EQ(clip.skeleton.joints[1].offset, Vec3(0, -4.5, 0.25));
  EXPECT_EQ(clip.skeleton.joints[2].name, "Left Up Leg_end");
  EXPECT_EQ(clip.skeleton.joints[2].offset, Vec3(0, -0.1, 0));
  EXPECT_TRUE(clip.skeleton.joints[2].end_site);
  EXPECT_EQ(clip.skeleton.joints[2].parent, 1);
  EXPECT_EQ(clip.frame_time, 0.01);
  EXPECT_TRUE(clip.frame_time_known);
  EXPECT_EQ(clip.unit, 0);
  EXPECT_EQ(clip.skeleton.Find("Left Up Leg_end"), -1);

  GlobalPose pose;
  ForwardKinematics(clip.skeleton, clip.frames[0], pose);
  // The root's position replaces its offset. It is turned by 90 degrees about z, which carries -y to +x.
  EXPECT_EQ(pose.positions[0], Vec3(10, 20, 30));
  EXPECT_TRUE(pose.positions[1].isApprox(Vec3(14.5, 20, 30.25), 1e-14));
  // The leg turns by 90 degrees about its x, which carries -y to -z.
  EXPECT_TRUE(pose.positions[2].isApprox(Vec3(14.5, 20, 30.15), 1e-14));
}

TEST(Bvh, MultipliesRotationsInTheOrderOfTheChannels) {
  const Clip clip = ParseBvh(WithRows("0 0 0 10 20 30 40 50\n"), "clip.bvh");
  const Quat root = AxisRotation(2, Radians(10)) * AxisRotation(0, Radians(20)) * AxisRotation(1, Radians(30));
  const Quat leg = AxisRotation(1, Radians(40)) * AxisRotation(0, Radians(50));
  EXPECT_LT(AngleBetween(clip.frames[0].rotations[0], root), 1e-15);
  EXPECT_LT(AngleBetween(clip.frames[0].rotations[1], leg), 1e-15);
}

TEST(Bvh, PositionChannelsReplaceTheOffsetAxisByAxis) {
  const Clip clip = ParseBvh(
      "HIERARCHY ROOT a { OFFSET 0 0 0 CHANNELS 3 Xrotation Yposition Zrotation\n"
      "JOINT b { OFFSET 1 2 3 CHANNELS 2 Zposition Xposition } }\n"
      "MOTION\nFrames: 1\nFrame Time: 1\n0 7 0 8 9\n",
      "clip.bvh");
  EXPECT_EQ(clip.frames[0].translations[0], Vec3(0, 7, 0));
  EXPECT_EQ(clip.frames[0].translations[1], Vec3(9, 2, 8));
}

TEST(Bvh, AcceptsTheDialects) {
  const Clip plain = ParseBvh(WithRows("1 2 3 4 5 6 7 8\n"), "clip.bvh");
  std::string crlf;
  for (const char c : WithRows("1 2 3 4 5 6 7 8\n")) crlf += c == '\n' ? "\r\n" : std::string(1, c == ' ' ? '\t' : c);
  const std::string cases[] = {
      crlf,
      "\xef\xbb\xbf" + WithRows("1 2 3 4 5 6 7 8\n"),
      WithRows("1 2 3 4\n5 6\n7 8"),
      WithRows("\n\n+1 2.0 3. 4e0 5 6 7 8\n\n \n"),
      WithRows("1 2 3 4 5 6 7 8\n", "Motion\nframe time : .01\nFRAMES : 1\n"),
      WithRows("1 2 3 4 5 6 7 8\n", "MOTION\nFrames:1\nFrame Time:0.01\n"),
  };
  for (const std::string& text : cases) {
    SCOPED_TRACE(text);
    const Clip clip = ParseBvh(text, "clip.bvh");
    EXPECT_EQ(laws::Difference(plain, clip), "");
  }
}

TEST(Bvh, NamesSeveralEndSitesOfOneJointApart) {
  const Clip clip = ParseBvh(
      "HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 1 Xrotation\nEnd Site\n{\nOFFSET 1 0 0\n}\nEnd Site\n{\n"
      "OFFSET 2 0 0\n}\n}\nMOTION\nFrames: 1\nFrame Time: 1\n0\n",
      "clip.bvh");
  EXPECT_EQ(clip.skeleton.joints[1].name, "a_end");
  EXPECT_EQ(clip.skeleton.joints[2].name, "a_end2");
}

TEST(Bvh, SaysWhereAndWhatIsWrong) {
  EXPECT_EQ(Refusal(""), "clip.bvh:1:1: found the end of the file, expected 'HIERARCHY' at the start of a BVH file");
  EXPECT_EQ(Refusal(WithRows("1 2 3 4 x 6 7 8\n")),
            "clip.bvh:19:9: found 'x', expected value 5 of 8 of frame 1 (a finite number with a decimal point)");
  EXPECT_THAT(Refusal(WithRows("1 2 3 4 5 6 7\n")), HasSubstr(":20:1: found the end of the file behind 7 values"));
  EXPECT_THAT(Refusal(WithRows("1 2 3 4 5 6 7 8 9\n")), HasSubstr(":19:17: found '9', expected the end of the line"));
  EXPECT_THAT(Refusal(WithRows("1 2 3 4 5 6 7 8\n9\n")), HasSubstr(":20:1: found '9', expected the end of the file"));
  EXPECT_THAT(Refusal(WithRows("1 2 3 4 5 6 7 nan\n")), HasSubstr(":19:15: found 'nan'"));
  EXPECT_THAT(Refusal(WithRows("1 2 3 4 5 6 7 1e10\n")), HasSubstr("of magnitude at most 1e9"));
  EXPECT_THAT(Refusal(WithRows("1 2 3 4 5 6 7 8\n", "MOTION\nFrame Time: 1\n")), HasSubstr("expected 'Frames:'"));
  EXPECT_THAT(Refusal(WithRows("1 2 3 4 5 6 7 8\n", "MOTION\nFrames: 1.5\nFrame Time: 1\n")), HasSubstr(":17:9:"));
  EXPECT_THAT(Refusal("HIERARCHY\nROOT {"), HasSubstr(":2:6: found '{', expected the name"));
  EXPECT_THAT(Refusal("HIERARCHY\nROOT a\x01\xff\n{"), HasSubstr("found the name 'a\\x01\\xff'"));
  EXPECT_THAT(Refusal("HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nOFFSET"), HasSubstr(":5:1: found a second 'OFFSET'"));
}

TEST(Bvh, BonesHaveALengthFromTheirOffsetsOrInTheFrames) {
  const std::string hierarchy =
      "HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 0\nJOINT b\n{\nOFFSET 0 0 0\n"
      "CHANNELS 3 Xposition Yposition Zposition\n}\n}\nMOTION\nFrames: 1\nFrame Time: 0.01\n";
  EXPECT_EQ(ParseBvh(hierarchy + "0 1 0\n", "clip.bvh").frames[0].translations[1], Vec3(0, 1, 0));
  // What is never moved would be written without these channels, and could not be read again.
  EXPECT_THAT(laws::Refusal([&] { ParseBvh(hierarchy + "0 0 0\n", "clip.bvh"); }),
              HasSubstr("clip.bvh:2:1: found a skeleton of zero size"));
}

TEST(Bvh, AllocatesNothingForAFalseCount) {
  EXPECT_THAT(Refusal(WithRows("0 0 0 0 0 0 0 0\n", "MOTION\nFrames: 9000000000000000000\nFrame Time: 1\n")),
              HasSubstr("no more than the rest of the file has room for"));
}

TEST(Bvh, WritesWhatBlenderReads) {
  const Clip clip =
      ParseBvh(WithRows("10 20 30 0 0 0 0 0\n1 2 3 0 0 0 0 0\n", "MOTION\nFrames: 2\nFrame Time: .5\n"), "clip.bvh");
  EXPECT_EQ(FormatBvh(clip),
            "HIERARCHY\n"
            "ROOT mixamorig:Hips\n"
            "{\n"
            "\tOFFSET 1 2 3\n"
            "\tCHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation\n"
            "\tJOINT Left Up Leg\n"
            "\t{\n"
            "\t\tOFFSET 0 -4.5 0.25\n"
            "\t\tCHANNELS 3 Zrotation Xrotation Yrotation\n"
            "\t\tEnd Site\n"
            "\t\t{\n"
            "\t\t\tOFFSET 0 -0.1 0\n"
            "\t\t}\n"
            "\t}\n"
            "}\n"
            "MOTION\n"
            "Frames: 2\n"
            "Frame Time: 0.5\n"
            "10 20 30 0 0 0 0 0 0\n"
            "1 2 3 0 0 0 0 0 0\n");
}

TEST(Bvh, TruncatedTextIsRefused) {
  const std::string text = WithRows("1 2 3 4 5 6 7 8.5");
  for (size_t length = 0; length < text.size() - 2; ++length) Refusal(text.substr(0, length));
}

TEST(Bvh, BrokenBytesNeverCrash) {
  const std::string text = WithRows("1 2 3 4 5 6 7 8\n");
  for (size_t i = 0; i < text.size(); ++i) {
    for (const char c : {'\0', ' ', '\n', '{', '}', '9', '-', ':', 'x', '\xff'}) {
      std::string broken = text;
      broken[i] = c;
      try {
        laws::IsWellFormed(ParseBvh(broken, "clip.bvh"));
      } catch (const InputError&) {
      }
    }
  }
}

TEST(Bvh, ALayoutIsKeptToTheLetter) {
  const std::string text =
      WithRows("10 20 30 170 0 5 10 20\n11 21 31 190 3 6 11 21\n", "MOTION\nFrames: 2\nFrame Time: 0.01\n");
  const Clip clip = ParseBvh(text, "clip.bvh");
  BvhLoss loss;
  const std::string written = FormatBvh(clip, ParseBvhLayout(text, "clip.bvh"), loss);
  EXPECT_EQ(written.substr(0, written.find("MOTION")), kHierarchy);
  EXPECT_LT(loss.angle, 1e-12);
  EXPECT_EQ(loss.distance, 0);
  // The numbers, too, but for rounding: 190 degrees go on from 170.
  std::istringstream rows(written.substr(written.find("0.01\n") + 5));
  const double expected[] = {10, 20, 30, 170, 0, 5, 10, 20, 11, 21, 31, 190, 3, 6, 11, 21};
  for (const double value : expected) {
    double number = 0;
    ASSERT_TRUE(rows >> number);
    EXPECT_NEAR(number, value, 1e-9);
  }
  // Line ends of other systems do not count.
  std::string crlf = "\xef\xbb\xbf";
  for (const char c : text) crlf += c == '\n' ? std::string("\r\n") : std::string(1, c);
  EXPECT_EQ(ParseBvhLayout(crlf, "clip.bvh").hierarchy, kHierarchy);
}

TEST(Bvh, ALayoutSaysWhatItHasNoChannelsFor) {
  const std::string text = WithRows("10 20 30 90 0 0 0 90\n");
  Clip clip = ParseBvh(text, "clip.bvh");
  clip.frames[0].rotations[1] = AxisRotation(1, 0.5) * AxisRotation(0, 0.2) * AxisRotation(2, 0.03);
  clip.frames[0].translations[1] += Vec3(0, 0, 0.25);
  BvhLoss loss;
  const std::string written = FormatBvh(clip, ParseBvhLayout(text, "clip.bvh"), loss);
  EXPECT_NEAR(loss.angle, 0.03, 1e-9);
  EXPECT_NEAR(loss.distance, 0.25, 1e-12);
  const Clip read = ParseBvh(written, "clip.bvh");
  EXPECT_LT(AngleBetween(read.frames[0].rotations[1], AxisRotation(1, 0.5) * AxisRotation(0, 0.2)), 1e-9);
}

RC_GTEST_PROP(BvhProperty, RotationsOfAnyChannelOrderReadBack, ()) {
  RandomStream random(*rc::gen::arbitrary<uint64_t>(), RandomStage::kTest, 0, 0);
  const char* const orders[] = {"Xrotation Yrotation Zrotation", "Xrotation Zrotation Yrotation",
                                "Yrotation Xrotation Zrotation", "Yrotation Zrotation Xrotation",
                                "Zrotation Xrotation Yrotation", "Zrotation Yrotation Xrotation"};
  for (const char* const order : orders) {
    const std::string text = std::string("HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 6 ") + order +
                             " Zposition Yposition Xposition\nEnd Site\n{\nOFFSET 0 1 0\n}\n}\n"
                             "MOTION\nFrames: 1\nFrame Time: 0.01\n0 0 0 0 0 0\n";
    Clip clip = ParseBvh(text, "clip.bvh");
    clip.frames.resize(4, clip.frames[0]);
    for (Frame& frame : clip.frames) {
      frame.rotations[0] = Quat(random.Uniform(-1, 1), random.Uniform(-1, 1), random.Uniform(-1, 1), 1.1).normalized();
      frame.translations[0] = Vec3(random.Uniform(-1, 1), 2, 3);
    }
    BvhLoss loss;
    const Clip read = ParseBvh(FormatBvh(clip, ParseBvhLayout(text, "clip.bvh"), loss), "clip.bvh");
    RC_ASSERT(loss.angle == 0 && loss.distance == 0);
    for (size_t f = 0; f < clip.frames.size(); ++f) {
      RC_ASSERT(AngleBetween(read.frames[f].rotations[0], clip.frames[f].rotations[0]) < 1e-9);
      RC_ASSERT(read.frames[f].translations[0] == clip.frames[f].translations[0]);
    }
  }
}

}  // namespace
}  // namespace retrace::motion
