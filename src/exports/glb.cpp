// The Khronos validator checks what is written here (tests).
#include "retrace/exports/glb.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "retrace/character/kinematics.h"
#include "retrace/character/palette.h"
#include "retrace/io/glb.h"
#include "retrace/io/json.h"
#include "retrace/math/rotation.h"
#include "retrace/results/provenance.h"

namespace retrace::exports {
namespace {

using character::Shape;
using io::Json;
namespace glb = io::glb;

constexpr double kJointGap = 5e-4;    // a node further from its simulated position gets its own path [m]
constexpr int kAround = 24;           // sides of a capsule
constexpr int kRings = 6;             // of each of its caps
constexpr double kGroundMargin = 2;   // of the ground around the root's path [m]
constexpr double kFieldShade = 1e-4;  // how far the ground lies under what rests on it, against flicker [m]

/// Triangles with a normal per vertex.
struct Surface {
  std::vector<Vec3> positions;
  std::vector<Vec3> normals;
  std::vector<uint32_t> indices;

  uint32_t Add(const Vec3& position, const Vec3& normal) {
    positions.push_back(position);
    normals.push_back(normal);
    return static_cast<uint32_t>(positions.size() - 1);
  }
  /// Another one, turned and moved.
  void Add(const Surface& other, const Quat& orientation, const Vec3& offset) {
    const auto first = static_cast<uint32_t>(positions.size());
    for (const Vec3& position : other.positions) positions.push_back(orientation * position + offset);
    for (const Vec3& normal : other.normals) normals.push_back(orientation * normal);
    for (const uint32_t index : other.indices) indices.push_back(first + index);
  }
  /// Counter-clockwise as seen from outside.
  void AddFlat(const Vec3& a, const Vec3& b, const Vec3& c) {
    const Vec3 normal = (b - a).cross(c - a).normalized();
    for (const Vec3& corner : {a, b, c}) indices.push_back(Add(corner, normal));
  }
};

void AddTriangles(Surface& surface, const TriangleMesh& mesh, const Vec3& center) {
  for (const std::array<int, 3>& t : mesh.triangles) {
    const auto corner = [&](size_t k) { return Vec3(center + mesh.vertices[static_cast<size_t>(t[k])]); };
    surface.AddFlat(corner(0), corner(1), corner(2));
  }
}

void AddBox(Surface& surface, const Vec3& size, const Vec3& center) {
  for (int axis = 0; axis < 3; ++axis) {
    for (const double side : {-0.5, 0.5}) {
      const Vec3 normal = 2 * side * Vec3::Unit(axis);
      const Vec3 u = Vec3::Unit((axis + 1) % 3);
      const Vec3 v = normal.cross(u);
      const auto corner = [&](double a, double b) {
        const Vec3 at = 0.5 * (normal + a * u + b * v);
        return surface.Add(center + at.cwiseProduct(size), normal);
      };
      const std::array<uint32_t, 4> c = {corner(-1, -1), corner(1, -1), corner(1, 1), corner(-1, 1)};
      for (const size_t k : {0, 1, 2, 0, 2, 3}) surface.indices.push_back(c[k]);
    }
  }
}

/// Two half balls with a cylinder between.
void AddCapsule(Surface& surface, const Shape& shape, const Vec3& center) {
  const Vec3 along = Vec3::Unit(shape.axis);
  const Vec3 u = Vec3::Unit((shape.axis + 1) % 3);
  const Vec3 v = along.cross(u);
  const auto add = [&](double latitude, int k, double end) {
    const double longitude = 2 * kPi * k / kAround;
    const Vec3 normal =
        std::cos(latitude) * (std::cos(longitude) * u + std::sin(longitude) * v) + std::sin(latitude) * along;
    return surface.Add(center + end * along + shape.radius * normal, normal);
  };
  // Rows of vertices from pole to pole; the equator has two, one per end of the cylinder, unless that has no length.
  std::vector<uint32_t> below = {add(-kPi / 2, 0, -0.5 * shape.length)};
  const auto join = [&](const std::vector<uint32_t>& row) {
    for (size_t k = 0; k < kAround; ++k) {
      const size_t next = (k + 1) % kAround;
      if (below.size() == 1) {
        surface.indices.insert(surface.indices.end(), {below[0], row[next], row[k]});
      } else if (row.size() == 1) {
        surface.indices.insert(surface.indices.end(), {below[k], below[next], row[0]});
      } else {
        surface.indices.insert(surface.indices.end(), {below[k], below[next], row[next], below[k], row[next], row[k]});
      }
    }
    below = row;
  };
  for (const int half : {-1, 1}) {
    for (int ring = half < 0 ? 1 : (shape.length > 0 ? 0 : 1); ring <= kRings; ++ring) {
      const double latitude = kPi / 2 * (half < 0 ? ring - kRings : ring) / kRings;
      std::vector<uint32_t> row;
      for (int k = 0; k < (half > 0 && ring == kRings ? 1 : kAround); ++k) {
        row.push_back(add(latitude, k, 0.5 * half * shape.length));
      }
      join(row);
    }
  }
}

void AddShape(Surface& surface, const Shape& shape, const Vec3& center) {
  switch (shape.kind) {
    case Shape::Kind::kBox:
      return AddBox(surface, shape.size, center);
    case Shape::Kind::kCapsule:
      return AddCapsule(surface, shape, center);
    case Shape::Kind::kMesh:
      return AddTriangles(surface, shape.mesh, center);
  }
}

Surface FieldSurface(const simulation::HeightField& field) {
  Surface surface;
  const auto at = [&](int column, int row) {
    return Vec3(
        (column - 0.5 * (field.columns - 1)) * field.spacing,
        field.heights[static_cast<size_t>(row) * static_cast<size_t>(field.columns) + static_cast<size_t>(column)],
        (row - 0.5 * (field.rows - 1)) * field.spacing);
  };
  for (int row = 0; row + 1 < field.rows; ++row) {
    for (int column = 0; column + 1 < field.columns; ++column) {
      surface.AddFlat(at(column, row), at(column + 1, row + 1), at(column + 1, row));
      surface.AddFlat(at(column, row), at(column, row + 1), at(column + 1, row + 1));
    }
  }
  return surface;
}

double Linear(double channel) {  // of sRGB (IEC 61966-2-1); glTF's factors are linear
  const double c = channel / 255;
  return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
}

/// What moves the vertices of a mesh, four for each.
struct Weights {
  std::vector<uint16_t> bones;   // indices in the skin
  std::vector<uint16_t> shares;  // in 65535ths
};

/// The document as it grows.
class Document : public glb::Writer {
 public:
  Document() : Writer("Retrace " + results::Version()) {}

