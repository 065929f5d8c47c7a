/// Markers of a body that is known, as C3D and TRC files, and the motion that is found from them.
#include "retrace/recordings/markers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "recordings/c3d_writer.h"
#include "recordings/functional_joint.h"
#include "recordings/gap_filling.h"
#include "recordings/marked_walker.h"
#include "recordings/marker_names.h"
#include "recordings/random_clip.h"
#include "recordings/trc_writer.h"
#include "recordings/well_formed.h"
#include "retrace/io/error.h"
#include "retrace/io/number.h"
#include "retrace/math/rotation.h"
#include "retrace/recordings/recording.h"

namespace retrace::recordings {
namespace {

using motion::Clip;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

double LargestDistance(const Clip& clip, const MarkedWalker& walker) {
  EXPECT_EQ(motion::laws::BrokenPromise(clip), "");
  EXPECT_EQ(clip.frames.size(), walker.joints.size());
  double largest = 0;
  motion::GlobalPose pose;
  for (size_t f = 0; f < clip.frames.size(); ++f) {
    ForwardKinematics(clip.skeleton, clip.frames[f], pose);
    for (const auto& [name, place] : walker.joints[f]) {
      const int joint = clip.skeleton.Find(name);
      EXPECT_GE(joint, 0) << name;
      largest = std::max(largest, (pose.positions[static_cast<size_t>(joint)] - place).norm());
    }
  }
  return largest;
}

TEST(Markers, JointsOfPlugInGaitAreWhereTheyWere) {
  const MarkedWalker walker(40);
  const Clip clip = ClipOfMarkers(walker.Recorded(), "walk.c3d");
  EXPECT_LT(LargestDistance(clip, walker), 0.012) << "hinges are known less where a limb is nearly straight";
  EXPECT_EQ(clip.unit, 1);
  EXPECT_NEAR(clip.frame_time, 0.01, 1e-15);
  EXPECT_THAT(clip.notes, IsEmpty());
}

TEST(Markers, OtherNamesOfTheSameMarkers) {
  const MarkedWalker walker(20);
  const Clip expected = ClipOfMarkers(walker.Recorded(), "walk.c3d");
  Markers markers = walker.Recorded();
  for (std::string& name : markers.names) {
    if (name == "LASI") name = "L.ASIS";
    if (name == "RKNE") name = "R_Knee_Lat";
    if (name == "LHEE") name = "L.Heel";
    name = "Bob:" + name;
  }
  markers.names.push_back("Ball:1");
  for (auto& places : markers.places) places.push_back(Vec3::Zero());
  const Clip clip = ClipOfMarkers(markers, "walk.trc");
  EXPECT_EQ(LargestDistance(clip, walker), LargestDistance(expected, walker));
  EXPECT_THAT(clip.notes, ElementsAre("performer \"Bob\" of \"Ball\", \"Bob\""));
}

TEST(Markers, OtherSetsAreReadByAMap) {
  const MarkedWalker walker(20);
  Markers markers = walker.Recorded();
  for (std::string& name : markers.names) {
    if (name == "LASI") name = "P1";
    if (name == "RELB") name = "ellbow right";
    name = "Bob:" + name;
  }
  const std::string bytes = WriteTrc(markers);
  Recording recording{{bytes, "walk.trc"}, {}, {}};
  EXPECT_THROW(ParseRecording(recording), InputError);
  recording.names.markers = {{"LASI", "P1"}, {"RELB", "ellbow right"}};
  EXPECT_LT(LargestDistance(ParseRecording(recording), walker), 0.012);
  recording.names.markers["LKNE"] = "knee";
  EXPECT_THROW(ParseRecording(recording), UsageError);
}

TEST(Markers, JointCentersAreTaken) {
  const MarkedWalker walker(20);
  Markers markers{{}, 50, {}, -1, {}};
  const std::map<std::string, std::string> names = {
      {"LeftUpLeg", "LHip"},     {"LeftLeg", "LKnee"},      {"LeftFoot", "LAnkle"},     {"LeftArm", "LShoulder"},
      {"LeftForeArm", "LElbow"}, {"LeftHand", "LWrist"},    {"RightUpLeg", "RHip"},     {"RightLeg", "RKnee"},
      {"RightFoot", "RAnkle"},   {"RightArm", "RShoulder"}, {"RightForeArm", "RElbow"}, {"RightHand", "RWrist"}};
  for (size_t f = 0; f < 20; ++f) {
    auto& places = markers.places.emplace_back();
    for (const auto& [joint, name] : names) {
      if (f == 0) markers.names.push_back(name);
      places.push_back(walker.joints[f].at(joint));
    }
    for (const char* side : {"L", "R"}) {
      if (f == 0) markers.names.push_back(std::string(side) + "BigToe");
      const auto at =
          std::find(walker.names.begin(), walker.names.end(), std::string(side) + "TOE") - walker.names.begin();
      places.push_back(walker.markers[f][static_cast<size_t>(at)]);
    }
    for (Vec3& place : places) place = Vec3(place.x(), -place.z(), place.y());  // z up, which nothing states
  }
  const Clip clip = ClipOfMarkers(markers, "video.trc");
  motion::GlobalPose pose;
  for (size_t f = 0; f < 20; ++f) {
    ForwardKinematics(clip.skeleton, clip.frames[f], pose);
    for (const auto& [joint, name] : names) {
      const auto index = static_cast<size_t>(clip.skeleton.Find(joint));
      EXPECT_LT((pose.positions[index] - walker.joints[f].at(joint)).norm(), 1e-3) << joint;
    }
  }
  EXPECT_THAT(clip.notes, ElementsAre("no markers of the head: it goes with the trunk"));
}

/// Adds a marker that a body of the walker carries.
void Attach(Markers& markers, const MarkedWalker& walker, const std::string& name, const std::string& body,
            const Vec3& local, const std::vector<Quat>& more = {}) {
  markers.names.push_back(name);
  for (size_t f = 0; f < markers.places.size(); ++f) {
    const Quat turn = walker.turns[f].at(body) * (more.empty() ? Quat(Quat::Identity()) : more[f]);
    markers.places[f].push_back(walker.joints[f].at(body) + turn * local);
  }
}

/// The walker with groups of markers on its segments, whose feet turn at the ankles, instead of markers of these
/// joints.
Markers InGroups(const MarkedWalker& walker) {
  Markers markers = walker.Without({"KNE", "ANK", "TOE", "HEE"});
  std::vector<Quat> tilt;
  for (size_t f = 0; f < markers.places.size(); ++f) {
    tilt.push_back(AxisRotation(0, 0.3 * std::sin(0.17 * static_cast<double>(f))));
  }
  for (const std::string side : {"L", "R"}) {
    const std::string name = side == "L" ? "Left" : "Right";
    const double out = side == "L" ? 1 : -1;
    Attach(markers, walker, side + "TH1", name + "UpLeg", Vec3(0.08 * out, -0.15, 0.03));
    Attach(markers, walker, side + "TH2", name + "UpLeg", Vec3(0.07 * out, -0.28, -0.05));
    Attach(markers, walker, side + "TH3", name + "UpLeg", Vec3(0.05 * out, -0.22, 0.08));
    Attach(markers, walker, side + "TB1", name + "Leg", Vec3(0.05 * out, -0.1, 0.04));
    Attach(markers, walker, side + "TB2", name + "Leg", Vec3(0.04 * out, -0.25, -0.05));
    Attach(markers, walker, side + "TB3", name + "Leg", Vec3(0.06 * out, -0.2, 0.02));
    Attach(markers, walker, side + "HEE", name + "Foot", Vec3(0, -0.05, -0.05), tilt);
    Attach(markers, walker, side + "TOE", name + "Foot", Vec3(0, -0.05, 0.15), tilt);
    Attach(markers, walker, side + "MT5", name + "Foot", Vec3(0.05 * out, -0.06, 0.1), tilt);
  }
  return markers;
}

TEST(Markers, JointsWithoutMarkersAreWhereSegmentsTurn) {
  const MarkedWalker walker(80);
  const Markers markers = InGroups(walker);
  const Clip clip = ClipOfMarkers(markers, "run.trc");
  EXPECT_LT(LargestDistance(clip, walker), 0.012);
  ASSERT_EQ(clip.notes.size(), 1u);
  EXPECT_THAT(clip.notes[0], HasSubstr("no markers of LANK, LKNE, RANK, RKNE: the centers of these joints are where"));
}

/// Two bodies on a hinge along any axis: its line is found, and on it the point beside the rough one.
RC_GTEST_PROP(FunctionalJoint, IsOnTheHingeBesideWhereItRoughlyIs, ()) {
  const auto random = [](double least, double most) {
    return least + (most - least) * 1e-3 * *rc::gen::inRange(0, 1001);
  };
  const auto vector = [&](double reach) {
    return Vec3(random(-reach, reach), random(-reach, reach), random(-reach, reach));
  };
  const Vec3 axis = (Vec3(1, 0, 0) + vector(0.5)).normalized(), center = vector(0.1);
  const double slide = random(-0.05, 0.05);  // of the rough point along the hinge
  constexpr size_t kFrames = 40;
  std::vector<std::vector<Vec3>> first(3), second(3);
  RoughJoint rough;
  std::vector<Vec3> expected;
  for (size_t f = 0; f < kFrames; ++f) {
    const double t = 0.2 * static_cast<double>(f);
    const Quat turn = AxisRotation(1, std::sin(0.3 * t)) * AxisRotation(2, 0.2 * std::cos(t));
    const Vec3 place(t, 0.5, std::sin(t));
    const Quat bent = turn * Quat(Eigen::AngleAxisd(0.6 * std::sin(t), axis));
    const Vec3 at = place + turn * center;
    const Vec3 on_first[] = {{0.1, 0.2, 0}, {-0.1, 0.25, 0.02}, {0, 0.1, 0.1}};
    const Vec3 on_second[] = {{0.1, -0.2, 0}, {-0.1, -0.25, 0.02}, {0, -0.1, 0.1}};
    for (size_t m = 0; m < 3; ++m) {
      first[m].emplace_back(at + turn * on_first[m]);
      second[m].emplace_back(at + bent * on_second[m]);
    }
    expected.emplace_back(at + slide * (turn * axis));
    rough.points.push_back(expected.back());
    rough.directions.push_back(Vec3::Zero());
  }
  const auto found = FindJoint({&first[0], &first[1], &first[2]}, {&second[0], &second[1], &second[2]}, rough);
  RC_ASSERT(found.has_value());
  RC_ASSERT(found->misfit < 1e-3);
  for (size_t f = 0; f < kFrames; ++f) RC_ASSERT((found->centers[f] - expected[f]).norm() < 2e-3);
  RC_ASSERT(!FindJoint({&first[0], &first[1]}, {&second[0], &second[1], &second[2]}, rough).has_value());
}

TEST(MarkerNames, GroupsOfSegments) {
  for (const char* thigh : {"LTH1", "L_thigh4", "L.Thigh.Upper", "LTHI", "LTHAP", "LFTC"}) {
    EXPECT_TRUE(IsInGroup(PlainMarker(thigh), MarkerGroup::kThigh, 0)) << thigh;
    EXPECT_FALSE(IsInGroup(PlainMarker(thigh), MarkerGroup::kThigh, 1)) << thigh;
  }
  for (const char* shank : {"RTB2", "r_sh2", "r_shank_antsup", "R.SH4", "RTIB", "R_Shank_Rear", "RTIAP"}) {
    EXPECT_TRUE(IsInGroup(PlainMarker(shank), MarkerGroup::kShank, 1)) << shank;
  }
  for (const char* other : {"LTHUMB", "LSHO", "LSH", "LTH", "C7", "", "L"}) {
    EXPECT_FALSE(IsInGroup(PlainMarker(other), MarkerGroup::kThigh, 0)) << other;
    EXPECT_FALSE(IsInGroup(PlainMarker(other), MarkerGroup::kShank, 0)) << other;
  }
  EXPECT_EQ(OnSide("WAIST*FRONT", 1), "WAISTRFRONT");
  EXPECT_EQ(OnSide("#KNEE", 0), "LEFTKNEE");
}

TEST(Markers, JointsThatDoNotBendAreNotFound) {
  const MarkedWalker walker(80);
  Markers markers = InGroups(walker);
  for (auto& places : markers.places) places = markers.places.front();
  try {
    ClipOfMarkers(markers, "standing.trc");
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(),
                HasSubstr("standing.trc: found no marker LKNE, and groups of markers that move too little"));
    EXPECT_THAT(error.what(), HasSubstr("expected a marker of the joint, or a motion that bends it"));
  }
}

TEST(Markers, LegsAloneHaveATrunkThatIsUpright) {
  const MarkedWalker walker(40);
  const Markers markers = walker.Without({"SHO", "ELB", "WRA", "WRB", "FIN", "FHD", "BHD"});
  const Clip clip = ClipOfMarkers(markers, "gait.c3d");
  EXPECT_EQ(motion::laws::BrokenPromise(clip), "");
  motion::GlobalPose pose;
  for (size_t f = 0; f < clip.frames.size(); ++f) {
    ForwardKinematics(clip.skeleton, clip.frames[f], pose);
    const auto at = [&](const char* name) { return pose.positions[static_cast<size_t>(clip.skeleton.Find(name))]; };
    EXPECT_LT((at("LeftLeg") - walker.joints[f].at("LeftLeg")).norm(), 0.012);
    EXPECT_LT((at("RightFoot") - walker.joints[f].at("RightFoot")).norm(), 0.012);
    const Vec3 trunk = at("Head") - walker.joints[f].at("Hips");
    EXPECT_NEAR(trunk.normalized().y(), 1, 1e-4) << "upright";
    EXPECT_NEAR(trunk.y(), 0.585 * 0.82, 5e-3);
    const Vec3 arm = at("LeftHand") - at("LeftArm");
    EXPECT_NEAR(arm.normalized().y(), -1, 1e-4) << "hangs";
  }
  EXPECT_THAT(clip.doubts, ElementsAre(HasSubstr("no markers of the trunk: it is upright over the pelvis")));
  EXPECT_THAT(clip.notes, ElementsAre(HasSubstr("no markers of whole arms"), HasSubstr("no markers of the head")));
}

TEST(Markers, ATrunkWithoutShouldersLeansWithItsNeck) {
  const MarkedWalker walker(40);
  Markers markers = walker.Without({"SHO", "ELB", "WRA", "WRB", "FIN", "FHD", "BHD"});
  markers.names.insert(markers.names.end(), {"C7", "CLAV"});
  for (size_t f = 0; f < markers.places.size(); ++f) {
    const Vec3 lean(0, 0, 0.1);
    markers.places[f].push_back(walker.joints[f].at("Head") + lean - Vec3(0, 0, 0.06));
    markers.places[f].push_back(walker.joints[f].at("Head") + lean + Vec3(0, 0, 0.06));
  }
  const Clip clip = ClipOfMarkers(markers, "gait.c3d");
  motion::GlobalPose pose;
  for (size_t f = 0; f < clip.frames.size(); ++f) {
    ForwardKinematics(clip.skeleton, clip.frames[f], pose);
    const Vec3 neck = pose.positions[static_cast<size_t>(clip.skeleton.Find("Head"))];
    EXPECT_LT((neck - walker.joints[f].at("Head") - Vec3(0, 0, 0.1)).norm(), 0.01);
  }
  EXPECT_THAT(clip.doubts, IsEmpty());
}

/// Sets of laboratories, as their manuals name the markers, each in the order of the names of Plug-in Gait.
TEST(Markers, SetsOfLaboratoriesAreKnown) {
  const std::vector<std::string> ours = {"LASI", "RASI", "LPSI", "RPSI", "LKNE", "RKNE", "LANK",
                                         "RANK", "LHEE", "RHEE", "LTOE", "RTOE", "LSHO", "RSHO",
                                         "LELB", "RELB", "LWRA", "RWRA", "LWRB", "RWRB"};
  const std::map<std::string, std::vector<std::string>> sets = {
      {"IOR", {"L_IAS", "R_IAS", "L_IPS", "R_IPS", "L_FLE", "R_FLE", "L_FAL", "R_FAL", "L_FCC", "R_FCC",
               "L_FM2", "R_FM2", "L_SAE", "R_SAE", "L_HLE", "R_HLE", "L_RSP", "R_RSP", "L_USP", "R_USP"}},
      {"Qualisys",
       {"WaistLFront", "WaistRFront", "WaistLBack", "WaistRBack", "LKneeOut",   "RKneeOut",     "LAnkleOut",
        "RAnkleOut",   "LHeelBack",   "RHeelBack",  "LForefoot2", "RForefoot2", "LShoulderTop", "RShoulderTop",
        "LElbowOut",   "RElbowOut",   "LWristOut",  "RWristOut",  "LWristIn",   "RWristIn"}},
      {"OpenCap", {"L.ASIS_study",   "r.ASIS_study",   "L.PSIS_study",     "r.PSIS_study",     "L_knee_study",
                   "r_knee_study",   "L_ankle_study",  "r_ankle_study",    "L_calc_study",     "r_calc_study",
                   "L_toe_study",    "r_toe_study",    "L_shoulder_study", "r_shoulder_study", "L_lelbow_study",
                   "r_lelbow_study", "L_lwrist_study", "r_lwrist_study",   "L_mwrist_study",   "r_mwrist_study"}}};
  const MarkedWalker walker(20);
  const Markers recorded = walker.Without({"FIN", "FHD", "BHD"});
  const Clip expected = ClipOfMarkers(recorded, "walk.c3d");
  for (const auto& [set, names] : sets) {
    ASSERT_EQ(names.size(), ours.size());
    Markers markers = recorded;
    for (std::string& name : markers.names) {
      const auto at = static_cast<size_t>(std::find(ours.begin(), ours.end(), name) - ours.begin());
      ASSERT_LT(at, ours.size()) << name;
      name = names[at];
    }
    if (set == "OpenCap") {  // keypoints of video beside them
      for (const char* keypoint : {"RKnee", "LKnee", "RAnkle", "LWrist", "midHip"}) {
        markers.names.emplace_back(keypoint);
        for (auto& places : markers.places) places.push_back(Vec3(5, 5, 5));
      }
    }
    const Clip clip = ClipOfMarkers(markers, "walk.trc");
    EXPECT_EQ(LargestDistance(clip, walker), LargestDistance(expected, walker)) << set;
  }
}

TEST(Markers, GapsAreFilledAndSwapsNoticed) {
  const MarkedWalker walker(60);
  Markers markers = walker.Recorded();
  const auto index = [&](const char* name) {
    return static_cast<size_t>(std::find(markers.names.begin(), markers.names.end(), name) - markers.names.begin());
  };
  const size_t knee = index("LKNE"), ankle = index("LANK");
  for (size_t f = 10; f < 35; ++f) markers.places[f][knee].setConstant(NAN);
  std::swap(markers.places[50][knee], markers.places[50][ankle]);
  const Clip clip = ClipOfMarkers(markers, "walk.c3d");
  EXPECT_EQ(motion::laws::BrokenPromise(clip), "");
  ASSERT_EQ(clip.notes.size(), 1u);
  EXPECT_THAT(clip.notes[0], HasSubstr("markers were lost or swapped there"));
  ASSERT_EQ(clip.doubts.size(), 1u);
  EXPECT_THAT(clip.doubts[0], HasSubstr("filled by straight lines, the longest, of LKNE, for 0.25 s"));
}

/// Markers on a body that tumbles, one of them on nothing.
Markers Tumbling(size_t frames) {
  const Vec3 on_body[] = {{0, 0, 0}, {0.1, 0, 0}, {0, 0.12, 0}, {0.05, 0.03, 0.1}, {0.1, 0.1, 0.02}};
  Markers markers;
  markers.rate = 100;
  markers.names = {"a", "b", "c", "d", "e", "free"};
  for (size_t f = 0; f < frames; ++f) {
    const double t = 0.01 * static_cast<double>(f);
    const Quat turn = AxisRotation(0, 5 * t) * AxisRotation(1, 3 * std::sin(4 * t));
    std::vector<Vec3>& places = markers.places.emplace_back();
    for (const Vec3& place : on_body) places.push_back(Vec3(t, t * t, 0) + turn * place);
    places.push_back({std::sin(6 * t), 2, std::cos(6 * t)});
  }
  return markers;
}

RC_GTEST_PROP(Gaps, OfAMarkerOnABodyAreFilledWhereTheBodyIs, ()) {
  const Markers whole = Tumbling(300);
  Markers markers = whole;
  const auto marker = *rc::gen::inRange<size_t>(0, 5);
  const auto first = *rc::gen::inRange<size_t>(0, 280);
  const auto end = *rc::gen::inRange<size_t>(first + 1, 300);
  for (size_t f = first; f < end; ++f) markers.places[f][marker].setConstant(NAN);
  RC_PRE(end - first < 280u);
  FilledGaps filled;
  const std::vector<Vec3> path = FillGaps(markers, marker, {0, 1, 2, 3, 4, 5}, filled);
  for (size_t f = 0; f < 300; ++f) RC_ASSERT((path[f] - whole.places[f][marker]).norm() < 1e-9);
  RC_ASSERT(std::abs(filled.by_neighbors.seconds - 0.01 * static_cast<double>(end - first)) < 1e-12);
  RC_ASSERT(filled.by_curve.seconds == 0);
}

TEST(Gaps, ThatNothingAroundTellsOfAreSmoothWhereTheyAreShortAndSaidWhereTheyAreLong) {
  const Markers whole = Tumbling(300);
  for (const size_t length : {size_t{15}, size_t{100}}) {
    Markers markers = whole;
    for (size_t f = 100; f < 100 + length; ++f) markers.places[f][5].setConstant(NAN);
    FilledGaps filled;
    const std::vector<Vec3> path = FillGaps(markers, 5, {0, 1, 2, 3, 4, 5}, filled);
    double worst = 0;
    for (size_t f = 0; f < 300; ++f) worst = std::max(worst, (path[f] - whole.places[f][5]).norm());
    // A straight line would be 10 cm off where the marker goes round a circle of 1 m.
    if (length == 15) {
      EXPECT_LT(worst, 0.02);
    }
    EXPECT_NEAR(filled.by_curve.seconds, 0.01 * static_cast<double>(length), 1e-12);
  }
}

TEST(Gaps, NeighborsThatStandInALineTellNothing) {
  Markers markers = Tumbling(100);
  for (size_t f = 0; f < 100; ++f) {
    for (size_t m = 0; m < 3; ++m) {
      markers.places[f][m] = markers.places[f][0] + static_cast<double>(m) * 0.1 * Vec3::UnitX();
    }
  }
  for (size_t f = 40; f < 50; ++f) markers.places[f][3].setConstant(NAN);
  FilledGaps filled;
  FillGaps(markers, 3, {0, 1, 2}, filled);
  EXPECT_EQ(filled.by_neighbors.seconds, 0);
  EXPECT_NEAR(filled.by_curve.seconds, 0.1, 1e-12);
}

template <typename Call>
std::string Refused(Call call) {
  try {
    call();
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Markers, WhatIsMissingIsNamed) {
  Markers markers = MarkedWalker(3).Recorded();
  std::replace(markers.names.begin(), markers.names.end(), std::string("RKNE"), std::string("R_Patella"));
  const std::string message = Refused([&] { ClipOfMarkers(markers, "walk.c3d"); });
  EXPECT_THAT(message, HasSubstr("walk.c3d: found no markers RKNE that are seen most of the time (there are LANK, "));
  EXPECT_THAT(message, HasSubstr("R_Patella"));
}

// ---- Files.

C3dWriter WriterOf(const Markers& markers, C3dWriter::Processor processor, bool is_float) {
  C3dWriter writer(processor, is_float);
  writer.Group(1, "POINT");
  writer.Texts(1, "LABELS", markers.names);
  writer.Texts(1, "UNITS", {"mm"}, 4);
  writer.Texts(1, "Y_SCREEN", {"+Z"}, 2);
  return writer;
}

RC_GTEST_PROP(C3d, PointsReadBackWhateverTheProcessor, ()) {
  const auto processor =
      *rc::gen::element(C3dWriter::Processor::kIntel, C3dWriter::Processor::kDec, C3dWriter::Processor::kMips);
  const bool is_float = *rc::gen::arbitrary<bool>().as("float");
  RandomStream random(*rc::gen::arbitrary<uint64_t>().as("seed"), RandomStage::kTest, 4, 0);
  Markers markers{{"A", "Bob:B", "C"}, 0, {}, 2, {}};
  for (int f = 0; f < 5; ++f) {
    auto& places = markers.places.emplace_back();
    for (int m = 0; m < 3; ++m) {
      places.push_back(motion::laws::RandomVector(random, 2000));
      if (random.Uniform() < 0.2) places.back().setConstant(NAN);
    }
  }
  const std::string bytes = WriterOf(markers, processor, is_float).Bytes(markers.places, 120);
  const Markers again = ParseC3d(bytes, "a.c3d");
  RC_ASSERT(again.names == markers.names);
  RC_ASSERT(again.rate == 120);
  RC_ASSERT(again.up == 2);
  RC_ASSERT(again.places.size() == 5u);
  for (size_t f = 0; f < 5; ++f) {
    for (size_t m = 0; m < 3; ++m) {
      const Vec3& place = markers.places[f][m];
      RC_ASSERT(again.places[f][m].allFinite() == place.allFinite());
      if (!place.allFinite()) continue;
      RC_ASSERT((again.places[f][m] - 0.001 * place).norm() < (is_float ? 1e-6 : 1e-4));
    }
  }
}

/// A plate of half a meter around (0.25, 0.25), z up in the file, with the axes of its sensors downwards.
std::string PlateFile(int type, const std::vector<double>& channels) {
  const Markers markers{{"A"}, 0, {{Vec3(1, 2, 3)}, {Vec3(1, 2, 3)}}, 2, {}};
  C3dWriter writer = WriterOf(markers, C3dWriter::Processor::kIntel, true);
  writer.Group(2, "ANALOG");
  writer.Floats(2, "GEN_SCALE", {}, {2});
  writer.Floats(2, "SCALE", {channels.size()}, std::vector<double>(channels.size(), 0.5));
  writer.Wholes(2, "OFFSET", {channels.size()}, std::vector<int>(channels.size(), 10));
  writer.Group(3, "FORCE_PLATFORM");
  writer.Wholes(3, "USED", {}, {1});
  writer.Wholes(3, "TYPE", {1}, {type});
  writer.Floats(3, "CORNERS", {3, 4, 1}, {500, 500, 0, 500, 0, 0, 0, 0, 0, 0, 500, 0});
  writer.Floats(3, "ORIGIN", {3, 1},
                channels.size() > 6 ? std::vector<double>{120, 200, -50} : std::vector<double>{0, 0, -41});
  std::vector<int> numbers;
  for (size_t c = 0; c < channels.size(); ++c) numbers.push_back(static_cast<int>(c) + 1);
  writer.Wholes(3, "CHANNEL", {channels.size(), 1}, numbers);
  const bool calibrated = type == 4 || type == 6 || type == 7;
  if (calibrated) {
    const size_t n = channels.size();
    std::vector<double> matrix(n * n, 0);
    for (size_t i = 0; i < n; ++i) matrix[(n + 1) * i] = 2;
    writer.Floats(3, "CAL_MATRIX", {n, n, 1}, matrix);
  }
  std::vector<double> raw;
  for (const double value : channels) raw.push_back((calibrated ? value / 2 : value) + 10);
  std::vector<double> frame = raw;
  frame.insert(frame.end(), raw.begin(), raw.end());  // two samples per frame
  return writer.Bytes(markers.places, 100, 0.1, {frame, frame}, 2);
}

/// The force (10, 20, 700) N on the body at (0.3, 0.2) in the file, in its axes.
TEST(C3d, ForcePlatesOfAllTypes) {
  const Vec3 force(10, 20, 700), at(0.05, -0.05, 0);  // from the middle
  // In the plate: x is the file's y, y its x, z down; what is measured is the force on the plate.
  const auto to_plate = [](const Vec3& v) { return Vec3(v.y(), v.x(), -v.z()); };
  const Vec3 on_plate = -to_plate(force);
  for (const int type : {1, 2, 3, 4, 6, 7}) {
    const bool of_sensors = type == 3 || type == 6 || type == 7;
    const Vec3 sensors(0, 0, of_sensors ? 0.05 : type == 1 ? 0 : 0.041);
    const Vec3 moment = (to_plate(at) - sensors).cross(on_plate);
    std::vector<double> channels;
    if (of_sensors) {
      const double a = 0.12, b = 0.2, fz = on_plate.z(), x = moment.x() / b, y = moment.y() / a;
      // Fx12 + Fx34, Fy14 + Fy23, and four Fz that give the force and two moments; the moment about z by Fx alone.
      const double twist = moment.z() / b;
      channels = {(on_plate.x() - twist) / 2, (on_plate.x() + twist) / 2, on_plate.y() / 2, on_plate.y() / 2,
                  (fz + x - y) / 4,           (fz + x + y) / 4,           (fz - x + y) / 4, (fz - x - y) / 4};
      if (type == 6) {
        const std::vector<double> c = channels;
        const double y_of_each = on_plate.y() / 4;
        channels = {c[0] / 2, y_of_each, c[4], c[0] / 2, y_of_each, c[5],
                    c[1] / 2, y_of_each, c[6], c[1] / 2, y_of_each, c[7]};
      }
    } else if (type == 1) {
      channels = {on_plate.x(), on_plate.y(), on_plate.z(), 1000 * to_plate(at).x(), 1000 * to_plate(at).y(), 0};
    } else {
      channels = {on_plate.x(), on_plate.y(), on_plate.z(), 1000 * moment.x(), 1000 * moment.y(), 1000 * moment.z()};
    }
    const motion::MeasuredForces measured = ParseC3dForces(PlateFile(type, channels), "a.c3d");
    ASSERT_EQ(measured.times.size(), 4u);
    EXPECT_NEAR(measured.times[1], 1.0 / 200, 1e-15);
    ASSERT_EQ(measured.forces.size(), 1u);
    // y up: the file's z; its y is -z.
    EXPECT_LT((measured.forces[0].forces[3] - Vec3(10, 700, -20)).norm(), 1e-3) << type;
    EXPECT_LT((measured.forces[0].points[3] - Vec3(0.3, 0, -0.2)).norm(), 1e-5) << type;
    EXPECT_LT(measured.forces[0].moments[3].norm(), 1e-3) << type;
  }
  EXPECT_THAT(Refused([&] { ParseC3dForces(PlateFile(5, std::vector<double>(8, 0)), "a.c3d"); }),
              HasSubstr("a.c3d: FORCE_PLATFORM:TYPE: found type 5 of plate 1, expected 1, 2, 3, 4, 6 or 7"));
  EXPECT_THAT(Refused([&] { ParseC3dForces(PlateFile(7, std::vector<double>(6, 0)), "a.c3d"); }),
              HasSubstr("6 channels for each plate, expected 8"));
}

TEST(C3d, WhatIsBrokenIsRefusedAndAllocatesNothing) {
  const MarkedWalker walker(4);
  Markers markers = walker.Recorded();
  for (auto& places : markers.places) {
    for (Vec3& place : places) place *= 1000;
  }
  const std::string whole = WriterOf(markers, C3dWriter::Processor::kIntel, true).Bytes(markers.places, 100);
  EXPECT_EQ(ParseRecording({{whole, "a.c3d"}, {}, {}}).frames.size(), 4u);
  EXPECT_EQ(Refused([&] { ParseC3d("x", "a.c3d"); }), "a.c3d: found other bytes, expected a C3D file");
  EXPECT_EQ(Refused([&] { ParseC3d(whole.substr(0, whole.size() - 16), "a.c3d"); }),
            "a.c3d: found an end after 3 frames, expected 4 frames");
  std::string many = whole;
  many[8] = many[9] = '\xff';
  EXPECT_EQ(Refused([&] { ParseC3d(many, "a.c3d"); }), "a.c3d: found an end after 4 frames, expected 65535 frames");
  std::string processor = whole;
  processor[512 + 3] = 7;
  EXPECT_THAT(Refused([&] { ParseC3d(processor, "a.c3d"); }), HasSubstr("parameters: found processor 7, expected 84"));
  for (size_t cut = 0; cut < whole.size(); cut += 37) Refused([&] { ParseC3d(whole.substr(0, cut), "a.c3d"); });
}

std::string TrcOf(const Markers& markers) {
  std::string text =
      "PathFileType\t4\t(X/Y/Z)\twalk.trc\n"
      "DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames\n"
      "100\t100\t" +
      std::to_string(markers.places.size()) + "\t" + std::to_string(markers.names.size()) +
      "\tm\t100\t1\t1\nFrame#\tTime";
  for (const std::string& name : markers.names) text += "\t" + name + "\t\t";
  text += "\n\t";
  for (size_t m = 0; m < markers.names.size(); ++m) text += "\tX1\tY1\tZ1";
  text += "\n\n";
  for (size_t f = 0; f < markers.places.size(); ++f) {
    text += std::to_string(f + 1) + "\t" + io::Number(static_cast<double>(f) / 100);
    for (const Vec3& place : markers.places[f]) {
      for (int axis = 0; axis < 3; ++axis) text += "\t" + (place.allFinite() ? io::Number(place[axis]) : "");
    }
    text += "\r\n";
  }
  return text;
}

TEST(Trc, ReadsBackToTheBit) {
  Markers markers = MarkedWalker(5).Recorded();
  markers.places[2][3].setConstant(NAN);
  const Markers again = ParseTrc(TrcOf(markers), "walk.trc");
  EXPECT_EQ(again.names, markers.names);
  EXPECT_EQ(again.rate, 100);
  ASSERT_EQ(again.places.size(), 5u);
  for (size_t f = 0; f < 5; ++f) {
    for (size_t m = 0; m < markers.names.size(); ++m) {
      EXPECT_EQ(again.places[f][m].allFinite(), markers.places[f][m].allFinite());
      if (!markers.places[f][m].allFinite()) continue;
      EXPECT_EQ(again.places[f][m], markers.places[f][m]);
    }
  }
}

TEST(Trc, WhatIsBrokenIsRefusedWithItsPlace) {
  const std::string whole = TrcOf(MarkedWalker(2).Recorded());
  EXPECT_EQ(Refused([&] { ParseTrc("HIERARCHY", "a.trc"); }),
            "a.trc:1:1: found \"HIERARCHY\", expected a TRC file, which begins with PathFileType");
  std::string word = whole;
  word.replace(word.rfind("\t0."), 3, "\tx.");
  EXPECT_THAT(Refused([&] { ParseTrc(word, "a.trc"); }), HasSubstr("\", expected a coordinate of "));
  std::string unit = whole;
  unit.replace(unit.find("\tm\t"), 3, "\tmile\t");
  EXPECT_EQ(Refused([&] { ParseTrc(unit, "a.trc"); }), "a.trc:3:14: found \"mile\", expected m, cm or mm");
  EXPECT_THAT(Refused([&] { ParseTrc(whole.substr(0, whole.find("\n\n") + 1), "a.trc"); }),
              HasSubstr("expected frames"));
}

}  // namespace
}  // namespace retrace::recordings
