/// Which nodes are the skeleton, which animation is the motion, and what is refused.
#include "retrace/recordings/scene.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recordings/well_formed.h"
#include "retrace/io/error.h"
#include "retrace/math/rotation.h"
#include "retrace/recordings/recording.h"

namespace retrace::recordings {
namespace {

using motion::Clip;
using motion::GlobalPose;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Mat4 Place(const Vec3& at, const Quat& turn = Quat::Identity(), double scale = 1) {
  Mat4 place = Mat4::Identity();
  place.topLeftCorner<3, 3>() = scale * turn.toRotationMatrix();
  place.topRightCorner<3, 1>() = at;
  return place;
}

int Add(Scene& scene, const std::string& name, int parent, const Mat4& place) {
  Scene::Node node;
  node.name = name;
  node.parent = parent;
  node.place = place;
  scene.nodes.push_back(node);
  return static_cast<int>(scene.nodes.size()) - 1;
}

/// Turns a node about z by so many degrees at each time, evenly spaced.
Scene::Channel Turning(int node, const std::vector<double>& degrees, double step) {
  Scene::Channel channel;
  channel.node = node;
  for (size_t k = 0; k < degrees.size(); ++k) {
    channel.rotations.push_back({static_cast<double>(k) * step, AxisRotation(2, Radians(degrees[k]))});
  }
  return channel;
}

/// Hips 1 m above the scene, a knee under them, a tip under that, all turned about x at rest; "bend" bends the knee.
Scene Leg() {
  Scene scene;
  scene.unit = 1;
  Add(scene, "Scene", -1, Mat4::Identity());
  const int hips = Add(scene, "Hips", 0, Place({0, 1, 0}));
  const int knee = Add(scene, "Knee", hips, Place({0, -0.5, 0}));
  Add(scene, "Tip", knee, Place({0, -0.5, 0}));
  scene.animations.push_back({"bend", 0, {Turning(knee, {0, 30, 60, 90}, 1.0 / 30), Turning(hips, {0, 0}, 0.1)}});
  return scene;
}

std::vector<Vec3> PositionsAt(const Clip& clip, size_t frame) {
  GlobalPose pose;
  ForwardKinematics(clip.skeleton, clip.frames[frame], pose);
  return pose.positions;
}

std::vector<std::string> Names(const Clip& clip) {
  std::vector<std::string> names;
  for (const motion::Joint& joint : clip.skeleton.joints) names.push_back(joint.name);
  return names;
}

template <typename Kind, typename Call>
std::string Refusal(Call call) {
  try {
    call();
  } catch (const Kind& error) {
    return error.what();
  } catch (const std::exception& error) {
    return std::string("another error: ") + error.what();
  }
  return "accepted";
}

TEST(SceneClip, AnimatedNodesAreTheSkeletonWhereNothingHasASkin) {
  const Clip clip = ClipOfScene(Leg(), "leg.glb");
  EXPECT_EQ(motion::laws::BrokenPromise(clip), "");
  EXPECT_THAT(Names(clip), ElementsAre("Hips", "Knee", "Tip"));
  EXPECT_EQ(clip.frames.size(), 4u);
  EXPECT_NEAR(clip.frame_time, 1.0 / 30, 1e-12);
  EXPECT_EQ(clip.unit, 1);
  EXPECT_LT((PositionsAt(clip, 0)[2] - Vec3(0, 0, 0)).norm(), 1e-12);
  EXPECT_LT((PositionsAt(clip, 3)[2] - Vec3(0.5, 0.5, 0)).norm(), 1e-12);
  EXPECT_TRUE(clip.notes.empty());
}

TEST(SceneClip, PivotsArePartOfTheirJoint) {
  // As Assimp gives an FBX joint with a pre-rotation: nodes instead of one, the last one with the joint's name.
  Scene scene = Leg();
  scene.nodes.clear();
  scene.animations.clear();
  Add(scene, "Scene", -1, Mat4::Identity());
  const int hips = Add(scene, "Hips", 0, Place({0, 1, 0}));
  const int moved = Add(scene, "Knee_$AssimpFbx$_Translation", hips, Place({0, -0.5, 0}));
  const int before = Add(scene, "Knee_$AssimpFbx$_PreRotation", moved, Place({0, 0, 0}, AxisRotation(2, kPi / 2)));
  const int turned = Add(scene, "Knee_$AssimpFbx$_Rotation", before, Mat4::Identity());
  const int knee = Add(scene, "Knee", turned, Mat4::Identity());
  Add(scene, "Tip", knee, Place({-0.5, 0, 0}));
  scene.animations.push_back({"bend", 30, {Turning(turned, {0, 45, 90}, 1.0 / 30), Turning(hips, {0, 0}, 0.1)}});
  const Clip clip = ClipOfScene(scene, "leg.fbx");
  EXPECT_THAT(Names(clip), ElementsAre("Hips", "Knee", "Tip"));
  EXPECT_LT((PositionsAt(clip, 0)[2] - Vec3(0, 0, 0)).norm(), 1e-12);
  EXPECT_LT((PositionsAt(clip, 2)[2] - Vec3(0.5, 0.5, 0)).norm(), 1e-12);
  EXPECT_LT((clip.skeleton.joints[2].offset - Vec3(0, -0.5, 0)).norm(), 1e-12);
}

TEST(SceneClip, ScaleAboveTheSkeletonCountsInPlacesOnly) {
  Scene scene = Leg();
  scene.nodes[0].place = Place({0, 0, 0}, Quat::Identity(), 100);
  scene.unit = 0.01;
  const Clip clip = ClipOfScene(scene, "leg.fbx");
  EXPECT_LT((clip.unit * PositionsAt(clip, 3)[2] - Vec3(0.5, 0.5, 0)).norm(), 1e-12);
  EXPECT_NEAR(clip.frames[3].rotations[1].norm(), 1, 1e-12);
}

TEST(SceneClip, AMirroredSceneHasProperRotations) {
  Scene scene = Leg();
  scene.nodes[0].place(0, 0) = -1;
  const Clip clip = ClipOfScene(scene, "leg.fbx");
  EXPECT_EQ(motion::laws::BrokenPromise(clip), "");
  EXPECT_LT((PositionsAt(clip, 3)[2] - Vec3(-0.5, 0.5, 0)).norm(), 1e-12);
}

TEST(SceneClip, BonesAreTheSkeletonAndItsRestIsWhereTheyWereBound) {
  Scene scene = Leg();
  const int skin = Add(scene, "Body", 0, Place({0, 0, 5}));
  scene.nodes[static_cast<size_t>(skin)].has_mesh = true;
  Add(scene, "Camera", 0, Mat4::Identity());
  // Without animation the knee is bent; the skin was bound to a straight leg.
  scene.nodes[2].place = Place({0, -0.5, 0}, AxisRotation(2, kPi / 2));
  const Vec3 bound[] = {{0, 1, 0}, {0, 0.5, 0}};
  for (size_t j = 0; j < 2; ++j) {
    scene.nodes[1 + j].skin = skin;
    scene.nodes[1 + j].bind = Place(bound[j]).inverse();
  }
  const Clip clip = ClipOfScene(scene, "leg.glb");
  EXPECT_THAT(Names(clip), ElementsAre("Hips", "Knee", "Tip"));
  EXPECT_LT((clip.skeleton.joints[1].offset - Vec3(0, -0.5, 0)).norm(), 1e-12);
  EXPECT_LT((clip.skeleton.joints[2].offset - Vec3(0, -0.5, 0)).norm(), 1e-12);
  EXPECT_LT(AngleBetween(clip.frames[0].rotations[1], Quat::Identity()), 1e-9);
  EXPECT_LT((PositionsAt(clip, 3)[2] - Vec3(0.5, 0.5, 0)).norm(), 1e-12);
}

TEST(SceneClip, KeysThatWereThinnedOutAreFilledUp) {
  Scene scene = Leg();
  scene.animations[0].rate = 60;
  scene.animations[0].channels[0] = {2, {}, {{0, Quat::Identity()}, {0.5, AxisRotation(2, 1)}}, {}};
  scene.animations[0].channels.push_back({1, {{0, {0, 1, 0}}, {0.1, {0, 2, 0}}, {0.5, {0, 1, 0}}}, {}, {}});
  const Clip clip = ClipOfScene(scene, "leg.fbx");
  ASSERT_EQ(clip.frames.size(), 31u);
  EXPECT_NEAR(clip.frame_time, 1.0 / 60, 1e-12);
  EXPECT_LT(AngleBetween(clip.frames[15].rotations[1], AxisRotation(2, 0.5)), 1e-9);
  EXPECT_NEAR(clip.frames[3].translations[0].y(), 1.5, 1e-9);
}

TEST(SceneClip, TheAnimationIsTheFirstThatMovesTheSkeletonOrTheNamedOne) {
  Scene scene = Leg();
  Scene::Animation turn{"turn", 0, {Turning(1, {0, 90}, 1.0 / 30)}};
  Add(scene, "Door", 0, Mat4::Identity());
  scene.nodes.back().has_mesh = true;
  scene.animations.insert(scene.animations.begin(), {"door", 0, {Turning(4, {0, 90, 0}, 1)}});
  scene.animations.push_back(turn);
  const Clip first = ClipOfScene(scene, "leg.glb");
  EXPECT_EQ(first.frames.size(), 4u);
  EXPECT_THAT(first.notes, ElementsAre("animation \"bend\" of \"door\", \"bend\", \"turn\""));
  EXPECT_EQ(ClipOfScene(scene, "leg.glb", {"turn", ""}).frames.size(), 2u);
  EXPECT_EQ(Refusal<UsageError>([&] {
              ClipOfScene(scene, "leg.glb", {"run", ""});
            }),
            "leg.glb: found no animation \"run\", expected one of \"door\", \"bend\", \"turn\"");
  EXPECT_EQ(Refusal<InputError>([&] {
              ClipOfScene(scene, "leg.glb", {"door", ""});
            }),
            "leg.glb: found an animation \"door\" without motion, expected one that moves the skeleton of \"Hips\"");
}

TEST(SceneClip, OneOfSeveralPerformersIsChosen) {
  Scene scene = Leg();
  const int armature = Add(scene, "Partner", 0, Mat4::Identity());
  const int hips = Add(scene, "Hips.001", armature, Place({5, 1, 0}));
  Add(scene, "Foot.001", hips, Place({0, -1, 0}));
  scene.animations[0].channels.push_back(Turning(hips, {0, 90}, 0.1));
  const Clip larger = ClipOfScene(scene, "pair.fbx");
  EXPECT_EQ(Names(larger).front(), "Hips");
  EXPECT_THAT(larger.notes, ElementsAre("performer \"Hips\" of \"Hips\", \"Hips.001\""));
  for (const char* name : {"Hips.001", "Partner"}) {
    EXPECT_THAT(Names(ClipOfScene(scene, "pair.fbx", {"", name})), ElementsAre("Hips.001", "Foot.001"));
  }
  EXPECT_EQ(Refusal<UsageError>([&] {
              ClipOfScene(scene, "pair.fbx", {"", "Bob"});
            }),
            "pair.fbx: found no performer \"Bob\", expected one of \"Hips\", \"Hips.001\"");
}

TEST(SceneClip, WhatHasNoMotionIsRefused) {
  Scene scene = Leg();
  scene.animations.clear();
  EXPECT_EQ(
      Refusal<InputError>([&] { ClipOfScene(scene, "still.glb"); }),
      "still.glb: found no animation and no skeleton among 4 nodes, expected animated bones of a mesh, or animated "
      "nodes");
  scene = Leg();
  scene.nodes[2].place = Place({0, -0.5, 0}, Quat::Identity(), 0);
  scene.animations[0].channels.erase(scene.animations[0].channels.begin());
  EXPECT_THAT(Refusal<InputError>([&] { ClipOfScene(scene, "flat.glb"); }), HasSubstr("of no size, expected a scale"));
  scene = Leg();
  scene.animations[0].channels[0].rotations.push_back({1e5, Quat::Identity()});
  scene.animations[0].rate = 10000;
  EXPECT_THAT(Refusal<InputError>([&] { ClipOfScene(scene, "long.glb"); }), HasSubstr("fits into memory"));
}

// ---- Files.

std::string Gltf(const std::string& uri) {
  // Two nodes, one of which turns in a quarter of a second.
  return R"({"asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}],
    "nodes": [{"name": "hips", "children": [1]}, {"name": "tip", "translation": [0, 1, 0]}],
    "buffers": [{"byteLength": 40, "uri": ")" +
         uri + R"("}],
    "bufferViews": [{"buffer": 0, "byteLength": 8}, {"buffer": 0, "byteOffset": 8, "byteLength": 32}],
    "accessors": [{"bufferView": 0, "componentType": 5126, "count": 2, "type": "SCALAR", "min": [0], "max": [0.2]},
                  {"bufferView": 1, "componentType": 5126, "count": 2, "type": "VEC4"}],
    "animations": [{"name": "turn", "channels": [{"sampler": 0, "target": {"node": 0, "path": "rotation"}},
                                                 {"sampler": 0, "target": {"node": 1, "path": "rotation"}}],
                    "samplers": [{"input": 0, "output": 1}]}]})";
}

