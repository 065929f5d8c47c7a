/// GLB files, taken apart by a reader of the test's own and held against the simulation.
#include "retrace/exports/glb.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>

#include "exports/simulated_motion.h"
#include "retrace/io/json.h"
#include "retrace/recordings/recording.h"

namespace retrace::exports {
namespace {

/// A GLB file with its nodes' transforms over time.
class Scene {
 public:
  explicit Scene(const std::string& bytes) {
    EXPECT_EQ(bytes.substr(0, 4), "glTF");
    EXPECT_EQ(Word(bytes, 4), 2u);
    EXPECT_EQ(Word(bytes, 8), bytes.size());
    const size_t json_size = Word(bytes, 12);
    EXPECT_EQ(bytes.substr(16, 4), "JSON");
    EXPECT_EQ(json_size % 4, 0u);
    json_ = io::ParseJson(bytes.substr(20, json_size), "scene");
    EXPECT_EQ(bytes.substr(24 + json_size, 4), std::string("BIN\0", 4));
    buffer_ = bytes.substr(28 + json_size);
    EXPECT_EQ(Word(bytes, 20 + json_size), buffer_.size());
    EXPECT_EQ(json_["buffers"][0]["byteLength"].get<size_t>(), buffer_.size());
    parents_.assign(json_["nodes"].size(), -1);
    for (size_t n = 0; n < parents_.size(); ++n) {
      for (const auto& child : json_["nodes"][n].value("children", io::Json::array())) {
        parents_[child.get<size_t>()] = static_cast<int>(n);
      }
    }
  }

  const io::Json& json() const { return json_; }
  int Find(const std::string& name) const {
    for (size_t n = 0; n < parents_.size(); ++n) {
      if (json_["nodes"][n]["name"] == name) return static_cast<int>(n);
    }
    return -1;
  }

  /// Numbers of an accessor, one after another.
  std::vector<double> Values(size_t accessor) const {
    const io::Json& a = json_["accessors"][accessor];
    const io::Json& view = json_["bufferViews"][a["bufferView"].get<size_t>()];
    static const std::map<std::string, size_t> kSizes = {{"SCALAR", 1}, {"VEC3", 3}, {"VEC4", 4}, {"MAT4", 16}};
    const size_t count = a["count"].get<size_t>() * kSizes.at(a["type"].get<std::string>());
    const size_t offset = view["byteOffset"].get<size_t>();
    const int type = a["componentType"].get<int>();
    const size_t size = type == 5121 ? 1 : type == 5123 ? 2 : 4;
    EXPECT_EQ(view["byteLength"].get<size_t>(), count * size);
    EXPECT_EQ(offset % 4, 0u);
    std::vector<double> values;
    for (size_t i = 0; i < count; ++i) {
      const char* at = buffer_.data() + offset + i * size;
      if (type == 5126) {
        float value;
        std::memcpy(&value, at, 4);
        values.push_back(value);
      } else {
        uint32_t value = 0;
        std::memcpy(&value, at, size);
        values.push_back(value);
      }
    }
    return values;
  }

  /// Vertices of the node's mesh, each moved by up to four nodes, at a key.
  std::vector<Vec3> Skinned(int node, size_t key) const {
    const io::Json& n = json_["nodes"][static_cast<size_t>(node)];
    const io::Json& attributes = json_["meshes"][n["mesh"].get<size_t>()]["primitives"][0]["attributes"];
    const auto places = Values(attributes["POSITION"].get<size_t>());
    const auto bones = Values(attributes["JOINTS_0"].get<size_t>()),
               shares = Values(attributes["WEIGHTS_0"].get<size_t>());
    const io::Json& skin = json_["skins"][n["skin"].get<size_t>()];
    const auto inverse = Values(skin["inverseBindMatrices"].get<size_t>());
    std::vector<Eigen::Matrix4d> moves;
    for (size_t bone = 0; bone < skin["joints"].size(); ++bone) {
      moves.emplace_back(Global(skin["joints"][bone].get<int>(), key).matrix() *
                         Eigen::Map<const Eigen::Matrix4d>(inverse.data() + 16 * bone));
    }
    std::vector<Vec3> vertices;
    for (size_t v = 0; v < places.size() / 3; ++v) {
      Eigen::Vector4d sum = Eigen::Vector4d::Zero();
      for (size_t k = 4 * v; k < 4 * v + 4; ++k) {
        sum += shares[k] / 65535 * moves.at(static_cast<size_t>(bones[k])) *
               Eigen::Vector4d(places[3 * v], places[3 * v + 1], places[3 * v + 2], 1);
      }
      vertices.emplace_back(sum.head<3>());
    }
    return vertices;
  }

