/// Motions that Assimp writes as GLB, FBX and Collada files read back as they were: it is the independent writer.
#include <assimp/scene.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <assimp/Exporter.hpp>

#include "motion/random_clip.h"
#include "motion/well_formed.h"
#include "retrace/recordings/recording.h"

namespace retrace::recordings {
namespace {

using motion::Clip;
using motion::GlobalPose;

aiVector3D Convert(const Vec3& v) {
  return {static_cast<float>(v.x()), static_cast<float>(v.y()), static_cast<float>(v.z())};
}
aiQuaternion Convert(const Quat& q) {
  return {static_cast<float>(q.w()), static_cast<float>(q.x()), static_cast<float>(q.y()), static_cast<float>(q.z())};
}
aiMatrix4x4 NodePlace(const Vec3& at, const Quat& turn) {
  return {aiVector3D(1, 1, 1), Convert(turn), Convert(at)};
}

/// The clip as a scene: a node per joint with a rest orientation of its own, keys for each frame, and a triangle with
/// all joints as its bones.
struct Written {
  aiScene scene;
  std::vector<aiNode*> nodes;

  Written(const Clip& clip, const std::vector<Quat>& rest) {
    const auto& joints = clip.skeleton.joints;
    const size_t count = joints.size();
    scene.mRootNode = new aiNode("Scene");
    std::vector<Vec3> places(count);
    std::vector<std::vector<aiNode*>> children(count + 1);
    for (size_t j = 0; j < count; ++j) {
      const int parent = joints[j].parent;
      const Quat above = parent < 0 ? Quat(Quat::Identity()) : rest[static_cast<size_t>(parent)];
      auto* node = new aiNode(joints[j].name);
      node->mTransformation = NodePlace(above.conjugate() * joints[j].offset, above.conjugate() * rest[j]);
      nodes.push_back(node);
      children[static_cast<size_t>(parent + 1)].push_back(node);
      places[j] = joints[j].offset + (parent < 0 ? Vec3(Vec3::Zero()) : places[static_cast<size_t>(parent)]);
    }
    auto* skin = new aiNode("skin");
    skin->mNumMeshes = 1;
    skin->mMeshes = new unsigned[1]{0};
    children[0].push_back(skin);
    for (size_t j = 0; j <= count; ++j) {
      aiNode* parent = j == 0 ? scene.mRootNode : nodes[j - 1];
      if (!children[j].empty()) parent->addChildren(static_cast<unsigned>(children[j].size()), children[j].data());
    }
    scene.mNumMaterials = 1;
    scene.mMaterials = new aiMaterial* [1] { new aiMaterial() };
    scene.mNumMeshes = 1;
    scene.mMeshes = new aiMesh* [1] { Triangle(clip, rest, places) };
    scene.mNumAnimations = 1;
    scene.mAnimations = new aiAnimation* [1] { Animation(clip, rest) };
  }