std::string GltfBuffer() {
  const float numbers[] = {0, 0.2f, 0, 0, 0, 1, 0, 0, 1, 0};
  return {reinterpret_cast<const char*>(numbers), sizeof numbers};
}

TEST(SceneFiles, BuffersOfAGltfFileAreThoseBesideIt) {
  const std::string text = Gltf("walk/data.bin"), buffer = GltfBuffer();
  const File file{text, "clip.gltf"};
  EXPECT_THAT(FilesBeside(file), ElementsAre("walk/data.bin"));
  const Clip clip = ParseRecording({file, {}, {{"walk/data.bin", buffer}}});
  EXPECT_LT((PositionsAt(clip, clip.frames.size() - 1)[1] - Vec3(0, -1, 0)).norm(), 1e-6);
  EXPECT_THAT(Refusal<InputError>([&] {
                ParseRecording({file, {}, {}});
              }),
              HasSubstr("clip.gltf: found what Assimp refuses ("));
}

TEST(SceneFiles, NothingElseOfTheMachineIsRead) {
  for (const char* uri :
       {"/etc/passwd", "../secret.bin", "walk/../../secret.bin", "data:application/octet-stream;base64,AA"}) {
    EXPECT_TRUE(FilesBeside({Gltf(uri), "clip.gltf"}).empty()) << uri;
  }
  const std::string here = std::string(RETRACE_SOURCE_DIR) + "/data/pictures/walk.png";
  EXPECT_THAT(Refusal<InputError>([&] {
                ParseRecording({{Gltf(here), "clip.gltf"}, {}, {}});
              }),
              HasSubstr("what Assimp refuses ("));
}