  std::vector<double> Times() const { return Values(json_["animations"][0]["samplers"][0]["input"].get<size_t>()); }
  bool Animates(int node, const std::string& path) const { return Channel(node, path) >= 0; }

  /// Of a node in the world at an animation's key.
  Eigen::Isometry3d Global(int node, size_t key) const {
    const io::Json& n = json_["nodes"][static_cast<size_t>(node)];
    std::vector<double> translation = n.value("translation", std::vector<double>{0, 0, 0});
    std::vector<double> rotation = n.value("rotation", std::vector<double>{0, 0, 0, 1});
    Take(node, "translation", key, translation);
    Take(node, "rotation", key, rotation);
    Eigen::Isometry3d local = Eigen::Isometry3d::Identity();
    local.translate(Vec3(translation[0], translation[1], translation[2]));
    local.rotate(Quat(rotation[3], rotation[0], rotation[1], rotation[2]));
    const int parent = parents_[static_cast<size_t>(node)];
    return parent < 0 ? local : Global(parent, key) * local;
  }

  /// Vertices of the node's mesh in the world at a key, skinned where it has a skin.
  std::vector<Vec3> Vertices(int node, size_t key) const {
    const io::Json& n = json_["nodes"][static_cast<size_t>(node)];
    const io::Json& primitive = json_["meshes"][n["mesh"].get<size_t>()]["primitives"][0];
    const auto places = Values(primitive["attributes"]["POSITION"].get<size_t>());
    Eigen::Isometry3d transform = Eigen::Isometry3d::Identity();
    std::vector<double> bones;
    if (n.contains("skin")) {
      bones = Values(primitive["attributes"]["JOINTS_0"].get<size_t>());
    } else {
      transform = Global(node, key);
    }
    std::vector<Vec3> vertices;
    for (size_t v = 0; v < places.size() / 3; ++v) {
      if (v == 0 && !bones.empty()) {
        const io::Json& skin = json_["skins"][0];
        const auto bone = static_cast<size_t>(bones[0]);
        const auto inverse = Values(skin["inverseBindMatrices"].get<size_t>());
        const Eigen::Map<const Eigen::Matrix4d> bind(inverse.data() + 16 * bone);
        transform = Global(skin["joints"][bone].get<int>(), key) * Eigen::Isometry3d(Eigen::Matrix4d(bind));
      }
      vertices.push_back(transform * Vec3(places[3 * v], places[3 * v + 1], places[3 * v + 2]));
    }
    return vertices;
  }

 private:
  static uint32_t Word(const std::string& bytes, size_t at) {
    uint32_t value = 0;
    std::memcpy(&value, bytes.data() + at, 4);
    return value;
  }
  int Channel(int node, const std::string& path) const {
    for (const auto& channel : json_["animations"][0]["channels"]) {
      if (channel["target"]["node"] == node && channel["target"]["path"] == path) return channel["sampler"].get<int>();
    }
    return -1;
  }
  void Take(int node, const std::string& path, size_t key, std::vector<double>& value) const {
    const int sampler = Channel(node, path);
    if (sampler < 0) return;
    const auto all = Values(json_["animations"][0]["samplers"][static_cast<size_t>(sampler)]["output"].get<size_t>());
    for (size_t c = 0; c < value.size(); ++c) value[c] = all[key * value.size() + c];
  }

