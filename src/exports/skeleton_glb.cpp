#include "retrace/exports/skeleton_glb.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "retrace/io/glb.h"
#include "retrace/io/json.h"
#include "retrace/results/provenance.h"

namespace retrace::exports {
namespace {

using io::Json;
namespace glb = io::glb;

constexpr double kThickness = 0.07;  // of a bone, as a share of its length
constexpr double kWaist = 0.2;       // where it is thickest, as a share of its length

/// Appends the components of a vector as the file has them.
template <typename Vector>
void AppendFloats(const Vector& v, std::vector<float>& values) {
  for (Eigen::Index k = 0; k < v.size(); ++k) values.push_back(static_cast<float>(v[k]));
}

/// The bones of the rest pose as double pyramids.
struct BoneMesh {
  std::vector<float> positions;
  std::vector<float> normals;
  std::vector<uint16_t> joints;
  std::vector<uint8_t> weights;

  void AddBone(const Vec3& from, const Vec3& to, uint16_t joint) {
    const Vec3 along = to - from;
    const double length = along.norm();
    if (!(length > 0)) return;
    const Vec3 side = along.unitOrthogonal() * (kThickness * length);
    const Vec3 other = along.normalized().cross(side);
    const Vec3 waist = from + kWaist * along;
    const std::array<Vec3, 4> ring = {waist + side, waist + other, waist - side, waist - other};
    for (size_t k = 0; k < 4; ++k) {
      const Vec3& a = ring[k];
      const Vec3& b = ring[(k + 1) % 4];
      AddTriangle(a, b, to, joint);
      AddTriangle(b, a, from, joint);
    }
  }

 private:
  void AddTriangle(const Vec3& a, const Vec3& b, const Vec3& c, uint16_t joint) {
    const Vec3 normal = (b - a).cross(c - a).normalized();
    for (const Vec3& corner : {a, b, c}) {
      AppendFloats(corner, positions);
      AppendFloats(normal, normals);
      joints.insert(joints.end(), {joint, 0, 0, 0});
      weights.insert(weights.end(), {255, 0, 0, 0});
    }
  }
};

std::vector<float> FloatsOf(const std::vector<Vec3>& vectors) {
  std::vector<float> values;
  for (const Vec3& v : vectors) AppendFloats(v, values);
  return values;
}

/// x, y, z, w; signs are chosen so that the rotation from frame to frame is the short one.
std::vector<float> FloatsOf(std::vector<Quat> rotations) {
  std::vector<float> values;
  for (size_t k = 0; k < rotations.size(); ++k) {
    rotations[k].normalize();
    if (k > 0 && rotations[k].dot(rotations[k - 1]) < 0) rotations[k].coeffs() = -rotations[k].coeffs();
    AppendFloats(rotations[k].coeffs(), values);
  }
  return values;
}

class SkeletonDocument {
 public:
  SkeletonDocument(const motion::Clip& clip, std::string name, double unit, const Quat& turn)
      : clip_(clip),
        joints_(clip.skeleton.joints),
        name_(std::move(name)),
        unit_(unit),
        turn_(turn),
        writer_("Retrace " + results::Version()) {}

  std::string Bytes() {
    AddNodes();
    AddSkin();
    AddAnimation();
    return writer_.Bytes();
  }

 private:
  void AddNodes() {
    axes_ = writer_.Push("nodes", {{"name", name_ + "_axes"},
                                   {"rotation", {turn_.x(), turn_.y(), turn_.z(), turn_.w()}},
                                   {"scale", {unit_, unit_, unit_}},
                                   {"children", Json::array()}});
    writer_.json()["scenes"][0]["nodes"].push_back(axes_);
    for (size_t j = 0; j < joints_.size(); ++j) {
      const motion::Joint& joint = joints_[j];
      nodes_.push_back(writer_.Push("nodes", {{"name", joint.name}, {"translation", io::ToJson(joint.offset)}}));
      const int above = joint.parent < 0 ? axes_ : nodes_[static_cast<size_t>(joint.parent)];
      writer_.json()["nodes"][static_cast<size_t>(above)]["children"].push_back(nodes_[j]);
      rest_.push_back(joint.offset);
      if (joint.parent >= 0) rest_[j] += rest_[static_cast<size_t>(joint.parent)];
    }
  }