TEST(SceneFiles, WhatIsNoSceneIsRefusedWithAReason) {
  const std::string texts[] = {"",
                               "x",
                               "HIERARCHY\nROOT hips\n",
                               std::string(1000, '\0'),
                               "Kaydara FBX Binary  \0",
                               "; FBX 7.3.0 project file\n",
                               "glTF\x02",
                               "{\"asset\": {}}",
                               "<COLLADA></COLLADA>"};
  for (const std::string& text : texts) {
    for (const char* name : {"a.fbx", "a.glb", "a.gltf", "a.dae", "A.FBX"}) {
      const std::string message = Refusal<InputError>([&] { ParseRecording({{text, name}, {}, {}}); });
      EXPECT_THAT(message, HasSubstr(std::string(name) + ": found ")) << text;
      EXPECT_THAT(message, HasSubstr(", expected ")) << text;
    }
  }
}

TEST(SceneFiles, AChoiceIsForFilesThatHaveOne) {
  EXPECT_EQ(Refusal<UsageError>([&] {
              ParseRecording({{"HIERARCHY", "a.bvh"}, {}, {}}, {"run", ""});
            }),
            "a.bvh: found a choice of \"run\", expected none: a .bvh file has one motion of one performer");
  EXPECT_THAT(Refusal<UsageError>([&] {
                ParseRecording({{"x", "a.txt"}, {}, {}});
              }),
              HasSubstr("a.txt: found \".txt\", expected a file of motion: .bvh, .amc, .fbx, .glb, .gltf, .dae, .npz, "
                        ".c3d, .trc, .mot, .sto"));
}

}  // namespace
}  // namespace retrace::recordings
