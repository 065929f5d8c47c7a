#include "retrace/body_fitting/skinned_mesh.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "body_mesh.h"
#include "retrace/io/error.h"
#include "retrace/io/json.h"

namespace retrace::body_fitting {
namespace {

using io::Json;
using testing::HasSubstr;

/// A box whose lower half one joint moves, and its upper half another one.
SkinnedMesh Box() {
  SkinnedMesh mesh;
  mesh.surface = BoxMesh(Vec3(1, 2, 1));
  mesh.joints = {{"low", -1, Vec3(0, -1, 0), true}, {"high", 0, Vec3(0, 0.5, 0), true}};
  for (const Vec3& vertex : mesh.surface.vertices) {
    mesh.weights.push_back(vertex.y() < 0 ? std::vector<SkinWeight>{{0, 1}}
                                          : std::vector<SkinWeight>{{1, 0.75}, {0, 0.25}});
  }
  return mesh;
}

/// The parts of a GLB file, to be changed.
struct Glb {
  explicit Glb(const std::string& bytes) {
    uint32_t length = 0;
    std::memcpy(&length, bytes.data() + 12, 4);
    document = io::ParseJson(bytes.substr(20, length), "test");
    buffer = bytes.substr(28 + length);
  }
  std::string Bytes() const {
    std::string text = document.dump();
    text.resize((text.size() + 3) / 4 * 4, ' ');
    std::string file = "glTF";
    const auto add = [&](size_t number) {
      const auto word = static_cast<uint32_t>(number);
      file.append(reinterpret_cast<const char*>(&word), 4);
    };
    add(2);
    add(28 + text.size() + buffer.size());
    add(text.size());
    file += "JSON" + text;
    add(buffer.size());
    return file + std::string("BIN\0", 4) + buffer;
  }
  Json& accessor(const char* name) {
    const Json& primitive = document["meshes"][0]["primitives"][0];
    const Json& index = std::string(name) == "indices" ? primitive["indices"] : primitive["attributes"][name];
    return document["accessors"][index.get<size_t>()];
  }
  Json document;
  std::string buffer;
};

std::string RefusalOf(const std::string& bytes) {
  try {
    ParseSkinnedGlb(bytes, "body.glb");
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(SkinnedMesh, IsReadAsItWasWritten) {
  const SkinnedMesh box = Box();
  const SkinnedMesh read = ParseSkinnedGlb(FormatSkinnedGlb(box, "box"), "box.glb");
  ASSERT_EQ(read.surface.vertices.size(), 8u);
  EXPECT_EQ(read.surface.triangles, box.surface.triangles);
  for (size_t v = 0; v < 8; ++v) EXPECT_LT((read.surface.vertices[v] - box.surface.vertices[v]).norm(), 1e-6);
  ASSERT_EQ(read.joints.size(), 4u);  // the node of the mesh as well, and the scene above both roots
  EXPECT_EQ(read.joints[0].parent, -1);
  for (const SkinJoint& joint : box.joints) {
    const auto it =
        std::find_if(read.joints.begin(), read.joints.end(), [&](const auto& j) { return j.name == joint.name; });
    ASSERT_NE(it, read.joints.end());
    EXPECT_LT((it->place - joint.place).norm(), 1e-6);
    EXPECT_TRUE(it->moves_vertices);
  }
  ASSERT_EQ(read.weights[7].size(), 2u);
  EXPECT_NEAR(read.weights[7][0].share, 0.75, 1e-6);
}

TEST(SkinnedMesh, VerticesAreWhereTheNodesPutThem) {
  Glb file(FormatSkinnedGlb(Box(), "box"));
  file.document["nodes"][0]["scale"] = {2, 2, 2};
  const SkinnedMesh read = ParseSkinnedGlb(file.Bytes(), "box.glb");
  // About the lower joint, which stays at y = -1.
  EXPECT_LT((read.surface.vertices[0] - Vec3(-1, -1, -1)).norm(), 1e-6);
  EXPECT_LT((read.surface.vertices[7] - Vec3(1, 3, 1)).norm(), 1e-6);
}

TEST(SkinnedMesh, VerticesThatExportersPartAreJoined) {
  SkinnedMesh parted = Box();
  SkinnedMesh box = Box();
  parted.surface.vertices.clear();
  parted.weights.clear();
  for (auto& triangle : parted.surface.triangles) {
    for (int& corner : triangle) {
      parted.surface.vertices.push_back(box.surface.vertices[static_cast<size_t>(corner)]);
      parted.weights.push_back(box.weights[static_cast<size_t>(corner)]);
      corner = static_cast<int>(parted.surface.vertices.size()) - 1;
    }
  }
  EXPECT_EQ(ParseSkinnedGlb(FormatSkinnedGlb(parted, "box"), "box.glb").surface.vertices.size(), 8u);
}

TEST(SkinnedMesh, RefusesSurfacesThatBoundNothing) {
  SkinnedMesh open = Box();
  open.surface.triangles.pop_back();
  EXPECT_THAT(RefusalOf(FormatSkinnedGlb(open, "box")), HasSubstr("found an open edge"));
  SkinnedMesh flat = Box();
  flat.surface.vertices[1] = flat.surface.vertices[0] + Vec3(0, 1e-12, 0);
  EXPECT_THAT(RefusalOf(FormatSkinnedGlb(flat, "box")), HasSubstr("found a triangle without area"));
  SkinnedMesh inside_out = Box();
  for (auto& triangle : inside_out.surface.triangles) std::swap(triangle[0], triangle[1]);
  EXPECT_THAT(RefusalOf(FormatSkinnedGlb(inside_out, "box")), HasSubstr("turned inside out"));
}

TEST(SkinnedMesh, RefusesMeshesThatNoJointMoves) {
  Glb file(FormatSkinnedGlb(Box(), "box"));
  file.document["meshes"][0]["primitives"][0]["attributes"].erase("JOINTS_0");
  EXPECT_THAT(RefusalOf(file.Bytes()), HasSubstr("found a mesh without weights, expected JOINTS_0 and WEIGHTS_0"));
  Glb without(FormatSkinnedGlb(Box(), "box"));
  without.document["nodes"][2].erase("skin");
  EXPECT_THAT(RefusalOf(without.Bytes()), HasSubstr("found no mesh with a skin"));
  Glb zero(FormatSkinnedGlb(Box(), "box"));
  const Json view = zero.document["bufferViews"][zero.accessor("WEIGHTS_0")["bufferView"].get<size_t>()];
  zero.buffer.replace(view["byteOffset"].get<size_t>(), 16, std::string(16, '\0'));
  EXPECT_THAT(RefusalOf(zero.Bytes()), HasSubstr("found weights of vertex 0 that sum up to 0"));
}

TEST(SkinnedMesh, RefusesNumbersThatDoNotFitTheBytes) {
  const std::string good = FormatSkinnedGlb(Box(), "box");
  const auto with = [&](const std::function<void(Glb&)>& change) {
    Glb file(good);
    change(file);
    return RefusalOf(file.Bytes());
  };
  // Nothing of that size is allocated: the limits of the buffer come first.
  EXPECT_THAT(with([](Glb& f) { f.accessor("POSITION")["count"] = 199999; }), HasSubstr("found 199999 elements"));
  EXPECT_THAT(with([](Glb& f) { f.accessor("POSITION")["count"] = 2000000000; }), HasSubstr("/accessors/0/count"));
  EXPECT_THAT(with([](Glb& f) { f.accessor("POSITION")["count"] = -1; }), HasSubstr("/accessors/0/count"));
  EXPECT_THAT(with([](Glb& f) { f.accessor("POSITION")["byteOffset"] = 2147483647; }), HasSubstr("elements"));
  EXPECT_THAT(with([](Glb& f) { f.document["bufferViews"][0]["byteLength"] = 2000000000; }),
              HasSubstr("bytes within the buffer"));
  EXPECT_THAT(with([](Glb& f) { f.document["bufferViews"][0]["byteStride"] = 8; }),
              HasSubstr("/bufferViews/0/byteStride"));
  EXPECT_THAT(with([](Glb& f) { f.accessor("POSITION")["bufferView"] = 99; }), HasSubstr("/accessors/0/bufferView"));
  EXPECT_THAT(with([](Glb& f) { f.accessor("indices")["componentType"] = 5126; }), HasSubstr("5121 or 5123 or 5125"));
  EXPECT_THAT(with([](Glb& f) { f.document["nodes"][1]["children"] = {0}; }), HasSubstr("their own descendants"));
  EXPECT_THAT(with([](Glb& f) { f.document["nodes"][0]["rotation"] = {1, 1, 1, 1}; }), HasSubstr("unit quaternion"));
  EXPECT_THAT(with([](Glb& f) { f.document["extensionsRequired"] = {"KHR_draco_mesh_compression"}; }),
              HasSubstr("found the extension KHR_draco_mesh_compression"));
  EXPECT_THAT(with([](Glb& f) {
                f.buffer[3] = '\x7f';
                f.buffer[2] = '\xc0';
              }),
              HasSubstr("expected finite numbers"));
  EXPECT_THAT(RefusalOf(good.substr(0, good.size() - 4)), HasSubstr("as its header says"));
  EXPECT_THAT(RefusalOf("{\"asset\":{}}"), HasSubstr("a text file"));
  EXPECT_THAT(RefusalOf(""), HasSubstr("does not begin with"));
  for (size_t length = 0; length < good.size(); length += 7) EXPECT_NE(RefusalOf(good.substr(0, length)), "accepted");
}

TEST(SkinnedMesh, TheGeneratedBodiesAreClosedAndMirrored) {
  for (const make_meshes::BodyNumbers& numbers : make_meshes::Bodies()) {
    const SkinnedMesh mesh = make_meshes::MakeBodyMesh(numbers);
    EXPECT_FALSE(FindFault(mesh.surface).any()) << numbers.name << ": " << FindFault(mesh.surface).found;
    double left = 0, right = 0, low = 1, high = 0;
    for (const Vec3& vertex : mesh.surface.vertices) {
      left = std::max(left, vertex.x());
      right = std::min(right, vertex.x());
      low = std::min(low, vertex.y());
      high = std::max(high, vertex.y());
    }
    EXPECT_EQ(left, -right);
    EXPECT_NEAR(low, 0, 0.01);
    EXPECT_NEAR(high, numbers.height, 0.01);
  }
}

}  // namespace
}  // namespace retrace::body_fitting