  int AddVectors(const std::vector<Vec3>& vectors, glb::Target target, bool bounds) {
    std::vector<float> values;
    for (const Vec3& v : vectors) {
      for (int axis = 0; axis < 3; ++axis) values.push_back(static_cast<float>(v[axis]));
    }
    return AddAccessor(values, 3, target, bounds);
  }

  int AddMaterial(const std::string& name, const palette::Color& color, double roughness) {
    return Push("materials", {{"name", name},
                              {"pbrMetallicRoughness",
                               {{"baseColorFactor", {Linear(color.r), Linear(color.g), Linear(color.b), 1.0}},
                                {"metallicFactor", 0.0},
                                {"roughnessFactor", roughness}}}});
  }

  /// @param bone of the skin that moves all of it
  int AddMesh(const std::string& name, const Surface& surface, int material, int bone) {
    std::vector<uint16_t> bones;
    std::vector<uint8_t> weights;
    for (size_t i = 0; i < surface.positions.size(); ++i) {
      bones.insert(bones.end(), {static_cast<uint16_t>(bone), 0, 0, 0});
      weights.insert(weights.end(), {255, 0, 0, 0});
    }
    return AddMeshWith(name, surface, material, [&](Json& attributes) {
      attributes["JOINTS_0"] = AddAccessor(bones, 4, glb::kArrayBuffer);
      attributes["WEIGHTS_0"] = AddAccessor(weights, 4, glb::kArrayBuffer, false, true);
    });
  }
  int AddMesh(const std::string& name, const Surface& surface, int material, const Weights& weights) {
    return AddMeshWith(name, surface, material, [&](Json& attributes) {
      attributes["JOINTS_0"] = AddAccessor(weights.bones, 4, glb::kArrayBuffer);
      attributes["WEIGHTS_0"] = AddAccessor(weights.shares, 4, glb::kArrayBuffer, false, true);
    });
  }
  /// A rigid one.
  int AddMesh(const std::string& name, const Surface& surface, int material) {
    return AddMeshWith(name, surface, material, [](Json&) {});
  }