  io::Json json_;
  std::string buffer_;
  std::vector<int> parents_;
};

int NodeOfBody(const Scene& scene, const character::Character& character, const std::string& name) {
  const int longer = scene.Find(name + "_body");
  return longer >= 0 || character.FindJoint(name) >= 0 ? longer : scene.Find(name);
}

TEST(ExportGlb, NodesAndBodiesAreWhereTheyWereSimulated) {
  for (const char* name : {"human", "asimo", "quadruped"}) {
    const Simulation drop = Drop(name, 96);
    const Scene scene(FormatGlb(drop.motion(), 60));
    const auto times = scene.Times();
    ASSERT_EQ(times.size(), 25u);
    for (size_t k = 0; k < times.size(); k += 6) {
      EXPECT_FLOAT_EQ(static_cast<float>(times[k]), static_cast<float>(k) / 60);
      const character::State& state = drop.trajectory.states[4 * k];
      const int root = scene.Find("root");
      ASSERT_GE(root, 0);
      EXPECT_LT((scene.Global(root, k).translation() - state[static_cast<size_t>(drop.character.root)].position).norm(),
                1e-6);
      for (const character::Joint& joint : drop.character.joints) {
        const int node = scene.Find(joint.name);
        ASSERT_GE(node, 0) << joint.name;
        const Eigen::Isometry3d global = scene.Global(node, k);
        const character::BodyState& child = state[static_cast<size_t>(joint.child)];
        const Vec3 rest = drop.character.bodies[static_cast<size_t>(joint.child)].rest_position;
        const Vec3 simulated = child.position + child.orientation * Vec3(joint.anchor - rest);
        EXPECT_LT((global.translation() - simulated).norm(), 5.1e-4) << joint.name << " at frame " << k;
        EXPECT_LT(AngleBetween(Quat(global.linear()), child.orientation), 1e-5) << joint.name;
      }
      for (size_t b = 0; b < drop.character.bodies.size(); ++b) {
        const character::Body& body = drop.character.bodies[b];
        const int node = NodeOfBody(scene, drop.character, body.name);
        ASSERT_GE(node, 0) << body.name;
        // Its lowest vertex is as high as the lowest point of its shapes; a capsule has 24 sides, so that it may lack
        // a little.
        double lowest = 1e9, smallest = 1e9;
        for (const Vec3& vertex : scene.Vertices(node, k)) lowest = std::min(lowest, vertex.y());
        for (const character::Shape& shape : body.shapes) {
          smallest = std::min(smallest, shape.kind == character::Shape::Kind::kCapsule ? shape.radius : 0);
        }
        EXPECT_NEAR(lowest, character::LowestPoint(body, state[b]), 6e-4 + 0.02 * smallest) << body.name;
      }
    }
  }
}

TEST(ExportGlb, ReadsBackAsTheSameMotion) {
  const Simulation drop = Drop("human", 96, FullWorld());
  const std::string bytes = FormatGlb(drop.motion(), 60);
  const Scene scene(bytes);
  const motion::Clip clip = recordings::ParseRecording({{bytes, "drop.glb"}, {}, {}});
  ASSERT_EQ(clip.frames.size(), scene.Times().size());
  EXPECT_EQ(clip.frame_time, 1.0 / 60);
  EXPECT_EQ(clip.unit, 1);
  EXPECT_EQ(clip.skeleton.joints.size(), drop.character.joints.size() + 1);
  motion::GlobalPose pose;
  for (size_t k = 0; k < clip.frames.size(); ++k) {
    motion::ForwardKinematics(clip.skeleton, clip.frames[k], pose);
    for (size_t j = 0; j < clip.skeleton.joints.size(); ++j) {
      const Eigen::Isometry3d global = scene.Global(scene.Find(clip.skeleton.joints[j].name), k);
      EXPECT_LT((pose.positions[j] - global.translation()).norm(), 1e-6) << clip.skeleton.joints[j].name << " " << k;
      EXPECT_LT(AngleBetween(pose.orientations[j], Quat(global.linear())), 1e-6) << clip.skeleton.joints[j].name;
    }
  }
}

TEST(ExportGlb, AJointThatComesApartIsMoved) {
  Simulation drop = Drop("human", 8);
  const auto knee = static_cast<size_t>(drop.character.FindJoint("left_knee"));
  const auto shin = static_cast<size_t>(drop.character.joints[knee].child);
  for (auto& state : drop.trajectory.states) state[shin].position.x() += 0.01;
  const Scene scene(FormatGlb(drop.motion(), 60));
  EXPECT_TRUE(scene.Animates(scene.Find("left_knee"), "translation"));
  EXPECT_TRUE(scene.Animates(scene.Find("left_ankle"), "translation")) << "the foot stayed";
  EXPECT_FALSE(scene.Animates(scene.Find("right_knee"), "translation"));
  const character::BodyState& at = drop.trajectory.states[8][shin];
  const Vec3 rest = drop.character.joints[knee].anchor - drop.character.bodies[shin].rest_position;
  EXPECT_LT((scene.Global(scene.Find("left_knee"), 2).translation() - (at.position + at.orientation * rest)).norm(),
            1e-6);
}

TEST(ExportGlb, TheWorldIsInIt) {
  const Simulation drop = Drop("human", 96, FullWorld());
  const simulation::Environment& world = drop.control.world.environment;
  const Scene scene(FormatGlb(drop.motion(), 60));
  for (const char* name : {"ground", "shelf", "swing", "field", "crate", "ball"}) {
    EXPECT_GE(scene.Find(name), 0) << name;
  }
  EXPECT_FALSE(scene.Animates(scene.Find("shelf"), "translation"));
  EXPECT_FALSE(scene.Animates(scene.Find("swing"), "rotation"));
  const size_t own = drop.character.bodies.size();
  for (const size_t k : {0u, 12u, 24u}) {
    const auto boxes = BoxPositions(world, static_cast<double>(k) / 60);
    EXPECT_LT((scene.Global(scene.Find("shelf"), k).translation() - boxes[0]).norm(), 1e-6);
    EXPECT_LT((scene.Global(scene.Find("swing"), k).translation() - boxes[1]).norm(), 1e-6);
    for (size_t f = 0; f < 2; ++f) {
      const character::BodyState& body = drop.trajectory.states[4 * k][own + f];
      const Eigen::Isometry3d global = scene.Global(scene.Find(world.bodies[f].name), k);
      EXPECT_LT((global.translation() - body.position).norm(), 1e-6);
      EXPECT_LT(AngleBetween(Quat(global.linear()), body.orientation), 1e-5);
    }
  }
  // The field's vertices lie on the surface that the simulation has.
  int looked_at = 0;
  for (const Vec3& vertex : scene.Vertices(scene.Find("field"), 0)) {
    const Vec3 inwards = vertex + 1e-4 * (world.height_field->position - vertex);
    const double height = world.HeightAt(inwards.x(), inwards.z(), 10);
    EXPECT_NEAR(std::max(0.0, vertex.y()), height, 1e-3);
    ++looked_at;
  }
  EXPECT_EQ(looked_at, 2 * 3 * 2 * 3);
  double top = -1e9;
  for (const Vec3& vertex : scene.Vertices(scene.Find("ground"), 0)) top = std::max(top, vertex.y());
  EXPECT_NEAR(top, 0, 1e-3);
}

TEST(ExportGlb, SurfacesFaceOutwards) {
  const Simulation drop = Drop("asimo", 4, FullWorld());
  const Simulation human = Drop("human", 4);
  for (const Simulation* simulation : {&drop, &human}) {
    const Scene scene(FormatGlb(simulation->motion(), 60));
    for (const auto& mesh : scene.json()["meshes"]) {
      const io::Json& primitive = mesh["primitives"][0];
      const auto places = scene.Values(primitive["attributes"]["POSITION"].get<size_t>());
      const auto normals = scene.Values(primitive["attributes"]["NORMAL"].get<size_t>());
      const auto indices = scene.Values(primitive["indices"].get<size_t>());
      double volume = 0;
      for (size_t t = 0; t < indices.size(); t += 3) {
        const auto vector = [](const std::vector<double>& values, double index) {
          const size_t at = 3 * static_cast<size_t>(index);
          return Vec3(values[at], values[at + 1], values[at + 2]);
        };
        const Vec3 a = vector(places, indices[t]), b = vector(places, indices[t + 1]),
                   c = vector(places, indices[t + 2]);
        const Vec3 normal = (b - a).cross(c - a);
        EXPECT_GT(normal.norm(), 0) << mesh["name"];
        for (size_t corner = 0; corner < 3; ++corner) {
          EXPECT_GT(normal.dot(vector(normals, indices[t + corner])), 0) << mesh["name"];
        }
        volume += a.dot(b.cross(c)) / 6;
      }
      const bool open = mesh["name"] == "ground" || mesh["name"] == "field";
      if (!open) {
        EXPECT_GT(volume, 0) << mesh["name"];
      }
    }
  }
}

TEST(ExportGlb, NodeNamesAreDistinct) {
  const Simulation drop = Drop("quadruped", 4, FullWorld());  // its neck and head are names of joints and bodies
  const Scene scene(FormatGlb(drop.motion(), 60));
  std::set<std::string> names;
  for (const auto& node : scene.json()["nodes"]) names.insert(node["name"].get<std::string>());
  EXPECT_EQ(names.size(), scene.json()["nodes"].size());
  EXPECT_GE(scene.Find("neck_body"), 0);
}

TEST(ExportGlb, AMotionWithoutAStepIsAStillScene) {
  const Simulation still = Drop("human", 0);
  const Scene scene(FormatGlb(still.motion(), 60));
  EXPECT_EQ(scene.Times(), std::vector<double>{0});
}

TEST(ExportGlb, CharactersOfASceneAreInOneFileUnderNamesOfTheirOwn) {
  const Simulation human = Drop("human", 24, FullWorld());
  const Simulation dog = Drop("quadruped", 24, FullWorld());
  const std::vector<ExportedMotion> motions = {human.motion(), dog.motion(), human.motion()};
  const Scene scene(FormatGlb(motions, 60));
  std::set<std::string> names;
  for (const auto& node : scene.json()["nodes"]) {
    EXPECT_TRUE(names.insert(node["name"].get<std::string>()).second) << node["name"];
  }
  for (const char* name : {"ground", "crate", "swing", "field", "character_3_left_knee", "character_2_root"}) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
  EXPECT_FALSE(names.contains("root"));
  EXPECT_EQ(scene.json()["skins"].size(), 3u);
  EXPECT_EQ(scene.json()["animations"].size(), 1u);
  const auto frames = FramesAt(dog.trajectory, 60);
  for (size_t k = 0; k < frames.size(); ++k) {
    const Vec3 root = frames[k][static_cast<size_t>(dog.character.root)].position;
    EXPECT_LT((scene.Global(scene.Find("character_2_root"), k).translation() - root).norm(), 1e-6) << k;
  }
  EXPECT_EQ(FormatGlb(human.motion(), 60), FormatGlb(std::vector<ExportedMotion>{human.motion()}, 60));
}

TEST(ExportGlb, ASkinMovesWithTheBodies) {
  const Simulation drop = Drop("human", 96);
  const std::vector<skin::BodySkin> skins = {skin::MakeBodySkin(drop.character, 0.03)};
  const Scene scene(FormatGlb(drop.motion(), 60, skins));
  const int node = scene.Find("skin");
  ASSERT_GE(node, 0);
  EXPECT_LT(scene.Find("trunk"), 0) << "no shapes besides";
  const io::Json& primitive = scene.json()["meshes"][0]["primitives"][0];
  const auto indices = scene.Values(primitive["indices"].get<size_t>());
  EXPECT_EQ(indices.size(), 3 * skins[0].surface.triangles.size());
  const auto count = static_cast<double>(skins[0].surface.vertices.size());
  for (const double index : indices) ASSERT_TRUE(index >= 0 && index < count);
  const auto shares = scene.Values(primitive["attributes"]["WEIGHTS_0"].get<size_t>());
  const auto bones = scene.Values(primitive["attributes"]["JOINTS_0"].get<size_t>());
  ASSERT_EQ(shares.size(), 4 * skins[0].surface.vertices.size());
  ASSERT_EQ(bones.size(), shares.size());
  const auto joints = static_cast<double>(scene.json()["skins"][0]["joints"].size());
  for (size_t v = 0; v < shares.size(); v += 4) {
    ASSERT_EQ(shares[v] + shares[v + 1] + shares[v + 2] + shares[v + 3], 65535);
    for (size_t k = v; k < v + 4; ++k) ASSERT_TRUE(bones[k] < joints && (shares[k] > 0 || bones[k] == 0));
  }
  for (const size_t k : {0u, 12u, 24u}) {
    const std::vector<Vec3> seen = scene.Skinned(node, k);
    const std::vector<Vec3> wanted = skin::Posed(skins[0], drop.trajectory.states[4 * k]);
    double farthest = 0;
    for (size_t v = 0; v < wanted.size(); ++v) farthest = std::max(farthest, (seen[v] - wanted[v]).norm());
    EXPECT_LT(farthest, 6e-4) << "at frame " << k;  // joints come apart by as much
  }
  // Where a character has none, its shapes are there.
  const Simulation dog = Drop("quadruped", 4);
  const std::vector<ExportedMotion> motions = {drop.motion(), dog.motion()};
  const Scene both(FormatGlb(motions, 60, std::vector<skin::BodySkin>{skins[0], {}}));
  EXPECT_GE(both.Find("character_1_skin"), 0);
  EXPECT_GE(both.Find("character_2_trunk"), 0);
}

TEST(ExportGlb, TheSameMotionGivesTheSameBytes) {
  const Simulation drop = Drop("human", 12, FullWorld());
  EXPECT_EQ(FormatGlb(drop.motion(), 60), FormatGlb(drop.motion(), 60));
  EXPECT_NE(FormatGlb(drop.motion(), 60), FormatGlb(drop.motion(), 30));
}

}  // namespace
}  // namespace retrace::exports