  void AddSkin() {
    BoneMesh mesh;
    std::vector<float> inverse_bind;
    const auto in_scene = [&](size_t j) { return Vec3(turn_ * Vec3(unit_ * rest_[j])); };
    for (size_t j = 0; j < joints_.size(); ++j) {
      const int parent = joints_[j].parent;
      if (parent >= 0) {
        mesh.AddBone(in_scene(static_cast<size_t>(parent)), in_scene(j), static_cast<uint16_t>(parent));
      }
      const Mat3 back = turn_.conjugate().toRotationMatrix() / unit_;
      for (Eigen::Index column = 0; column < 3; ++column) {
        AppendFloats(Vec3(back.col(column)), inverse_bind);
        inverse_bind.push_back(0);
      }
      AppendFloats(Vec3(-rest_[j]), inverse_bind);
      inverse_bind.push_back(1);
    }
    if (mesh.positions.empty()) return;
    const int skin = writer_.Push("skins", {{"name", name_},
                                            {"inverseBindMatrices", writer_.AddAccessor(inverse_bind, 16)},
                                            {"skeleton", nodes_.front()},
                                            {"joints", nodes_}});
    const Json attributes = {{"POSITION", writer_.AddAccessor(mesh.positions, 3, glb::kArrayBuffer, true)},
                             {"NORMAL", writer_.AddAccessor(mesh.normals, 3, glb::kArrayBuffer)},
                             {"JOINTS_0", writer_.AddAccessor(mesh.joints, 4, glb::kArrayBuffer)},
                             {"WEIGHTS_0", writer_.AddAccessor(mesh.weights, 4, glb::kArrayBuffer, false, true)}};
    const int bones = writer_.Push(
        "meshes", {{"name", name_ + "_bones"}, {"primitives", Json::array({{{"attributes", attributes}}})}});
    writer_.json()["scenes"][0]["nodes"].push_back(
        writer_.Push("nodes", {{"name", name_ + "_bones"}, {"mesh", bones}, {"skin", skin}}));
  }

  void AddAnimation() {
    std::vector<float> times;
    for (size_t f = 0; f < clip_.frames.size(); ++f) {
      times.push_back(static_cast<float>(static_cast<double>(f) * clip_.frame_time));
    }
    const int input = writer_.AddAccessor(times, 1, glb::kNoTarget, true);
    Json animation = {{"name", name_}, {"channels", Json::array()}, {"samplers", Json::array()}};
    const auto add = [&](size_t joint, const char* path, const std::vector<float>& values, int components) {
      const int output = writer_.AddAccessor(values, components);
      animation["samplers"].push_back({{"input", input}, {"interpolation", "LINEAR"}, {"output", output}});
      animation["channels"].push_back(
          {{"sampler", animation["samplers"].size() - 1}, {"target", {{"node", nodes_[joint]}, {"path", path}}}});
    };
    for (size_t j = 0; j < joints_.size(); ++j) {
      if (joints_[j].end_site) continue;
      std::vector<Vec3> places;
      std::vector<Quat> rotations;
      for (const motion::Frame& frame : clip_.frames) {
        places.push_back(frame.translations[j]);
        rotations.push_back(frame.rotations[j]);
      }
      add(j, "rotation", FloatsOf(std::move(rotations)), 4);
      const bool moves =
          std::any_of(places.begin(), places.end(), [&](const Vec3& v) { return v != joints_[j].offset; });
      if (moves || joints_[j].parent < 0) add(j, "translation", FloatsOf(places), 3);
    }
    writer_.Push("animations", std::move(animation));
  }

  const motion::Clip& clip_;
  const std::vector<motion::Joint>& joints_;
  std::string name_;
  double unit_;
  Quat turn_;
  glb::Writer writer_;
  int axes_ = -1;
  std::vector<int> nodes_;  // (joints)
  std::vector<Vec3> rest_;  // (joints) in the clip's axes
};

}  // namespace

std::string FormatSkeletonGlb(const motion::Clip& clip, const std::string& name, double unit, const Quat& turn) {
  return SkeletonDocument(clip, name, unit, turn).Bytes();
}

}  // namespace retrace::exports
