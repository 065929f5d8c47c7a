/// Writes motions as animated scenes, for tests: by Assimp.
#pragma once

#include <assimp/scene.h>

#include <assimp/Exporter.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "retrace/math/types.h"
#include "retrace/motion/clip.h"

namespace retrace::recordings {

inline aiVector3D Convert(const Vec3& v) {
  return {static_cast<float>(v.x()), static_cast<float>(v.y()), static_cast<float>(v.z())};
}
inline aiQuaternion Convert(const Quat& q) {
  return {static_cast<float>(q.w()), static_cast<float>(q.x()), static_cast<float>(q.y()), static_cast<float>(q.z())};
}
inline aiMatrix4x4 NodePlace(const Vec3& at, const Quat& turn) {
  return {aiVector3D(1, 1, 1), Convert(turn), Convert(at)};
}

/// The clip as a scene: a node per joint with a rest orientation of its own, keys for each frame, and a triangle with
/// all joints as its bones.
struct WrittenScene {
  aiScene scene;
  std::vector<aiNode*> nodes;

  WrittenScene(const motion::Clip& clip, const std::vector<Quat>& rest) {
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

  static aiMesh* Triangle(const motion::Clip& clip, const std::vector<Quat>& rest, const std::vector<Vec3>& places) {
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

  static aiAnimation* Animation(const motion::Clip& clip, const std::vector<Quat>& rest) {
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

/// The bytes of the scene in a format of Assimp: glb2, fbx, fbxa, collada.
inline std::string Export(const WrittenScene& written, const std::string& format) {
  Assimp::Exporter exporter;
  const aiExportDataBlob* blob = exporter.ExportToBlob(&written.scene, format);
  if (blob == nullptr) throw std::runtime_error(exporter.GetErrorString());
  return std::string(static_cast<const char*>(blob->data), blob->size);
}

}  // namespace retrace::recordings
