/// References of real recordings; skipped where the folder of them is absent.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "character/sample_human.h"
#include "retrace/io/error.h"
#include "retrace/io/json.h"
#include "retrace/motion/calibration.h"
#include "retrace/recordings/asf_amc.h"
#include "retrace/recordings/bvh.h"
#include "retrace/retargeting/reference.h"
#include "retrace/retargeting/skeleton_map.h"
#include "retrace/retargeting/skeleton_mapping.h"

namespace retrace::character {
namespace {

namespace fs = std::filesystem;

const fs::path kMocap = fs::path(RETRACE_SHARED_DIR) / "mocap";

double Median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

double DirectionAngle(const Vec3& a, const Vec3& b) {
  return std::atan2(a.cross(b).norm(), a.dot(b));
}

class ReferenceOfClip : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!fs::exists(kMocap / "MANIFEST.json")) GTEST_SKIP() << kMocap << " is absent";
    for (const io::Json& entry : io::ReadJson(kMocap / "MANIFEST.json")) {
      const auto file = entry.at("file").get<std::string>();
      if (fs::path(file).stem() != GetParam() || entry.at("format") == "ASF") continue;
      clip_ = entry.at("format") == "AMC"
                  ? motion::ReadAsfAmc(kMocap / entry.at("asf").get<std::string>(), kMocap / file)
                  : motion::ReadBvh(kMocap / file);
      options_.start = entry.at("suggested_start_s").get<double>();
      options_.end = entry.at("suggested_end_s").get<double>();
    }
    ASSERT_FALSE(clip_.frames.empty()) << GetParam() << " is not in the manifest";
    options_.raise_hands = false;  // floor_clearance_test; here it is the recording's directions that count
    poses_ = MakeReference(Human(), clip_, GetParam(), options_, report_).poses();
  }

  /// Place of a segment's proximal joint in the recording at the time of a pose [file units].
  Vec3 Recorded(const SkeletonMap& map, const std::string& segment, size_t pose) const {
    const auto joint = static_cast<size_t>(map.segments.at(segment).position);
    const double x = std::min((options_.start + static_cast<double>(pose) / 120) / clip_.frame_time,
                              static_cast<double>(clip_.frames.size()) - 1.001);
    const auto frame = static_cast<size_t>(x);
    motion::GlobalPose before;
    motion::GlobalPose after;
    motion::ForwardKinematics(clip_.skeleton, clip_.frames[frame], before);
    motion::ForwardKinematics(clip_.skeleton, clip_.frames[frame + 1], after);
    const double f = x - static_cast<double>(frame);
    return (1 - f) * before.positions[joint] + f * after.positions[joint];
  }

  motion::Clip clip_;
  ReferenceOptions options_;
  ReferenceReport report_;
  std::vector<Pose> poses_;
};

TEST_P(ReferenceOfClip, HasNoSpikes) {
  double fastest = 0;
  std::string where;
  for (size_t i = 0; i + 1 < poses_.size(); ++i) {
    for (size_t j = 0; j < Human().joints.size(); ++j) {
      // That recording turns a hand by 179 degrees and a foot by 119 from one frame to the next.
      const bool end = Human().joints[j].name.ends_with("wrist") || Human().joints[j].name.ends_with("ankle");
      if (end && std::string(GetParam()) == "roll_sideways_s019") continue;
      const double speed = 120 * AngleBetween(poses_[i].joint_rotations[j], poses_[i + 1].joint_rotations[j]);
      if (speed <= fastest) continue;
      fastest = speed;
      where = Human().joints[j].name + " at " + std::to_string(static_cast<double>(i) / 120) + " s";
    }
  }
  EXPECT_LT(fastest, 30) << where;
}

TEST_P(ReferenceOfClip, BendsItsKneesOneWay) {
  for (const Pose& pose : poses_) {
    for (const char* knee : {"left_knee", "right_knee"}) {
      const Quat& q = pose.joint_rotations[static_cast<size_t>(Human().FindJoint(knee))];
      ASSERT_EQ(q.vec().tail<2>(), Eigen::Vector2d::Zero());
      ASSERT_GE(2 * std::atan2(q.x(), q.w()), -0.15);
    }
  }
}