  static aiMesh* Triangle(const Clip& clip, const std::vector<Quat>& rest, const std::vector<Vec3>& places) {
    auto* mesh = new aiMesh();
    mesh->mName = "triangle";
    mesh->mPrimitiveTypes = aiPrimitiveType_TRIANGLE;
    mesh->mNumVertices = 3;
    mesh->mVertices = new aiVector3D[3]{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
    mesh->mNormals = new aiVector3D[3]{{0, 0, 1}, {0, 0, 1}, {0, 0, 1}};
    mesh->mNumFaces = 1;
    mesh->mFaces = new aiFace[1];
    mesh->mFaces[0].mNumIndices = 3;
    mesh->mFaces[0].mIndices = new unsigned[3]{0, 1, 2};
    const size_t count = clip.skeleton.joints.size();
    mesh->mNumBones = static_cast<unsigned>(count);
    mesh->mBones = new aiBone*[count];
    for (size_t j = 0; j < count; ++j) {
      auto* bone = new aiBone();
      bone->mName = clip.skeleton.joints[j].name;
      bone->mOffsetMatrix = NodePlace(places[j], rest[j]).Inverse();
      bone->mNumWeights = 1;
      bone->mWeights = new aiVertexWeight[1]{{static_cast<unsigned>(j % 3), 0.01f}};
      mesh->mBones[j] = bone;
    }
    return mesh;
  }

  static aiAnimation* Animation(const Clip& clip, const std::vector<Quat>& rest) {
    const auto& joints = clip.skeleton.joints;
    const auto frames = static_cast<unsigned>(clip.frames.size());
    auto* animation = new aiAnimation();
    animation->mName = "motion";
    animation->mTicksPerSecond = 1;
    animation->mDuration = clip.duration();
    animation->mNumChannels = static_cast<unsigned>(joints.size());
    animation->mChannels = new aiNodeAnim*[joints.size()];
    for (size_t j = 0; j < joints.size(); ++j) {
      auto* channel = new aiNodeAnim();
      channel->mNodeName = joints[j].name;
      channel->mNumPositionKeys = channel->mNumRotationKeys = channel->mNumScalingKeys = frames;
      channel->mPositionKeys = new aiVectorKey[frames];
      channel->mRotationKeys = new aiQuatKey[frames];
      channel->mScalingKeys = new aiVectorKey[frames];
      const Quat above = joints[j].parent < 0 ? Quat(Quat::Identity()) : rest[static_cast<size_t>(joints[j].parent)];
      for (unsigned f = 0; f < frames; ++f) {
        const double time = clip.frame_time * f;
        const motion::Frame& frame = clip.frames[f];
        channel->mPositionKeys[f] = {time, Convert(above.conjugate() * frame.translations[j])};
        channel->mRotationKeys[f] = {time, Convert(above.conjugate() * frame.rotations[j] * rest[j])};
        channel->mScalingKeys[f] = {time, aiVector3D(1, 1, 1)};
      }
      animation->mChannels[j] = channel;
    }
    return animation;
  }
};

std::string Export(const Written& written, const std::string& format) {
  Assimp::Exporter exporter;
  const aiExportDataBlob* blob = exporter.ExportToBlob(&written.scene, format);
  EXPECT_NE(blob, nullptr) << exporter.GetErrorString();
  return blob == nullptr ? "" : std::string(static_cast<const char*>(blob->data), blob->size);
}

/// A motion as animation tools have it: joints that turn, a root that moves.
Clip AnimatedClip(uint64_t seed, int joint_count, double frame_rate, int frames) {
  RandomStream random(seed, RandomStage::kTest, 1, 0);
  Clip clip = motion::laws::RandomClip(seed, joint_count, true);
  clip.frame_time = 1 / frame_rate;
  double size = 0;
  for (motion::Joint& joint : clip.skeleton.joints) {
    joint.end_site = false;
    size = std::max(size, joint.offset.norm());
  }
  for (motion::Joint& joint : clip.skeleton.joints) joint.offset /= size;
  clip.frames.clear();
  for (int f = 0; f < frames; ++f) {
    motion::Frame& frame = clip.frames.emplace_back();
    for (size_t j = 0; j < clip.skeleton.joints.size(); ++j) {
      const motion::Joint& joint = clip.skeleton.joints[j];
      frame.translations.push_back(joint.parent < 0 ? motion::laws::RandomVector(random, 1) : joint.offset);
      frame.rotations.push_back(f == 0 ? motion::laws::RandomRotation(random)
                                       : Quat(clip.frames[static_cast<size_t>(f) - 1].rotations[j] *
                                              FromRotationVector(motion::laws::RandomVector(random, 0.3))));
    }
  }
  return clip;
}

std::vector<Quat> RestTurns(const Clip& clip, uint64_t seed) {
  RandomStream random(seed, RandomStage::kTest, 2, 0);
  std::vector<Quat> turns;
  for (size_t j = 0; j < clip.skeleton.joints.size(); ++j) turns.push_back(motion::laws::RandomRotation(random));
  return turns;
}

/// The largest distance of a joint from its place, and of the columns of its orientation; both relative to a size of 1.
/// Infinite where a joint is missing.
double Distance(const Clip& a, const Clip& b) {
  double largest = 0;
  if (a.frames.size() != b.frames.size()) return std::numeric_limits<double>::infinity();
  GlobalPose pose_a, pose_b;
  for (size_t f = 0; f < a.frames.size(); ++f) {
    ForwardKinematics(a.skeleton, a.frames[f], pose_a);
    ForwardKinematics(b.skeleton, b.frames[f], pose_b);
    for (size_t j = 0; j < a.skeleton.joints.size(); ++j) {
      const int k = b.skeleton.Find(a.skeleton.joints[j].name);
      if (k < 0) return std::numeric_limits<double>::infinity();
      const auto other = static_cast<size_t>(k);
      largest = std::max(largest, (pose_a.positions[j] - pose_b.positions[other]).norm());
      largest = std::max(
          largest, (pose_a.orientations[j].toRotationMatrix() - pose_b.orientations[other].toRotationMatrix()).norm());
    }
  }
  return largest;
}

Clip ReadBack(const std::string& bytes, const std::string& name) {
  Clip clip = ParseRecording({{bytes, name}, {}, {}});
  EXPECT_EQ(motion::laws::BrokenPromise(clip), "");
  return clip;
}

/// @param unit metres per unit of length, by what Assimp writes about the file
void ReadsBack(const std::string& format, const std::string& name, double unit, double tolerance) {
  const auto seed = *rc::gen::arbitrary<uint64_t>().as("seed");
  const auto joints = *rc::gen::inRange(2, 24).as("joints");
  const auto rate = *rc::gen::element(24.0, 30.0, 60.0, 120.0).as("rate");
  Clip clip = AnimatedClip(seed, joints, rate, 9);
  clip.unit = unit;
  const std::string bytes = Export(Written(clip, RestTurns(clip, seed)), format);
  const Clip again = ReadBack(bytes, name);
  RC_ASSERT(std::abs(again.frame_time * rate - 1) < 1e-6);
  RC_ASSERT(again.skeleton.joints.size() == clip.skeleton.joints.size());
  RC_ASSERT(std::abs(again.unit - unit) < 1e-9);
  RC_ASSERT(Distance(clip, again) < tolerance);
}

// Numbers in these files have 24 bits, and chains of joints add their roundings up; FBX has angles, near gimbal lock,
// too.
RC_GTEST_PROP(SceneRoundTrip, Glb, ()) {
  ReadsBack("glb2", "clip.glb", 1, 2e-5);
}

RC_GTEST_PROP(SceneRoundTrip, Fbx, ()) {
  ReadsBack("fbxa", "clip.fbx", 0.01, 1e-3);
}

RC_GTEST_PROP(SceneRoundTrip, Collada, ()) {
  ReadsBack("collada", "clip.dae", 1, 1e-4);
}

}  // namespace
}  // namespace retrace::recordings
