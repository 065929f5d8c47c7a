#include "retrace/body_fitting/skinned_mesh.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>

#include "retrace/io/error.h"
#include "retrace/io/glb.h"
#include "retrace/io/json.h"
#include "retrace/io/number.h"

namespace retrace::body_fitting {
namespace {

using io::Json;
using io::JsonView;
namespace glb = io::glb;

constexpr io::Range kCoordinates{-1e6, 1e6};  // of nodes and their matrices [file units]

/// The nodes of a file, each with where it is in the scene.
struct Nodes {
  std::vector<int> parents;                 // (nodes)
  std::vector<Eigen::Affine3d> transforms;  // (nodes), to the scene
  std::vector<size_t> order;                // parents before children
};

Eigen::Affine3d LocalTransform(const JsonView& node) {
  Eigen::Affine3d transform = Eigen::Affine3d::Identity();
  if (node.Has("matrix")) {
    const std::vector<double> m = node["matrix"].Numbers(kCoordinates, 16);
    if (m.size() != 16) node["matrix"].Expect("16 numbers");
    transform.matrix() = Eigen::Map<const Eigen::Matrix4d>(m.data());  // both by columns
    transform.makeAffine();
    return transform;
  }
  if (node.Has("translation")) transform.translate(node["translation"].Vector(kCoordinates));
  if (node.Has("rotation")) {
    const std::vector<double> q = node["rotation"].Numbers({-1.01, 1.01}, 4);
    const Eigen::Quaterniond rotation =
        q.size() == 4 ? Eigen::Quaterniond(q[3], q[0], q[1], q[2]) : Eigen::Quaterniond(0, 0, 0, 0);
    if (std::abs(rotation.norm() - 1) > 0.01) node["rotation"].Expect("a unit quaternion, x, y, z, w");
    transform.rotate(rotation.normalized());
  }
  if (node.Has("scale")) transform.scale(node["scale"].Vector(kCoordinates));
  return transform;
}

Nodes ReadNodes(const JsonView& root) {
  Nodes nodes;
  const std::vector<JsonView> entries = root["nodes"].Elements(kMostMeshJoints);
  nodes.parents.assign(entries.size(), -1);
  for (size_t n = 0; n < entries.size(); ++n) {
    if (!entries[n].Has("children")) continue;
    for (const JsonView& view : entries[n]["children"].Elements(kMostMeshJoints)) {
      const auto child = static_cast<size_t>(view.Integer(0, static_cast<int>(entries.size()) - 1));
      if (nodes.parents[child] >= 0) view.Fail("node " + std::to_string(child), "a node that has no other parent");
      nodes.parents[child] = static_cast<int>(n);
    }
  }
  std::vector<std::vector<size_t>> children(entries.size());
  for (size_t n = 0; n < entries.size(); ++n) {
    if (nodes.parents[n] < 0) {
      nodes.order.push_back(n);
    } else {
      children[static_cast<size_t>(nodes.parents[n])].push_back(n);
    }
  }
  nodes.transforms.assign(entries.size(), Eigen::Affine3d::Identity());
  for (size_t k = 0; k < nodes.order.size(); ++k) {  // grows in the loop
    const size_t n = nodes.order[k];
    const Eigen::Affine3d local = LocalTransform(entries[n]);
    nodes.transforms[n] =
        nodes.parents[n] < 0 ? local : nodes.transforms[static_cast<size_t>(nodes.parents[n])] * local;
    nodes.order.insert(nodes.order.end(), children[n].begin(), children[n].end());
  }
  if (nodes.order.size() != entries.size()) root["nodes"].Fail("nodes that are their own descendants", "a tree");
  return nodes;
}

/// One skin: which nodes move vertices, and how vertices get into the frames of these nodes.
struct Skin {
  std::vector<int> joints;
  std::vector<Eigen::Affine3d> inverse_bind;
};

Skin ReadSkin(const glb::Reader& file, const JsonView& view, size_t num_nodes) {
  Skin skin;
  for (const JsonView& joint : view["joints"].Elements(kMostMeshJoints)) {
    skin.joints.push_back(joint.Integer(0, static_cast<int>(num_nodes) - 1));
  }
  if (skin.joints.empty()) view["joints"].Fail("no joint", "the joints that move the mesh");
  skin.inverse_bind.assign(skin.joints.size(), Eigen::Affine3d::Identity());
  if (!view.Has("inverseBindMatrices")) return skin;
  const glb::Reader::Numbers matrices = file.Read(view["inverseBindMatrices"], "MAT4", {glb::kFloat}, kMostMeshJoints);
  if (matrices.rows < skin.joints.size()) {
    view["inverseBindMatrices"].Fail(std::to_string(matrices.rows) + " matrices",
                                     "one for each of the " + std::to_string(skin.joints.size()) + " joints");
  }
  for (size_t j = 0; j < skin.joints.size(); ++j) {
    for (int column = 0; column < 4; ++column) {
      for (int row = 0; row < 3; ++row) {
        skin.inverse_bind[j].matrix()(row, column) =
            matrices.At(j, static_cast<size_t>(column) * 4 + static_cast<size_t>(row));
      }
    }
  }
  return skin;
}

/// Collects the vertices and triangles of all primitives.
class Surface {
 public:
  Surface(const glb::Reader& file, const Nodes& nodes) : file_(file), nodes_(nodes) {}