TEST_P(ReferenceOfClip, PlantsItsFeetFlatOnTheFloor) {
  for (const char* name : {"left_foot", "right_foot"}) {
    const auto foot = static_cast<size_t>(Human().FindBody(name));
    const Joint& ankle = Human().joints[static_cast<size_t>(Human().JointOf(static_cast<int>(foot)))];
    std::vector<double> tilts;
    std::vector<double> heights;
    for (size_t i = 1; i + 1 < poses_.size(); ++i) {
      const State before = StateOf(Human(), poses_[i - 1]);
      const State now = StateOf(Human(), poses_[i]);
      const State after = StateOf(Human(), poses_[i + 1]);
      const double speed = 60 * (after[foot].position - before[foot].position).norm();
      const double rate = 60 * AngleBetween(after[foot].orientation, before[foot].orientation);
      const double low = LowestPoint(Human().bodies[foot], now[foot]);
      // Standing on it: it rests near the floor and the pelvis is well above it.
      if (speed > 0.15 || rate > 0.5 || low > 0.04) continue;
      if (poses_[i].root_position.y() - JointPosition(Human(), ankle, now).y() < 0.6) continue;
      const Vec3 up = now[foot].orientation * Vec3::UnitY();
      tilts.push_back(Degrees(DirectionAngle(up, Vec3::UnitY())));
      heights.push_back(low);
    }
    if (tilts.size() < 12) continue;  // a tenth of a second
    // The jumper lands and stays on the balls of the feet.
    EXPECT_LT(Median(tilts), std::string(GetParam()) == "jump_cmu_02_04" ? 12 : 8)
        << name << ", " << tilts.size() << " planted poses";
    EXPECT_LT(std::abs(Median(heights)), 0.015) << name << ", " << heights.size() << " planted poses";
  }
}

TEST_P(ReferenceOfClip, PointsItsLimbsWhereTheRecordingDoes) {
  const SkeletonMap map = MapSkeleton(clip_.skeleton, GetParam());
  // Segment, and the next one down the limb.
  std::vector<std::pair<std::string, std::string>> bones;
  for (const std::string side : {"left_", "right_"}) {
    bones.emplace_back(side + "thigh", side + "shin");
    bones.emplace_back(side + "shin", side + "foot");
    bones.emplace_back(side + "upper_arm", side + "lower_arm");
    if (map.Has(side + "hand")) bones.emplace_back(side + "lower_arm", side + "hand");
  }
  bones.emplace_back("right_thigh", "left_thigh");          // the pelvis
  bones.emplace_back("right_upper_arm", "left_upper_arm");  // the trunk and the collar bones
  const auto anchor = [&](const State& state, const std::string& segment) {
    return JointPosition(Human(), Human().joints[static_cast<size_t>(Human().JointOf(Human().FindBody(segment)))],
                         state);
  };
  for (const auto& [from, to] : bones) {
    std::vector<double> angles;
    for (size_t i = 0; i < poses_.size(); i += 4) {
      const State state = StateOf(Human(), poses_[i]);
      const Vec3 ours = anchor(state, to) - anchor(state, from);
      angles.push_back(Degrees(DirectionAngle(ours, Recorded(map, to, i) - Recorded(map, from, i))));
    }
    EXPECT_LT(Median(angles), 5) << from;
  }
}

TEST_P(ReferenceOfClip, IsOfHumanSize) {
  EXPECT_GT(report_.scale, 0);
  EXPECT_LT(Degrees(report_.floor_tilt), 3);
  EXPECT_LT(report_.largest_lift, 0.2);
  for (const Pose& pose : poses_) {
    ASSERT_GT(pose.root_position.y(), 0.05);
    ASSERT_LT(pose.root_position.y(), 1.6);
  }
}

INSTANTIATE_TEST_SUITE_P(Shared, ReferenceOfClip,
                         ::testing::Values("walk_m_games105", "walk_cmu_02_01", "run_cmu_09_06", "cartwheel_mass",
                                           "walk_start_stop_wd2", "roll_sideways_s019", "roll_forward_sfu",
                                           "getup_prone_wd2", "getup_supine_wd2", "kick_mass", "jump_cmu_02_04"),
                         [](const auto& clip) { return std::string(clip.param); });

/// All recordings of the folder and of more/, whole.
std::vector<std::pair<std::string, motion::Clip>> AllClips() {
  std::vector<std::pair<std::string, motion::Clip>> clips;
  for (const fs::path& folder : {kMocap / "clips", kMocap / "more" / "clips"}) {
    if (!fs::exists(folder)) continue;
    std::vector<fs::path> files(fs::directory_iterator(folder), {});
    std::sort(files.begin(), files.end());
    for (const fs::path& file : files) {
      const std::string stem = file.stem().string();
      if (file.extension() == ".bvh") clips.emplace_back(stem, motion::ReadBvh(file));
      if (file.extension() != ".amc") continue;
      // Skeletons are named after the subject, which the names of motions have in them.
      fs::path longest;
      for (const fs::path& skeleton : files) {
        if (skeleton.extension() != ".asf") continue;
        const std::string subject = skeleton.stem().string();
        const std::string person = subject.substr(0, subject.find("_tiling"));
        const bool its = stem.find(person + "_") != std::string::npos ||
                         (subject == "wd2_tiling" && stem.ends_with("_tiling") && longest.empty()) ||
                         (subject == "bboy_cs04" && stem.find("bboy") != std::string::npos);
        if (its) longest = skeleton;
      }
      if (!longest.empty()) clips.emplace_back(stem, motion::ReadAsfAmc(longest, file));
    }
  }
  return clips;
}

