/// The character as a recorded skeleton, and recorded skeletons as the character's segments.
#include "retrace/character/skeleton.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "character/sample_human.h"
#include "retrace/io/error.h"
#include "retrace/recordings/bvh.h"
#include "retrace/retargeting/skeleton_mapping.h"

namespace retrace::character {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

template <typename Call>
std::string Refusal(Call call) {
  try {
    call();
  } catch (const InputError& error) {
    return error.what();
  }
  ADD_FAILURE() << "not refused";
  return "";
}

TEST(SkeletonOf, PutsJointsWhereTheCharacterHasThem) {
  const motion::Skeleton skeleton = SkeletonOf(Human());
  motion::Frame rest;
  for (const motion::Joint& joint : skeleton.joints) {
    rest.translations.push_back(joint.offset);
    rest.rotations.push_back(Quat::Identity());
  }
  motion::GlobalPose pose;
  motion::ForwardKinematics(skeleton, rest, pose);
  size_t joints = 0;
  for (size_t j = 0; j < skeleton.joints.size(); ++j) {
    if (skeleton.joints[j].end_site) continue;
    ++joints;
    const int body = Human().FindBody(skeleton.joints[j].name);
    ASSERT_GE(body, 0);
    const int mover = Human().JointOf(body);
    const Vec3 expected =
        mover < 0 ? BodyOf(Human(), "pelvis").rest_position : Human().joints[static_cast<size_t>(mover)].anchor;
    EXPECT_NEAR((pose.positions[j] - expected).norm(), 0, 1e-14) << skeleton.joints[j].name;
  }
  EXPECT_EQ(joints, Human().bodies.size());
  EXPECT_EQ(skeleton.joints.size() - joints, 5u);  // head, hands, feet end chains
}

RC_GTEST_PROP(ClipOfProperty, ComesBackThroughABvhFile, ()) {
  RandomStream random(*rc::gen::arbitrary<uint64_t>(), RandomStage::kTest, 0, 0);
  std::vector<Pose> poses;
  for (int i = 0; i < 4; ++i) poses.push_back(RandomPose(Human(), random));
  const motion::Clip clip = ClipOf(Human(), poses, 0.01);
  const motion::Clip read = motion::ParseBvh(motion::FormatBvh(clip), "round.bvh");
  const std::vector<Pose> back = PosesOf(Human(), read, "round.bvh");
  RC_ASSERT(back.size() == poses.size());
  RC_ASSERT(std::abs(read.frame_time - 0.01) < 1e-15);
  for (size_t i = 0; i < poses.size(); ++i) {
    RC_ASSERT((back[i].root_position - poses[i].root_position).norm() < 1e-9);
    RC_ASSERT(AngleBetween(back[i].root_orientation, poses[i].root_orientation) < 1e-9);
    for (size_t j = 0; j < Human().joints.size(); ++j) {
      RC_ASSERT(AngleBetween(back[i].joint_rotations[j], poses[i].joint_rotations[j]) < 1e-9);
    }
  }
}

RC_GTEST_PROP(ClipOfProperty, ShowsTheBodiesWhereTheyAre, ()) {
  RandomStream random(*rc::gen::arbitrary<uint64_t>(), RandomStage::kTest, 0, 0);
  const Pose pose = RandomPose(Human(), random);
  const State state = StateOf(Human(), pose);
  const motion::Clip clip = ClipOf(Human(), {pose}, 0.01);
  motion::GlobalPose global;
  motion::ForwardKinematics(clip.skeleton, clip.frames[0], global);
  for (const Joint& joint : Human().joints) {
    const auto index = static_cast<size_t>(clip.skeleton.Find(Human().bodies[static_cast<size_t>(joint.child)].name));
    RC_ASSERT((global.positions[index] - JointPosition(Human(), joint, state)).norm() < 1e-11);
    RC_ASSERT(AngleBetween(global.orientations[index], state[static_cast<size_t>(joint.child)].orientation) < 1e-11);
  }
}

TEST(PosesOf, RefusesAnotherSkeleton) {
  motion::Clip clip = ClipOf(Human(), {RestPose(Human())}, 0.01);
  clip.skeleton.joints[static_cast<size_t>(clip.skeleton.Find("left_shin"))].name = "LeftLeg";
  EXPECT_EQ(Refusal([&] { PosesOf(Human(), clip, "a.bvh"); }),
            "a.bvh: found no joint \"left_shin\", expected the skeleton of the character \"human\"");
}

motion::Skeleton SkeletonWith(const std::vector<std::string>& names) {
  motion::Skeleton skeleton;
  for (size_t i = 0; i < names.size(); ++i) {
    skeleton.joints.push_back({names[i], static_cast<int>(i) - 1, Vec3(0, 1, 0), false});
  }
  return skeleton;
}

std::string NameAt(const motion::Skeleton& skeleton, const SkeletonMap& map, const std::string& segment) {
  if (!map.Has(segment)) return "";
  return skeleton.joints[static_cast<size_t>(map.segments.at(segment).position)].name;
}

const std::vector<std::string> kCmu = {
    "root",      "lhipjoint", "lfemur",   "ltibia",    "lfoot",     "ltoes",    "rhipjoint", "rfemur",
    "rtibia",    "rfoot",     "rtoes",    "lowerback", "upperback", "thorax",   "lowerneck", "upperneck",
    "head",      "lclavicle", "lhumerus", "lradius",   "lwrist",    "lhand",    "lfingers",  "lthumb",
    "rclavicle", "rhumerus",  "rradius",  "rwrist",    "rhand",     "rfingers", "rthumb"};
// wd2: a second LeftShoulder joint of another name between clavicle and arm.
const std::vector<std::string> kWd2 = {
    "Hips",        "Spine",    "Spine1",        "Neck",       "Head",         "LeftShoulder1", "LeftArm",
    "LeftForeArm", "LeftHand", "RightShoulder", "RightArm",   "RightForeArm", "RightHand",     "LeftUpLeg",
    "LeftLeg",     "LeftFoot", "LeftToes",      "RightUpLeg", "RightLeg",     "RightFoot",     "RightToes"};
const std::vector<std::string> kMixamo = {
    "mixamorig:Hips",         "mixamorig:Spine",       "mixamorig:Spine1",        "mixamorig:Spine2",
    "mixamorig:Neck",         "mixamorig:Head",        "mixamorig:LeftShoulder",  "mixamorig:LeftArm",
    "mixamorig:LeftForeArm",  "mixamorig:LeftHand",    "mixamorig:RightShoulder", "mixamorig:RightArm",
    "mixamorig:RightForeArm", "mixamorig:RightHand",   "mixamorig:LeftUpLeg",     "mixamorig:LeftLeg",
    "mixamorig:LeftFoot",     "mixamorig:LeftToeBase", "mixamorig:RightUpLeg",    "mixamorig:RightLeg",
    "mixamorig:RightFoot",    "mixamorig:RightToeBase"};
const std::vector<std::string> kGames105 = {"RootJoint",
                                            "pelvis_lowerback",
                                            "lHip",
                                            "rHip",
                                            "lKnee",
                                            "rKnee",
                                            "lAnkle",
                                            "rAnkle",
                                            "lToeJoint",
                                            "rToeJoint",
                                            "lowerback_torso",
                                            "torso_head",
                                            "lTorso_Clavicle",
                                            "rTorso_Clavicle",
                                            "lShoulder",
                                            "rShoulder",
                                            "lElbow",
                                            "rElbow",
                                            "lWrist",
                                            "rWrist"};

TEST(MapSkeleton, Cmu) {
  const motion::Skeleton skeleton = SkeletonWith(kCmu);
  const SkeletonMap map = MapSkeleton(skeleton, "a.amc");
  EXPECT_EQ(map.family, "CMU");
  EXPECT_EQ(map.segments.size(), 19u);
  EXPECT_EQ(NameAt(skeleton, map, "pelvis"), "root");
  EXPECT_EQ(NameAt(skeleton, map, "trunk"), "thorax");
  EXPECT_EQ(NameAt(skeleton, map, "left_thigh"), "lfemur");
  EXPECT_EQ(NameAt(skeleton, map, "right_shin"), "rtibia");
  EXPECT_EQ(NameAt(skeleton, map, "left_toe"), "ltoes");
  // A wrist split in two: the hand is where the wrist is, and turns as the hand does.
  EXPECT_EQ(NameAt(skeleton, map, "left_hand"), "lwrist");
  EXPECT_EQ(skeleton.joints[static_cast<size_t>(map.segments.at("left_hand").orientation)].name, "lhand");
}

TEST(MapSkeleton, Wd2) {
  const motion::Skeleton skeleton = SkeletonWith(kWd2);
  const SkeletonMap map = MapSkeleton(skeleton, "a.bvh");
  EXPECT_EQ(map.family, "HumanIK");
  EXPECT_EQ(map.segments.size(), 19u);
  EXPECT_EQ(NameAt(skeleton, map, "trunk"), "Spine1");
  EXPECT_EQ(NameAt(skeleton, map, "left_clavicle"), "LeftShoulder1");
  EXPECT_EQ(NameAt(skeleton, map, "right_clavicle"), "RightShoulder");
  EXPECT_EQ(NameAt(skeleton, map, "left_toe"), "LeftToes");
}

TEST(MapSkeleton, PrefixesCaseAndSeparatorsDoNotMatter) {
  for (const std::string prefix : {"mixamorig:", "mixamorig1:", "a:b:", "Character1_", ""}) {
    std::vector<std::string> names;
    for (const std::string& name : kMixamo) names.push_back(prefix + name.substr(10));
    const motion::Skeleton skeleton = SkeletonWith(names);
    const SkeletonMap map = MapSkeleton(skeleton, "a.bvh");
    EXPECT_EQ(map.segments.size(), 19u) << prefix;
    EXPECT_EQ(NameAt(skeleton, map, "trunk"), prefix + "Spine2");
    EXPECT_EQ(NameAt(skeleton, map, "left_toe"), prefix + "LeftToeBase");
  }
  std::vector<std::string> names;
  for (const std::string& name : kMixamo) {
    std::string shout;
    for (const char c : name.substr(10)) shout += std::string("_") + static_cast<char>(std::toupper(c));
    names.push_back(shout);
  }
  EXPECT_EQ(MapSkeleton(SkeletonWith(names), "a.bvh").segments.size(), 19u);
}

TEST(MapSkeleton, Games105) {
  const motion::Skeleton skeleton = SkeletonWith(kGames105);
  const SkeletonMap map = MapSkeleton(skeleton, "a.bvh");
  EXPECT_EQ(map.family, "GAMES-105");
  EXPECT_EQ(map.segments.size(), 19u);
  EXPECT_EQ(NameAt(skeleton, map, "left_upper_arm"), "lShoulder");
  EXPECT_EQ(NameAt(skeleton, map, "right_clavicle"), "rTorso_Clavicle");
}

const std::vector<std::string> kBioVision = {
    "Hips",          "Chest",      "Chest2",     "Chest3",     "Chest4",       "Neck",      "Head",      "RightCollar",
    "RightShoulder", "RightElbow", "RightWrist", "LeftCollar", "LeftShoulder", "LeftElbow", "LeftWrist", "RightHip",
    "RightKnee",     "RightAnkle", "RightToe",   "LeftHip",    "LeftKnee",     "LeftAnkle", "LeftToe"};

TEST(MapSkeleton, BioVision) {
  // In this family a shoulder is where the arm begins; in HumanIK it is the collar bone.
  const motion::Skeleton skeleton = SkeletonWith(kBioVision);
  const SkeletonMap map = MapSkeleton(skeleton, "a.bvh");
  EXPECT_EQ(map.family, "BioVision");
  EXPECT_EQ(map.segments.size(), 19u);
  EXPECT_EQ(NameAt(skeleton, map, "trunk"), "Chest4");
  EXPECT_EQ(NameAt(skeleton, map, "left_clavicle"), "LeftCollar");
  EXPECT_EQ(NameAt(skeleton, map, "left_upper_arm"), "LeftShoulder");
  EXPECT_EQ(NameAt(skeleton, map, "right_thigh"), "RightHip");
  EXPECT_EQ(NameAt(skeleton, map, "pelvis"), "Hips");
}

TEST(MapSkeleton, BioVisionWithoutHeadHandsAndCollars) {
  // As the clips of DeepMimic: the head hangs on the neck.
  const motion::Skeleton skeleton =
      SkeletonWith({"Hips", "Chest", "Neck", "RightShoulder", "RightElbow", "LeftShoulder", "LeftElbow", "RightHip",
                    "RightKnee", "RightAnkle", "LeftHip", "LeftKnee", "LeftAnkle"});
  const SkeletonMap map = MapSkeleton(skeleton, "a.bvh");
  EXPECT_EQ(map.family, "BioVision");
  EXPECT_EQ(NameAt(skeleton, map, "head"), "Neck");
  EXPECT_FALSE(map.Has("left_clavicle"));
  EXPECT_FALSE(map.Has("left_hand"));
}

TEST(MapSkeleton, IClone) {
  std::vector<std::string> names = {"CC_Base_Hip",     "CC_Base_Pelvis",      "CC_Base_Spine01",
                                    "CC_Base_Spine02", "CC_Base_NeckTwist01", "CC_Base_Head"};
  for (const char* side : {"L", "R"}) {
    for (const char* part :
         {"Clavicle", "Upperarm", "Forearm", "Hand", "Thigh", "Calf", "CalfTwist01", "Foot", "ToeBase"}) {
      names.push_back(std::string("CC_Base_") + side + "_" + part);
    }
  }
  const motion::Skeleton skeleton = SkeletonWith(names);
  const SkeletonMap map = MapSkeleton(skeleton, "a.bvh");
  EXPECT_EQ(map.family, "iClone");
  EXPECT_EQ(map.segments.size(), 19u);
  EXPECT_EQ(NameAt(skeleton, map, "right_shin"), "CC_Base_R_Calf");
}

TEST(MapSkeleton, ClaviclesHandsAndToesMayBeMissing) {
  std::vector<std::string> names;
  for (const std::string& name : kWd2) {
    if (name.find("Shoulder") == std::string::npos && name.find("Hand") == std::string::npos &&
        name.find("Toe") == std::string::npos) {
      names.push_back(name);
    }
  }
  const SkeletonMap map = MapSkeleton(SkeletonWith(names), "a.bvh");
  EXPECT_EQ(map.segments.size(), 13u);
  EXPECT_FALSE(map.Has("left_toe"));
}

TEST(MapSkeleton, TheFirstOfTwoEqualNamesWins) {
  std::vector<std::string> names = kWd2;
  names.push_back("helper:LeftFoot");
  const motion::Skeleton skeleton = SkeletonWith(names);
  EXPECT_EQ(NameAt(skeleton, MapSkeleton(skeleton, "a.bvh"), "left_foot"), "LeftFoot");
}

TEST(MapSkeleton, SaysWhatIsMissingAndWhatThereIs) {
  std::vector<std::string> names = kWd2;
  std::replace(names.begin(), names.end(), std::string("LeftLeg"), std::string("LeftGizmo"));
  const std::string message = Refusal([&] { MapSkeleton(SkeletonWith(names), "a.bvh"); });
  EXPECT_THAT(message, AllOf(HasSubstr("a.bvh: found joints Hips, Spine, "), HasSubstr("LeftGizmo"),
                             HasSubstr("none of which is known as left_shin, expected joint names of a known family")));
  EXPECT_THAT(message, ::testing::Not(HasSubstr("right_shin")));
}

TEST(MapSkeleton, StrangersAreListedUpToThirty) {
  std::vector<std::string> names;
  for (int i = 0; i < 40; ++i) names.push_back("bone" + std::to_string(i));
  const std::string message = Refusal([&] { MapSkeleton(SkeletonWith(names), "a.bvh"); });
  EXPECT_THAT(message, AllOf(HasSubstr("bone29, ..., none"), ::testing::Not(HasSubstr("bone30")), HasSubstr("pelvis")));
}

// ---- names of which the words tell side and part

TEST(MapSkeleton, WordsTellSideAndPart) {
  const struct {
    const char* source;
    std::vector<std::string> names;
    size_t segments;
  } kinds[] = {
      {"Unreal",
       {"root",       "pelvis",     "spine_01", "spine_02",   "spine_03",   "neck_01",    "head",   "clavicle_l",
        "upperarm_l", "lowerarm_l", "hand_l",   "clavicle_r", "upperarm_r", "lowerarm_r", "hand_r", "thigh_l",
        "calf_l",     "foot_l",     "ball_l",   "thigh_r",    "calf_r",     "foot_r",     "ball_r"},
       19},
      {"Blender",
       {"spine",     "hips",   "chest",      "neck",        "head",      "shoulder.L", "upper_arm.L",
        "forearm.L", "hand.L", "shoulder.R", "upper_arm.R", "forearm.R", "hand.R",     "thigh.L",
        "shin.L",    "foot.L", "toe.L",      "thigh.R",     "shin.R",    "foot.R",     "toe.R"},
       19},
      {"Biped",
       {"Bip01 Pelvis",     "Bip01 Spine",     "Bip01 Spine1",  "Bip01 Head",       "Bip01 L Clavicle",
        "Bip01 L UpperArm", "Bip01 L Forearm", "Bip01 L Hand",  "Bip01 R Clavicle", "Bip01 R UpperArm",
        "Bip01 R Forearm",  "Bip01 R Hand",    "Bip01 L Thigh", "Bip01 L Calf",     "Bip01 L Foot",
        "Bip01 L Toe0",     "Bip01 R Thigh",   "Bip01 R Calf",  "Bip01 R Foot",     "Bip01 R Toe0"},
       17},
      {"DAZ",
       {"hip",        "pelvis",       "abdomenLower", "abdomenUpper", "chestLower", "chestUpper",
        "head",       "lCollar",      "lShldrBend",   "lForearmBend", "lHand",      "rCollar",
        "rShldrBend", "rForearmBend", "rHand",        "lThighBend",   "lShin",      "lFoot",
        "lToe",       "rThighBend",   "rShin",        "rFoot",        "rToe"},
       19},
      {"Bandai",
       {"joint_Root", "Hips",   "Spine",      "Chest",      "Neck",       "Head",   "Shoulder_L", "UpperArm_L",
        "LowerArm_L", "Hand_L", "Shoulder_R", "UpperArm_R", "LowerArm_R", "Hand_R", "UpperLeg_L", "LowerLeg_L",
        "Foot_L",     "Toes_L", "UpperLeg_R", "LowerLeg_R", "Foot_R",     "Toes_R"},
       19},
      {"SMPL",
       {"pelvis",  "spine1",  "spine2",   "spine3",     "neck",    "head",    "L_Collar", "L_Shoulder",
        "L_Elbow", "L_Wrist", "R_Collar", "R_Shoulder", "R_Elbow", "R_Wrist", "L_Hip",    "L_Knee",
        "L_Ankle", "L_Foot",  "R_Hip",    "R_Knee",     "R_Ankle", "R_Foot"},
       19},
  };
  for (const auto& kind : kinds) {
    SCOPED_TRACE(kind.source);
    const motion::Skeleton skeleton = SkeletonWith(kind.names);
    const SkeletonMap map = MapSkeleton(skeleton, "a.bvh");
    EXPECT_EQ(map.segments.size(), kind.segments);
    std::set<int> joints;
    for (const auto& [segment, source] : map.segments) {
      EXPECT_TRUE(joints.insert(source.position).second) << segment << " shares a joint";
    }
    EXPECT_NE(NameAt(skeleton, map, "left_thigh"), NameAt(skeleton, map, "right_thigh"));
  }
}

// ---- the shape of the skeleton, and maps of the user

/// The bundled walk with names that say nothing.
motion::Clip Nameless() {
  motion::Clip clip = motion::ReadBvh(std::string(RETRACE_SOURCE_DIR) + "/data/clips/walk.bvh");
  int count = 0;
  for (motion::Joint& joint : clip.skeleton.joints) joint.name = std::string("j").append(std::to_string(count++));
  return clip;
}

TEST(MapClip, TellsANamelessSkeletonByItsShape) {
  const motion::Clip named = motion::ReadBvh(std::string(RETRACE_SOURCE_DIR) + "/data/clips/walk.bvh");
  const SkeletonMap by_name = MapClip(named, "walk.bvh", nullptr);
  motion::Clip clip = Nameless();
  const SkeletonMap by_shape = MapClip(clip, "walk.bvh", nullptr);
  EXPECT_EQ(by_shape.family, "shape of the skeleton");
  for (const auto& [segment, source] : by_shape.segments) {
    ASSERT_TRUE(by_name.Has(segment)) << segment;
    EXPECT_EQ(source.position, by_name.segments.at(segment).position) << segment;
  }
  for (const char* segment :
       {"pelvis", "trunk", "head", "left_upper_arm", "right_lower_arm", "left_shin", "right_foot"})
    EXPECT_TRUE(by_shape.Has(segment)) << segment;
  // Mirrored, what was left is right.
  for (motion::Joint& joint : clip.skeleton.joints) joint.offset.x() *= -1;
  const SkeletonMap mirrored = MapClip(clip, "walk.bvh", nullptr);
  EXPECT_EQ(mirrored.segments.at("left_thigh").position, by_name.segments.at("right_thigh").position);
  EXPECT_EQ(mirrored.segments.at("right_hand").position, by_name.segments.at("left_hand").position);
}

TEST(MapClip, RefusesAShapeThatIsNoHuman) {
  motion::Clip clip = Nameless();
  motion::Skeleton arm;
  arm.joints.assign(clip.skeleton.joints.begin(), clip.skeleton.joints.begin() + 2);
  clip.skeleton = arm;
  clip.frames.resize(2);
  for (motion::Frame& frame : clip.frames) {
    frame.translations.resize(2);
    frame.rotations.resize(2);
  }
  EXPECT_THAT(Refusal([&] { MapClip(clip, "arm.bvh", nullptr); }), HasSubstr(", or a map"));
}

TEST(MapClip, TheUsersMapComesFirst) {
  const motion::Clip clip = Nameless();
  const SkeletonMap by_shape = MapClip(clip, "walk.bvh", nullptr);
  const auto name_of = [&](const char* segment) {
    return clip.skeleton.joints[static_cast<size_t>(by_shape.segments.at(segment).position)].name;
  };
  const auto map_with = [&](const io::Json& document) {
    const io::JsonView user(document, "map.json");
    return MapClip(clip, "walk.bvh", &user);
  };
  const SkeletonMap map =
      map_with({{"trunk", name_of("head")},
                {"left_hand", {{"position", name_of("left_hand")}, {"orientation", name_of("left_lower_arm")}}}});
  EXPECT_EQ(map.segments.at("trunk").position, by_shape.segments.at("head").position);
  EXPECT_EQ(map.segments.at("left_hand").orientation, by_shape.segments.at("left_lower_arm").position);
  EXPECT_EQ(map.segments.at("left_hand").position, by_shape.segments.at("left_hand").position);
  EXPECT_EQ(map.segments.at("pelvis").position, by_shape.segments.at("pelvis").position);

  EXPECT_THAT(Refusal([&] {
                map_with({{"trunk", "spine"}});
              }),
              HasSubstr("map.json: /trunk: found \"spine\", expected one of the joints j0, j1"));
  EXPECT_THAT(Refusal([&] {
                map_with({{"tail", "j1"}});
              }),
              HasSubstr("map.json: /tail: found the segment \"tail\", expected one of head, left_clavicle"));
  EXPECT_THAT(Refusal([&] { map_with(io::Json::array()); }), HasSubstr("expected an object of segments"));
}

}  // namespace
}  // namespace retrace::character