  /// @param skin_index of the document, so that vertices of one skin are joined with one another
  void Add(const JsonView& primitive, const Skin& skin, size_t skin_index) {
    if (primitive.Has("mode") && primitive["mode"].Integer(0, 6) != glb::kTriangles) {
      primitive["mode"].Expect(std::to_string(glb::kTriangles) + ", triangles");
    }
    const JsonView attributes = primitive["attributes"];
    const glb::Reader::Numbers places = file_.Read(attributes["POSITION"], "VEC3", {glb::kFloat}, kMostMeshVertices);
    const std::vector<std::vector<SkinWeight>> weights = ReadWeights(attributes, skin, places.rows);
    std::vector<int> vertices;
    for (size_t v = 0; v < places.rows; ++v) {
      // Zero has two forms; the sum has one.
      const std::tuple<size_t, double, double, double> key(skin_index, places.At(v, 0) + 0.0, places.At(v, 1) + 0.0,
                                                           places.At(v, 2) + 0.0);
      const auto [entry, is_new] = vertices_.emplace(key, static_cast<int>(mesh_.surface.vertices.size()));
      vertices.push_back(entry->second);
      if (!is_new) continue;
      if (mesh_.surface.vertices.size() == kMostMeshVertices) TooMany("vertices", kMostMeshVertices);
      mesh_.surface.vertices.push_back(Posed({places.At(v, 0), places.At(v, 1), places.At(v, 2)}, weights[v], skin));
      mesh_.weights.push_back(weights[v]);
      for (SkinWeight& weight : mesh_.weights.back()) {
        weight.joint = skin.joints[static_cast<size_t>(weight.joint)];
      }
    }
    AddTriangles(primitive, vertices);
  }

  SkinnedMesh Take() { return std::move(mesh_); }

 private:
  /// Joints are those of the skin here.
  std::vector<std::vector<SkinWeight>> ReadWeights(const JsonView& attributes, const Skin& skin, size_t count) const {
    std::vector<std::vector<SkinWeight>> weights(count);
    for (int set = 0;; ++set) {
      const std::string number = std::to_string(set);
      const std::string joints_name = "JOINTS_" + number;
      if (!attributes.Has(joints_name)) {
        if (set == 0)
          attributes.Fail("a mesh without weights", "JOINTS_0 and WEIGHTS_0: which joint moves which vertex");
        break;
      }
      const JsonView weights_view = attributes["WEIGHTS_" + number];
      const glb::Reader::Numbers joints =
          file_.Read(attributes[joints_name], "VEC4", {glb::kUnsignedByte, glb::kUnsignedShort}, kMostMeshVertices);
      const glb::Reader::Numbers shares =
          file_.Read(weights_view, "VEC4", {glb::kFloat, glb::kUnsignedByte, glb::kUnsignedShort}, kMostMeshVertices);
      for (const glb::Reader::Numbers* list : {&joints, &shares}) {
        if (list->rows != count) {
          weights_view.Fail(std::to_string(list->rows) + " entries",
                            "one for each of the " + std::to_string(count) + " vertices");
        }
      }
      for (size_t v = 0; v < count; ++v) {
        for (size_t k = 0; k < 4; ++k) {
          const double share = shares.At(v, k);
          if (share < 0)
            weights_view.Fail(io::Number(share) + " of vertex " + std::to_string(v), "weights of 0 or more");
          if (share == 0) continue;
          const auto joint = static_cast<size_t>(joints.At(v, k));
          if (joint >= skin.joints.size()) {
            attributes[joints_name].Fail("joint " + std::to_string(joint) + " of vertex " + std::to_string(v),
                                         "one of the " + std::to_string(skin.joints.size()) + " joints of the skin");
          }
          weights[v].push_back({static_cast<int>(joint), share});
        }
      }
    }
    for (size_t v = 0; v < count; ++v) {
      double sum = 0;
      for (const SkinWeight& weight : weights[v]) sum += weight.share;
      if (!(sum > 1e-6 && sum < 1e6)) {
        attributes.Fail("weights of vertex " + std::to_string(v) + " that sum up to " + io::Number(sum),
                        "weights, which sum up to 1");
      }
      for (SkinWeight& weight : weights[v]) weight.share /= sum;
    }
    return weights;
  }