  int AddNode(Json node) { return Push("nodes", std::move(node)); }
  void AddToScene(int node) { json()["scenes"][0]["nodes"].push_back(node); }
  void AddChild(int parent, int child) { json()["nodes"][static_cast<size_t>(parent)]["children"].push_back(child); }

 private:
  template <typename AddMore>
  int AddMeshWith(const std::string& name, const Surface& surface, int material, const AddMore& add_more) {
    std::vector<Vec3> normals;
    // Rounded to floats they would miss unit length by up to 1e-7, which readers take for unit length.
    for (const Vec3& normal : surface.normals) normals.push_back(normal.normalized());
    Json attributes = {{"POSITION", AddVectors(surface.positions, glb::kArrayBuffer, true)},
                       {"NORMAL", AddVectors(normals, glb::kArrayBuffer, false)}};
    add_more(attributes);
    const int indices = AddAccessor(surface.indices, 1, glb::kElementArrayBuffer);
    return Push(
        "meshes",
        {{"name", name},
         {"primitives", Json::array({{{"attributes", attributes}, {"indices", indices}, {"material", material}}})}});
  }
};

/// Channels of one animation, all at the same times.
class Animation {
 public:
  Animation(Document& document, const std::string& name, size_t frames, double rate) : document_(document) {
    std::vector<float> times;
    for (size_t k = 0; k < frames; ++k) times.push_back(static_cast<float>(static_cast<double>(k) / rate));
    times_ = document.AddAccessor(times, 1, glb::kNoTarget, true);
    json_ = {{"name", name}, {"channels", Json::array()}, {"samplers", Json::array()}};
  }
  void Move(int node, const std::vector<Vec3>& positions) {
    AddChannel(node, "translation", document_.AddVectors(positions, glb::kNoTarget, false));
  }
  /// Signs are chosen so that the rotation from frame to frame is the short one.
  void Turn(int node, std::vector<Quat> rotations) {
    std::vector<float> values;
    for (size_t k = 0; k < rotations.size(); ++k) {
      Quat& q = rotations[k];
      q.normalize();
      if (k > 0 && q.dot(rotations[k - 1]) < 0) q.coeffs() = -q.coeffs();
      for (const double c : {q.x(), q.y(), q.z(), q.w()}) values.push_back(static_cast<float>(c));
    }
    AddChannel(node, "rotation", document_.AddAccessor(values, 4));
  }
  void Finish() { document_.Push("animations", json_); }

