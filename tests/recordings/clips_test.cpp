/// Real recordings and broken files; skipped where the folder of them is absent.
#include <gmock/gmock.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "recordings/motion_laws.h"
#include "retrace/io/file.h"
#include "retrace/io/json.h"
#include "retrace/math/rotation.h"
#include "retrace/recordings/asf_amc.h"
#include "retrace/recordings/bvh.h"

namespace retrace::motion {
namespace {

namespace fs = std::filesystem;

const fs::path kMocap = fs::path(RETRACE_SHARED_DIR) / "mocap";

class Clips : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(kMocap / "MANIFEST.json")) GTEST_SKIP() << kMocap << " is absent";
    manifest_ = io::ReadJson(kMocap / "MANIFEST.json");
  }

  /// Calls back with each motion of the manifest: its entry and the clip.
  template <typename Call>
  void ForEach(Call call) {
    int count = 0;
    for (const io::Json& entry : manifest_) {
      const auto file = entry.at("file").get<std::string>();
      if (entry.at("format") == "ASF") continue;
      SCOPED_TRACE(file);
      ++count;
      const Clip clip = entry.at("format") == "AMC"
                            ? ReadAsfAmc(kMocap / entry.at("asf").get<std::string>(), kMocap / file)
                            : ReadBvh(kMocap / file);
      call(entry, clip);
    }
    EXPECT_GT(count, 0);
  }

  io::Json manifest_;
};

TEST_F(Clips, AreWhatTheManifestSays) {
  ForEach([](const io::Json& entry, const Clip& clip) {
    laws::IsWellFormed(clip);
    EXPECT_EQ(clip.frames.size(), entry.at("frames").get<size_t>());
    const auto& joints = clip.skeleton.joints;
    EXPECT_EQ(std::count_if(joints.begin(), joints.end(), [](const Joint& joint) { return !joint.end_site; }),
              entry.at("joints").get<int>());
    EXPECT_NEAR(1 / clip.frame_time, entry.at("fps").get<double>(), 0.01);
    if (clip.unit != 0) {
      EXPECT_NEAR(clip.unit, entry.at("units_to_metres").get<double>(), 1e-6);
    }
    EXPECT_GE(clip.skeleton.Find(entry.at("root_joint").get<std::string>()), 0);
  });
}

TEST_F(Clips, SurviveWritingAndReading) {
  ForEach([](const io::Json&, Clip clip) {
    if (clip.frames.size() > 100) clip.frames.resize(100);
    Clip without_unit = clip;
    without_unit.unit = 0;
    without_unit.frame_time_known = true;
    EXPECT_EQ(laws::Difference(without_unit, ParseBvh(FormatBvh(clip), "copy.bvh")), "");
    EXPECT_EQ(laws::Difference(clip, ParseAsfAmc(FormatAsf(clip), "copy.asf", FormatAmc(clip), "copy.amc"),
                               [](std::string name) {
                                 std::replace(name.begin(), name.end(), ' ', '_');
                                 return name;
                               }),
              "");
  });
}

// The same trial in two formats, converted by somebody else. The BVH has a T-pose in front.
TEST_F(Clips, FormatsAgreeOnTheLegs) {
  const Clip amc = ReadAsfAmc(kMocap / "clips/cmu_01.asf", kMocap / "clips/jumps_turn_cmu_01_01.amc");
  const Clip bvh = ReadBvh(kMocap / "clips/jumps_turn_cmu_01_01.bvh");
  ASSERT_EQ(bvh.frames.size(), amc.frames.size() + 1);
  const std::pair<const char*, const char*> pairs[] = {
      {"root", "Hips"},       {"lfemur", "LeftUpLeg"},  {"ltibia", "LeftLeg"},
      {"lfoot", "LeftFoot"},  {"ltoes", "LeftToeBase"}, {"rfemur", "RightUpLeg"},
      {"rtibia", "RightLeg"}, {"rfoot", "RightFoot"},   {"rtoes", "RightToeBase"}};
  GlobalPose a, b;
  double worst = 0;
  for (size_t f = 0; f < amc.frames.size(); ++f) {
    ForwardKinematics(amc.skeleton, amc.frames[f], a);
    ForwardKinematics(bvh.skeleton, bvh.frames[f + 1], b);
    for (const auto& [bone, joint] : pairs) {
      const int i = amc.skeleton.Find(bone), j = bvh.skeleton.Find(joint);
      ASSERT_GE(i, 0);
      ASSERT_GE(j, 0);
      worst = std::max(worst, (a.positions[i] - b.positions[j]).norm());
    }
  }
  EXPECT_LT(worst, 1e-3);
}

TEST_F(Clips, MalformedFilesAreRefused) {
  const fs::path folder = kMocap / "malformed";
  const io::Json expected = io::ReadJson(folder / "EXPECTED.json");
  for (const auto& [file, entry] : expected.at("files").items()) {
    SCOPED_TRACE(file + ": " + entry.at("what").get<std::string>());
    const fs::path path = folder / file;
    const auto read = [&] {
      if (path.extension() == ".bvh") return ReadBvh(path);
      if (path.extension() == ".asf") return ReadAsfAmc(path, folder / "ok_small.amc");
      return ReadAsfAmc(folder / "ok_small.asf", path);
    };
    const auto expect = entry.at("expect").get<std::string>();
    if (expect == "accept") {
      EXPECT_NO_THROW(laws::IsWellFormed(read()));
    } else if (expect == "reject" || expect == "accept-with-warning-or-reject") {
      EXPECT_THAT(laws::Refusal(read), testing::StartsWith(path.string() + ":"));
    } else {
      EXPECT_EQ(expect, "accept-or-clear-error");
      try {
        laws::IsWellFormed(read());
      } catch (const InputError& error) {
        EXPECT_THAT(error.what(), testing::StartsWith(path.string() + ":"));
      }
    }
  }
}

TEST_F(Clips, VariantsOfTheValidFileAreTheSameMotion) {
  const fs::path folder = kMocap / "malformed";
  const Clip clip = ReadBvh(folder / "ok_small.bvh");
  for (const char* file : {"ok_crlf_tabs.bvh", "ok_utf8_bom.bvh", "ok_blank_lines.bvh", "ok_wrapped_rows.bvh"}) {
    EXPECT_EQ(laws::Difference(clip, ReadBvh(folder / file)), "") << file;
  }
  EXPECT_EQ(ReadAsfAmc(folder / "asf_no_units.asf", folder / "ok_small.amc").unit, 0);
  const Clip radians = ReadAsfAmc(folder / "ok_small.asf", folder / "amc_radians.amc");
  const Clip degrees = ReadAsfAmc(folder / "ok_small.asf", folder / "ok_small.amc");
  const int knee = degrees.skeleton.Find("ltibia");
  const double angle = RotationVector(degrees.frames[0].rotations[knee]).norm();
  EXPECT_LT(
      std::abs(std::remainder(RotationVector(radians.frames[0].rotations[knee]).norm() - Degrees(angle), 2 * kPi)) *
          std::abs(std::remainder(RotationVector(radians.frames[0].rotations[knee]).norm() + Degrees(angle), 2 * kPi)),
      1e-9);
}

}  // namespace
}  // namespace retrace::motion