  Vec3 Posed(const Vec3& place, const std::vector<SkinWeight>& weights, const Skin& skin) const {
    Vec3 sum = Vec3::Zero();
    for (const SkinWeight& weight : weights) {
      const auto j = static_cast<size_t>(weight.joint);
      sum += weight.share * (nodes_.transforms[static_cast<size_t>(skin.joints[j])] * (skin.inverse_bind[j] * place));
    }
    return sum;
  }

  void AddTriangles(const JsonView& primitive, const std::vector<int>& vertices) {
    std::vector<int> corners = vertices;
    if (primitive.Has("indices")) {
      const glb::Reader::Numbers indices =
          file_.Read(primitive["indices"], "SCALAR", {glb::kUnsignedByte, glb::kUnsignedShort, glb::kUnsignedInt},
                     3 * kMostMeshTriangles);
      corners.clear();
      for (const double value : indices.values) {
        if (value >= static_cast<double>(vertices.size())) {
          primitive["indices"].Fail("vertex " + io::Number(value), "one of " + std::to_string(vertices.size()));
        }
        corners.push_back(vertices[static_cast<size_t>(value)]);
      }
    }
    if (corners.size() % 3 != 0) {
      primitive.Fail(std::to_string(corners.size()) + " corners of triangles", "three per triangle");
    }
    if (corners.size() / 3 > kMostMeshTriangles - mesh_.surface.triangles.size())
      TooMany("triangles", kMostMeshTriangles);
    for (size_t c = 0; c < corners.size(); c += 3) {
      mesh_.surface.triangles.push_back({corners[c], corners[c + 1], corners[c + 2]});
    }
  }

  [[noreturn]] void TooMany(const char* what, size_t most) const {
    throw InputError(file_.name(), std::string("more than ") + std::to_string(most) + " " + what,
                     std::string("at most so many ") + what);
  }