 private:
  void AddChannel(int node, const char* path, int output) {
    json_["samplers"].push_back({{"input", times_}, {"interpolation", "LINEAR"}, {"output", output}});
    json_["channels"].push_back(
        {{"sampler", json_["samplers"].size() - 1}, {"target", {{"node", node}, {"path", path}}}});
  }
  Document& document_;
  Json json_;
  int times_ = 0;
};

Json Position(const Vec3& v) {
  return io::ToJson(v);
}
Json Rotation(const Quat& q) {
  return {q.x(), q.y(), q.z(), q.w()};
}

/// The bones of a character in the document: one per body, where the joint that moves the body is in the rest pose; the
/// root's is at its center of mass.
class Skeleton {
 public:
  /// @param prefix of all names: distinguishes the characters of a scene
  Skeleton(Document& document, const character::Character& character, std::string prefix)
      : document_(document), character_(character), prefix_(std::move(prefix)) {
    const size_t num_bodies = character.bodies.size();
    for (size_t b = 0; b < num_bodies; ++b) {
      const int joint = character.JointOf(static_cast<int>(b));
      base_.push_back(joint < 0 ? character.bodies[b].rest_position
                                : character.joints[static_cast<size_t>(joint)].anchor);
    }
    node_.assign(num_bodies, -1);
    bone_.assign(num_bodies, -1);
    const auto root = static_cast<size_t>(character.root);
    AddBone(prefix_ + "root", root, base_[root]);
    document.AddToScene(node_[root]);
    for (const character::Joint& joint : character.joints) {  // each after the joint that moves its parent
      const auto parent = static_cast<size_t>(joint.parent), child = static_cast<size_t>(joint.child);
      AddBone(prefix_ + joint.name, child, base_[child] - base_[parent]);
      document.AddChild(node_[parent], node_[child]);
    }
  }

  const character::Character& character() const { return character_; }
  const std::string& prefix() const { return prefix_; }
  const Vec3& base(size_t body) const { return base_[body]; }  ///< in the rest pose [m]
  int node(size_t body) const { return node_[body]; }
  int bone(size_t body) const { return bone_[body]; }  ///< index in the skin
  bool HasName(const std::string& name) const { return names_.contains(name); }

  /// Returns the index of the skin of meshes that were made with the bodies in the rest pose, or where `binds` has them
  /// (bodies).
  int AddSkin(std::span<const skin::Bind> binds = {}) const {
    std::vector<float> inverses;
    for (const size_t body : body_of_bone_) {
      const Vec3& rest = character_.bodies[body].rest_position;
      const skin::Bind bind = binds.empty() ? skin::Bind{rest, Quat::Identity()} : binds[body];
      const Mat3 back = bind.orientation.conjugate().toRotationMatrix();
      const Vec3 base = binds.empty() ? base_[body] : Vec3(bind.position + bind.orientation * (base_[body] - rest));
      const Vec3 shift = -(back * base);
      for (int column = 0; column < 4; ++column) {
        for (int row = 0; row < 4; ++row) {
          const double value = row == 3 ? (column == 3) : column < 3 ? back(row, column) : shift[row];
          inverses.push_back(static_cast<float>(value));
        }
      }
    }
    const int inverse_bind = document_.AddAccessor(inverses, 16);
    return document_.Push("skins", {{"name", prefix_ + character_.name},
                                    {"inverseBindMatrices", inverse_bind},
                                    {"skeleton", node_[static_cast<size_t>(character_.root)]},
                                    {"joints", bones_}});
  }

 private:
  void AddBone(const std::string& name, size_t body, const Vec3& translation) {
    node_[body] = document_.AddNode({{"name", name}, {"translation", Position(translation)}});
    names_.insert(name);
    bone_[body] = static_cast<int>(bones_.size());
    bones_.push_back(node_[body]);
    body_of_bone_.push_back(body);
  }