TEST(RealRecordings, AreNotTakenForMirroredOnes) {
  if (!fs::exists(kMocap / "MANIFEST.json")) GTEST_SKIP() << kMocap << " is absent";
  size_t judged = 0;
  for (const auto& [name, clip] : AllClips()) {
    SkeletonMap map;
    try {
      map = MapClip(clip, name, nullptr);
    } catch (const Error&) {
      continue;  // no human
    }
    EXPECT_FALSE(JudgeHandedness(clip, map, 0, clip.frames.size()).mirrored) << name;
    EXPECT_TRUE(JudgeHandedness(motion::Mirrored(clip), map, 0, clip.frames.size()).mirrored) << name;
    ++judged;
  }
  EXPECT_GT(judged, 100u);
}

TEST(RealRecordings, BeginAndEndWithTheirMotionButForThePosesOfExporters) {
  if (!fs::exists(kMocap / "MANIFEST.json")) GTEST_SKIP() << kMocap << " is absent";
  const std::map<std::string, size_t> poses = {
      {"jumps_turn_cmu_01_01", 1}, {"walk_cmu_12_01", 1}, {"sit_idle_legs_mixamo", 6}};
  for (const auto& [name, clip] : AllClips()) {
    if (clip.skeleton.joints.size() < 10) continue;
    double size = 0;
    for (const motion::Joint& joint : clip.skeleton.joints) size += joint.parent < 0 ? 0 : joint.offset.norm();
    const double unit = 4.5 / size;  // bones of a body are about so long in all [m]
    const motion::MotionFrames found = motion::FindMotionFrames(clip, unit);
    const auto exported = poses.find(name);
    const bool bvh = exported != poses.end() && clip.frame_time_known;
    EXPECT_EQ(found.first, bvh ? exported->second : 0) << name;
    EXPECT_EQ(found.end, clip.frames.size()) << name;
  }
}

// The same trial in both formats. The BVH begins with a frame more, in the rest pose.
TEST(ReferenceOfFormats, LegsAgree) {
  if (!fs::exists(kMocap / "MANIFEST.json")) GTEST_SKIP() << kMocap << " is absent";
  const fs::path clips = kMocap / "clips";
  const motion::Clip amc = motion::ReadAsfAmc(clips / "cmu_01.asf", clips / "jumps_turn_cmu_01_01.amc");
  const motion::Clip bvh = motion::ReadBvh(clips / "jumps_turn_cmu_01_01.bvh");
  ASSERT_EQ(bvh.frames.size(), amc.frames.size() + 1);
  ReferenceOptions options;
  options.frame_rate = 120;
  options.skipped_frames = 0;
  ReferenceReport report;
  const std::vector<Pose> a = MakeReference(Human(), amc, "amc", options, report).poses();
  options.skipped_frames = 1;
  const std::vector<Pose> b = MakeReference(Human(), bvh, "bvh", options, report).poses();
  ASSERT_EQ(a.size(), b.size());
  for (const char* body : {"left_thigh", "right_thigh", "left_shin", "right_shin", "left_foot", "right_foot"}) {
    const auto index = static_cast<size_t>(Human().FindBody(body));
    double worst = 0;
    for (size_t f = 0; f < a.size(); ++f) {
      worst = std::max(worst, Degrees(AngleBetween(StateOf(Human(), a[f])[index].orientation,
                                                   StateOf(Human(), b[f])[index].orientation)));
    }
    EXPECT_LT(worst, 2) << body;
  }
  for (const char* joint : {"left_hip", "right_hip", "left_knee", "right_knee", "left_ankle", "right_ankle"}) {
    const auto index = static_cast<size_t>(Human().FindJoint(joint));
    double worst = 0;
    for (size_t f = 0; f < a.size(); ++f) {
      worst = std::max(worst, Degrees(AngleBetween(a[f].joint_rotations[index], b[f].joint_rotations[index])));
    }
    EXPECT_LT(worst, 2) << joint;
  }
}

}  // namespace
}  // namespace retrace::character