  const glb::Reader& file_;
  const Nodes& nodes_;
  SkinnedMesh mesh_;
  std::map<std::tuple<size_t, double, double, double>, int> vertices_;
};

/// Maps the file's nodes to joints of the mesh, parents first. A scene may have several roots, a skeleton has one: the
/// scene itself is the parent of all.
void TakeJoints(const JsonView& root, const Nodes& nodes, const std::vector<bool>& moves, SkinnedMesh& mesh) {
  mesh.joints.push_back({"scene", -1, Vec3::Zero(), false});
  std::vector<int> index(nodes.order.size());
  for (size_t k = 0; k < nodes.order.size(); ++k) index[nodes.order[k]] = static_cast<int>(k) + 1;
  for (const size_t n : nodes.order) {
    const JsonView node = root["nodes"][n];
    SkinJoint joint;
    joint.name = node.Has("name") ? node["name"].String() : "node " + std::to_string(n);
    joint.parent = nodes.parents[n] < 0 ? 0 : index[static_cast<size_t>(nodes.parents[n])];
    joint.place = nodes.transforms[n].translation();
    if (!joint.place.allFinite() || joint.place.norm() > kCoordinates.max) {
      node.Fail("a place beyond " + io::Number(kCoordinates.max), "a node nearer to the origin");
    }
    joint.moves_vertices = moves[n];
    mesh.joints.push_back(std::move(joint));
  }
  for (std::vector<SkinWeight>& weights : mesh.weights) {
    for (SkinWeight& weight : weights) weight.joint = index[static_cast<size_t>(weight.joint)];
  }
}

}  // namespace

SkinnedMesh ParseSkinnedGlb(const std::string& bytes, const std::string& name) {
  const glb::Reader file(bytes, name);
  const JsonView root = file.root();
  const Nodes nodes = ReadNodes(root);
  Surface surface(file, nodes);
  std::vector<bool> moves(nodes.order.size(), false);
  bool has_mesh = false;
  for (const JsonView& node : root["nodes"].Elements(kMostMeshJoints)) {
    if (!node.Has("mesh") || !node.Has("skin")) continue;
    has_mesh = true;
    const Skin skin = ReadSkin(file, glb::Chosen(root, "skins", node["skin"]), nodes.order.size());
    for (const int joint : skin.joints) moves[static_cast<size_t>(joint)] = true;
    const auto skin_index = static_cast<size_t>(node["skin"].Integer(0, static_cast<int>(kMostMeshJoints)));
    for (const JsonView& primitive :
         glb::Chosen(root, "meshes", node["mesh"])["primitives"].Elements(kMostMeshJoints)) {
      surface.Add(primitive, skin, skin_index);
    }
  }
  if (!has_mesh) {
    throw InputError(name, "no mesh with a skin", "a mesh that joints move: nodes with \"mesh\" and \"skin\"");
  }
  SkinnedMesh mesh = surface.Take();
  TakeJoints(root, nodes, moves, mesh);
  if (const MeshFault fault = FindFault(mesh.surface); fault.any()) {
    std::string place = name;
    const auto number = static_cast<size_t>(std::max(fault.vertex, 0));
    Vec3 at = fault.vertex >= 0 ? mesh.surface.vertices[number] : Vec3(Vec3::Zero());
    if (fault.triangle >= 0) {
      const int corner = mesh.surface.triangles[static_cast<size_t>(fault.triangle)][0];
      at = mesh.surface.vertices[static_cast<size_t>(corner)];
    }
    if (fault.vertex >= 0 || fault.triangle >= 0) {
      place += ", at (" + io::Fixed(at.x(), 3) + ", " + io::Fixed(at.y(), 3) + ", " + io::Fixed(at.z(), 3) + ")";
    }
    throw InputError(place, fault.found, fault.expected);
  }
  return mesh;
}

std::string FormatSkinnedGlb(const SkinnedMesh& mesh, const std::string& name) {
  glb::Writer document("Retrace");
  Json& json = document.json();
  for (const char* list : {"nodes", "skins", "meshes", "accessors", "bufferViews"}) json[list] = Json::array();

  std::vector<float> places;
  for (const Vec3& vertex : mesh.surface.vertices) {
    for (int axis = 0; axis < 3; ++axis) places.push_back(static_cast<float>(vertex[axis]));
  }
  const int positions = document.AddAccessor(places, 3, glb::kNoTarget, true);
  std::vector<uint16_t> movers;
  std::vector<float> shares;
  for (std::vector<SkinWeight> weights : mesh.weights) {
    std::stable_sort(weights.begin(), weights.end(),
                     [](const SkinWeight& a, const SkinWeight& b) { return a.share > b.share; });
    weights.resize(4, {0, 0});
    double sum = 0;
    for (const SkinWeight& weight : weights) sum += weight.share;
    for (const SkinWeight& weight : weights) {
      movers.push_back(static_cast<uint16_t>(weight.joint));
      shares.push_back(static_cast<float>(weight.share / sum));
    }
  }
  const int joints = document.AddAccessor(movers, 4);
  const int weights = document.AddAccessor(shares, 4);
  std::vector<uint32_t> corners;
  for (const auto& triangle : mesh.surface.triangles) {
    for (const int corner : triangle) corners.push_back(static_cast<uint32_t>(corner));
  }
  const int indices = document.AddAccessor(corners, 1);

  Json joint_list = Json::array();
  Json& nodes = json["nodes"];
  Json& roots = json["scenes"][0]["nodes"];
  std::vector<float> matrices;
  for (size_t j = 0; j < mesh.joints.size(); ++j) {
    const SkinJoint& joint = mesh.joints[j];
    const Vec3 above = joint.parent < 0 ? Vec3(Vec3::Zero()) : mesh.joints[static_cast<size_t>(joint.parent)].place;
    nodes.push_back({{"name", joint.name}, {"translation", io::ToJson(Vec3(joint.place - above))}});
    joint_list.push_back(j);
    if (joint.parent < 0) {
      roots.push_back(j);
    } else {
      nodes[static_cast<size_t>(joint.parent)]["children"].push_back(j);
    }
    for (int column = 0; column < 4; ++column) {
      for (int row = 0; row < 4; ++row) {
        const double value = column < 3 ? (row == column) : row < 3 ? -joint.place[row] : 1;
        matrices.push_back(static_cast<float>(value));
      }
    }
  }
  const int inverse_bind = document.AddAccessor(matrices, 16);
  nodes.push_back({{"name", name}, {"mesh", 0}, {"skin", 0}});
  roots.push_back(nodes.size() - 1);
  document.Push("skins", {{"joints", joint_list}, {"inverseBindMatrices", inverse_bind}});
  document.Push("meshes",
                {{"name", name},
                 {"primitives",
                  Json::array({{{"attributes", {{"POSITION", positions}, {"JOINTS_0", joints}, {"WEIGHTS_0", weights}}},
                                {"indices", indices}}})}});
  return document.Bytes();
}

}  // namespace retrace::body_fitting