  Document& document_;
  const character::Character& character_;
  std::string prefix_;
  std::vector<Vec3> base_;  // (bodies)
  std::vector<int> node_;   // (bodies)
  std::vector<int> bone_;   // (bodies)
  std::set<std::string> names_;
  Json bones_ = Json::array();
  std::vector<size_t> body_of_bone_;
};

/// Turns the bones, and moves those whose joints come apart in the simulation.
void AnimateSkeleton(const Skeleton& skeleton, const std::vector<character::State>& frames, Animation& animation) {
  const character::Character& character = skeleton.character();
  const auto root = static_cast<size_t>(character.root);
  std::vector<Vec3> positions(frames.size());
  std::vector<Quat> rotations(frames.size());
  for (size_t k = 0; k < frames.size(); ++k) {
    positions[k] = frames[k][root].position;
    rotations[k] = frames[k][root].orientation;
  }
  animation.Move(skeleton.node(root), positions);
  // Where the file has the nodes (bodies x frames).
  std::vector<std::vector<Vec3>> origins(character.bodies.size(), positions);
  animation.Turn(skeleton.node(root), rotations);
  for (const character::Joint& joint : character.joints) {
    const auto parent = static_cast<size_t>(joint.parent), child = static_cast<size_t>(joint.child);
    const Vec3 offset = joint.anchor - skeleton.base(parent);
    double gap = 0;
    for (size_t k = 0; k < frames.size(); ++k) {
      rotations[k] = character::JointRotation(joint, frames[k]);
      const character::BodyState& above = frames[k][parent];
      const character::BodyState& body = frames[k][child];
      const Vec3 simulated =
          body.position + body.orientation * Vec3(skeleton.base(child) - character.bodies[child].rest_position);
      origins[child][k] = origins[parent][k] + above.orientation * offset;
      gap = std::max(gap, (simulated - origins[child][k]).norm());
      positions[k] = above.orientation.conjugate() * Vec3(simulated - origins[parent][k]);
    }
    animation.Turn(skeleton.node(child), rotations);
    if (gap <= kJointGap) continue;
    animation.Move(skeleton.node(child), positions);
    for (size_t k = 0; k < frames.size(); ++k) {
      origins[child][k] = origins[parent][k] + frames[k][parent].orientation * positions[k];
    }
  }
}

/// What the bodies of all characters are made of.
struct BodyMaterials {
  explicit BodyMaterials(Document& document)
      : left(document.AddMaterial("left", palette::kLeft, 0.6)),
        right(document.AddMaterial("right", palette::kRight, 0.6)),
        middle(document.AddMaterial("middle", palette::kMiddle, 0.6)) {}
  int Of(const character::Body& body) const {
    const palette::Color color = palette::ColorOf(body);
    return color == palette::kLeft ? left : color == palette::kRight ? right : middle;
  }
  int left;
  int right;
  int middle;
};

/// A mesh for each body that has shapes, in the color of its side.
void AddBodies(Document& document, const Skeleton& skeleton, int skin, const BodyMaterials& materials) {
  std::set<std::string> names;
  for (size_t b = 0; b < skeleton.character().bodies.size(); ++b) {
    const character::Body& body = skeleton.character().bodies[b];
    if (body.shapes.empty()) continue;
    Surface surface;
    for (const Shape& shape : body.shapes) AddShape(surface, shape, body.rest_position + shape.offset);
    const int material = materials.Of(body);
    std::string name = skeleton.prefix() + body.name;
    if (skeleton.HasName(name) || !names.insert(name).second) name += "_body";
    document.AddToScene(document.AddNode(
        {{"name", name}, {"mesh", document.AddMesh(name, surface, material, skeleton.bone(b))}, {"skin", skin}}));
  }
}

/// Shares of a vertex that sum up to 65535: the largest takes what rounding leaves.
std::array<uint16_t, skin::kInfluences> SharesOf(const std::array<skin::Influence, skin::kInfluences>& influences) {
  constexpr int kWhole = std::numeric_limits<uint16_t>::max();
  std::array<int, skin::kInfluences> shares = {};
  int left = kWhole;
  for (size_t k = 0; k < shares.size(); ++k) {
    shares[k] = static_cast<int>(std::lround(kWhole * influences[k].share));
    left -= shares[k];
  }
  *std::max_element(shares.begin(), shares.end()) += left;
  std::array<uint16_t, skin::kInfluences> whole = {};
  for (size_t k = 0; k < shares.size(); ++k) whole[k] = static_cast<uint16_t>(shares[k]);
  return whole;
}

/// Normals of a surface without edges: sums over the triangles around a vertex, by their areas.
std::vector<Vec3> SmoothNormals(const TriangleMesh& mesh) {
  std::vector<Vec3> normals(mesh.vertices.size(), Vec3::Zero());
  for (const std::array<int, 3>& t : mesh.triangles) {
    const auto at = [&](size_t k) { return mesh.vertices[static_cast<size_t>(t[k])]; };
    const Vec3 normal = (at(1) - at(0)).cross(at(2) - at(0));
    for (const int corner : t) normals[static_cast<size_t>(corner)] += normal;
  }
  for (Vec3& normal : normals) normal = normal.norm() > 0 ? Vec3(normal.normalized()) : Vec3(Vec3::UnitY());
  return normals;
}

/// One mesh that bends at the joints.
void AddBodySkin(Document& document, const Skeleton& skeleton, const skin::BodySkin& body) {
  Surface surface;
  surface.positions = body.surface.vertices;
  surface.normals = SmoothNormals(body.surface);
  for (const std::array<int, 3>& t : body.surface.triangles) {
    for (const int corner : t) surface.indices.push_back(static_cast<uint32_t>(corner));
  }
  Weights weights;
  for (const auto& influences : body.influences) {
    const auto shares = SharesOf(influences);
    for (size_t k = 0; k < shares.size(); ++k) {
      const int bone = skeleton.bone(static_cast<size_t>(influences[k].body));
      weights.bones.push_back(static_cast<uint16_t>(shares[k] > 0 ? bone : 0));
      weights.shares.push_back(shares[k]);
    }
  }
  std::string name = skeleton.prefix() + "skin";
  if (skeleton.HasName(name)) name += "_body";
  const int material = document.AddMaterial(name, palette::kMiddle, 0.7);
  document.AddToScene(document.AddNode({{"name", name},
                                        {"mesh", document.AddMesh(name, surface, material, weights)},
                                        {"skin", skeleton.AddSkin(body.binds)}}));
}

/// Skeletons and bodies of all characters. `frames` are those of each (characters x frames).
void AddCharacters(Document& document, Animation& animation, std::span<const ExportedMotion> motions,
                   const std::vector<std::vector<character::State>>& frames, std::span<const skin::BodySkin> skins) {
  std::optional<BodyMaterials> materials;
  for (size_t c = 0; c < motions.size(); ++c) {
    const std::string prefix = motions.size() == 1 ? "" : "character_" + std::to_string(c + 1) + "_";
    Skeleton skeleton(document, motions[c].character, prefix);
    AnimateSkeleton(skeleton, frames[c], animation);
    if (c < skins.size() && !skins[c].empty()) {
      AddBodySkin(document, skeleton, skins[c]);
      continue;
    }
    const int skin = skeleton.AddSkin();
    if (!materials) materials.emplace(document);
    AddBodies(document, skeleton, skin, *materials);
  }
}

/// A square under all that happens.
Surface GroundSurface(const std::vector<std::vector<character::State>>& frames, double height) {
  Vec3 low = Vec3::Constant(std::numeric_limits<double>::infinity()), high = -low;
  for (const std::vector<character::State>& of_character : frames) {
    for (const character::State& state : of_character) {
      for (const character::BodyState& body : state) {
        low = low.cwiseMin(body.position);
        high = high.cwiseMax(body.position);
      }
    }
  }
  low.array() -= kGroundMargin;
  high.array() += kGroundMargin;
  Surface surface;
  std::array<uint32_t, 4> c = {};
  for (size_t k = 0; k < 4; ++k) {
    c[k] = surface.Add(Vec3(k == 1 || k == 2 ? high.x() : low.x(), height, k >= 2 ? high.z() : low.z()), Vec3::UnitY());
  }
  surface.indices = {c[0], c[2], c[1], c[0], c[3], c[2]};
  return surface;
}

/// The world as a motion has it, once for all characters.
void AddWorld(Document& document, Animation& animation, const ExportedMotion& motion,
              const std::vector<std::vector<character::State>>& all_frames, double rate) {
  const std::vector<character::State>& frames = all_frames.front();
  const simulation::Environment& world = motion.control.world.environment;
  const auto add = [&](const std::string& name, const Surface& surface, int material) {
    const int node = document.AddNode({{"name", name}, {"mesh", document.AddMesh(name, surface, material)}});
    document.AddToScene(node);
    return node;
  };
  const auto place = [&](int node, const Vec3& position, const Quat& orientation) {
    Json& json = document.json()["nodes"][static_cast<size_t>(node)];
    json["translation"] = Position(position);
    json["rotation"] = Rotation(orientation.normalized());
  };
  if (world.ground.present) {
    add("ground", GroundSurface(all_frames, world.ground.height - kFieldShade),
        document.AddMaterial("ground", palette::kPaper, 0.9));
  }
  const bool fixed = !world.boxes.empty() || world.height_field;
  const int stone = fixed ? document.AddMaterial("fixed", palette::kStone, 0.8) : -1;
  for (const simulation::Box& box : world.boxes) {
    Surface surface;
    AddBox(surface, box.size, Vec3::Zero());
    const int node = add(box.name, surface, stone);
    place(node, box.position, box.orientation);
    if (!box.course) continue;
    std::vector<Vec3> positions;
    for (size_t k = 0; k < frames.size(); ++k) {
      positions.emplace_back(box.position + box.course->At(static_cast<double>(k) / rate));
    }
    animation.Move(node, positions);
  }
  if (world.height_field) {
    place(add(world.height_field->name, FieldSurface(*world.height_field), stone), world.height_field->position,
          world.height_field->orientation);
  }
  const simulation::Layout layout = motion.layout();
  const int wood = world.bodies.empty() ? -1 : document.AddMaterial("free", palette::kWood, 0.8);
  for (size_t f = 0; f < world.bodies.size(); ++f) {
    const auto body = static_cast<size_t>(layout.FreeBody(f));
    if (body >= frames[0].size()) break;  // a start state without them
    Surface surface;
    for (const simulation::OrientedShape& turned : world.bodies[f].AllShapes()) {
      Surface of_shape;
      AddShape(of_shape, turned.shape, Vec3::Zero());
      surface.Add(of_shape, turned.orientation, turned.shape.offset);
    }
    const int node = add(world.bodies[f].name, surface, wood);
    std::vector<Vec3> positions;
    std::vector<Quat> rotations;
    bool moves = false;
    for (const character::State& state : frames) {
      positions.push_back(state[body].position);
      rotations.push_back(state[body].orientation);
      moves = moves || positions.back() != positions[0] || rotations.back().coeffs() != rotations[0].coeffs();
    }
    place(node, positions[0], rotations[0]);
    if (!moves) continue;  // stones that no foot touches
    animation.Move(node, positions);
    animation.Turn(node, rotations);
  }
}

}  // namespace

std::string FormatGlb(std::span<const ExportedMotion> motions, double rate, std::span<const skin::BodySkin> skins) {
  std::vector<std::vector<character::State>> frames;
  for (const ExportedMotion& motion : motions) frames.push_back(FramesAt(motion.trajectory, rate));
  const ExportedMotion& first = motions.front();
  Document document;
  document.json()["scenes"][0]["name"] = first.name;
  Animation animation(document, first.name, frames.front().size(), rate);
  AddCharacters(document, animation, motions, frames, skins);
  AddWorld(document, animation, first, frames, rate);
  animation.Finish();
  return document.Bytes();
}

}  // namespace retrace::exports
