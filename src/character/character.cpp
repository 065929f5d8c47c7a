#include "retrace/character/character.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "part_names.h"
#include "retrace/character/index.h"
#include "retrace/character/limits.h"
#include "retrace/io/error.h"

namespace retrace::character {
namespace {

using io::JsonView;

int ReadAxis(const JsonView& view) {
  const std::string axis = view.String();
  if (axis == "x") return 0;
  if (axis == "y") return 1;
  if (axis == "z") return 2;
  view.Expect("\"x\", \"y\" or \"z\"");
}

/// @param center where the middle of the box about the vertices is; the mesh is moved so that it is at the origin
TriangleMesh ReadMesh(const JsonView& view, Vec3& center) {
  view.AllowOnly({"vertices", "triangles"});
  TriangleMesh mesh;
  const JsonView vertices = view["vertices"];
  const JsonView triangles = view["triangles"];
  Eigen::AlignedBox3d bounds;
  for (const JsonView& vertex : vertices.Elements(kMostVertices)) {
    mesh.vertices.push_back(vertex.Vector(kPositions));
    bounds.extend(mesh.vertices.back());
  }
  // A closed mesh has fewer than two triangles per vertex.
  for (const JsonView& triangle : triangles.Elements(2 * kMostVertices)) {
    if (!triangle.json().is_array() || triangle.size() != 3) triangle.Expect("three indices of vertices");
    const auto index = [&](size_t k) { return triangle[k].Integer(-1, static_cast<int>(kMostVertices)); };
    mesh.triangles.push_back({index(0), index(1), index(2)});
  }
  if (const MeshFault fault = FindFault(mesh); fault.any()) {
    const JsonView place = fault.vertex >= 0     ? vertices[static_cast<size_t>(fault.vertex)]
                           : fault.triangle >= 0 ? triangles[static_cast<size_t>(fault.triangle)]
                                                 : view;
    place.Fail(fault.found, fault.expected);
  }
  center = bounds.center();
  for (Vec3& vertex : mesh.vertices) vertex -= center;
  return mesh;
}

Shape ReadShape(const JsonView& view) {
  view.AllowOnly({"box", "capsule", "mesh", "offset"});
  Shape shape;
  if (view.Has("box") + view.Has("capsule") + view.Has("mesh") != 1) {
    view.Expect("one of \"box\", \"capsule\" and \"mesh\"");
  }
  Vec3 center = Vec3::Zero();
  if (view.Has("mesh")) {
    shape.kind = Shape::Kind::kMesh;
    shape.mesh = ReadMesh(view["mesh"], center);
  } else if (view.Has("box")) {
    shape.kind = Shape::Kind::kBox;
    shape.size = view["box"].Vector(kSizes);
  } else {
    const JsonView capsule = view["capsule"];
    capsule.AllowOnly({"radius", "length", "axis"});
    shape.kind = Shape::Kind::kCapsule;
    shape.radius = capsule["radius"].Number(kSizes);
    shape.length = capsule["length"].Number({0, kSizes.max});
    shape.axis = ReadAxis(capsule["axis"]);
  }
  if (view.Has("offset")) shape.offset = view["offset"].Vector(kPositions);
  shape.offset += center;
  return shape;
}

Part ReadPart(const JsonView& view) {
  const std::string part = view.String();
  for (const auto& [name, value] : kParts) {
    if (part == name) return value;
  }
  view.Expect("body, lower_leg, foot, lower_arm or hand");
}

/// Names of a human's segments.
Part PartOfSegment(const std::string& segment) {
  if (segment.ends_with("foot") || segment.ends_with("toe")) return Part::kFoot;
  if (segment.ends_with("shin")) return Part::kLowerLeg;
  if (segment.ends_with("hand")) return Part::kHand;
  if (segment.ends_with("lower_arm")) return Part::kLowerArm;
  return Part::kBody;
}

/// Three principal moments about the body's axes, or the whole tensor: xx, yy, zz, xy, xz, yz.
void ReadInertia(const JsonView& view, Body& body) {
  if (view.json().is_array() && view.size() == 6) {
    const std::vector<double> i = view.Numbers(kProducts, 6);
    Mat3 tensor;
    tensor << i[0], i[3], i[4], i[3], i[1], i[5], i[4], i[5], i[2];
    const Eigen::SelfAdjointEigenSolver<Mat3> solver(tensor);
    body.inertia = solver.eigenvalues();
    body.principal_axes = solver.eigenvectors();
    if (body.principal_axes.determinant() < 0) body.principal_axes.col(0) *= -1;
    body.turned = true;
  } else {
    body.inertia = view.Vector(kMoments);
  }
  // Moments of a flat body are at the bound, and may have been rounded across it.
  const Vec3& i = body.inertia;
  if (!(i.minCoeff() >= kMoments.min && 2 * i.maxCoeff() <= (1 + 1e-9) * i.sum())) {
    view.Expect(body.turned ? "the tensor of a real body: principal moments above 0, none above the sum of the others"
                            : "moments of a real body: none above the sum of the other two");
  }
}

Body ReadBody(const JsonView& view) {
  view.AllowOnly({"name", "segment", "part", "mass", "inertia", "position", "shapes"});
  Body body;
  body.name = view["name"].Name();
  body.segment = view.Has("segment") ? view["segment"].Name() : body.name;
  body.part = view.Has("part") ? ReadPart(view["part"]) : PartOfSegment(body.segment);
  body.mass = view["mass"].Number(kMasses);
  ReadInertia(view["inertia"], body);
  body.rest_position = view["position"].Vector(kPositions);
  for (const JsonView& shape : view["shapes"].Elements(kMostShapes)) body.shapes.push_back(ReadShape(shape));
  return body;
}

/// What does not fit into a plane.
void CheckPlanarBody(const JsonView& view, const Body& body) {
  if (!body.turned) return;
  const JsonView inertia = view["inertia"];
  if (inertia[3].json() != 0 || inertia[4].json() != 0) {
    inertia.Expect("xy and xz of 0, as of the bodies of a planar character");
  }
}
void CheckPlanarJoint(const JsonView& view, const Joint& joint) {
  if (joint.type != JointType::kHinge) view["type"].Expect("\"hinge\", as of the joints of a planar character");
  if (joint.axis != 0 || (joint.oblique && std::abs(joint.oblique->x()) < 1))
    view["axis"].Expect("\"x\", as of the joints of a planar character");
}

int ReadBodyName(const JsonView& view, const Character& character) {
  const int index = character.FindBody(view.String());
  if (index < 0) view.Expect("the name of a body");
  return index;
}

/// A value per axis: three numbers for a ball, one for a hinge.
Vec3 ReadPerAxis(const JsonView& view, const Joint& joint, io::Range range, double unused) {
  if (joint.type == JointType::kBall) return view.Vector(range);
  Vec3 values = Vec3::Constant(unused);
  values[joint.axis] = view.Number(range);
  return values;
}

/// Numbers that were written in another order of axes, which `view` gives, such as "xzy".
Vec3 InOrderOfAxes(const Vec3& values, const JsonView& view) {
  const std::string order = view.String();
  std::string sorted = order;
  std::sort(sorted.begin(), sorted.end());
  if (sorted != "xyz") view.Expect("an order of the letters x, y, z");
  Vec3 result;
  for (int i = 0; i < 3; ++i) result[order[static_cast<size_t>(i)] - 'x'] = values[i];
  return result;
}

/// An axis of the parent's frame, or a direction in it.
void ReadHingeAxis(const JsonView& view, Joint& joint) {
  if (!view.json().is_array()) {
    joint.axis = ReadAxis(view);
    return;
  }
  Vec3 direction = view.Vector({-1e3, 1e3});
  const double length = direction.norm();
  if (!(length > 1e-6)) view.Expect("\"x\", \"y\", \"z\" or a direction");
  if (std::abs(length - 1) > 1e-12) direction /= length;
  direction.cwiseAbs().maxCoeff(&joint.axis);
  if (direction != Vec3::Unit(joint.axis)) joint.oblique = direction;
}

/// The largest torque: one number for all axes, or a value per axis.
Vec3 ReadEffort(const JsonView& view, const Joint& joint) {
  constexpr io::Range kEfforts{0, 1e9};
  if (joint.type == JointType::kBall && view.json().is_number()) return Vec3::Constant(view.Number(kEfforts));
  return ReadPerAxis(view, joint, kEfforts, 0);
}

/// What a robot's file knows of a hinge and its motor.
void ReadMotor(const JsonView& view, Joint& joint) {
  constexpr io::Range kPositive{0, 1e9};
  if (view.Has("effort")) joint.effort = ReadEffort(view["effort"], joint);
  if (joint.type != JointType::kHinge) {
    for (const char* const key : {"range", "speed", "armature"}) {
      if (view.Has(key)) view[key].Expect("none on a ball joint");
    }
    return;
  }
  if (view.Has("range")) {
    const std::vector<double> range = view["range"].Numbers({-1e3, 1e3}, 2);
    if (range[0] > range[1]) view["range"].Expect("[lowest, highest]");
    joint.range = {range[0], range[1]};
  }
  if (view.Has("speed")) joint.speed = view["speed"].Number(kPositive);
  if (view.Has("armature")) joint.armature = view["armature"].Number({0, kMoments.max});
}

Joint ReadJoint(const JsonView& view, const Character& character) {
  view.AllowOnly({"name", "parent", "child", "type", "axis", "anchor", "kp", "kd", "strength_scale", "window",
                  "window_axes", "contact_scale", "cost_weight", "range", "effort", "speed", "armature"});
  Joint joint;
  joint.name = view["name"].Name();
  joint.parent = ReadBodyName(view["parent"], character);
  joint.child = ReadBodyName(view["child"], character);
  if (joint.parent == joint.child) view["child"].Expect("another body than the parent");
  const std::string type = view["type"].String();
  if (type == "hinge") {
    joint.type = JointType::kHinge;
    ReadHingeAxis(view["axis"], joint);
  } else if (type != "ball") {
    view["type"].Expect("\"ball\" or \"hinge\"");
  }
  joint.anchor = view["anchor"].Vector(kPositions);
  joint.kp = view["kp"].Number(kServoGains);
  joint.kd = view["kd"].Number(kServoGains);
  joint.strength_scale = ReadPerAxis(view["strength_scale"], joint, kScales, 1);
  joint.window = ReadPerAxis(view["window"], joint, {0, 3.2, false}, 0);
  if (view.Has("window_axes")) joint.window = InOrderOfAxes(joint.window, view["window_axes"]);
  if (view.Has("contact_scale")) {
    const JsonView scale = view["contact_scale"];
    if (scale.json().is_array()) {
      if (scale.size() != 2) scale.Expect("a number or [least, most]");
      joint.contact_scale_min = scale[0].Number(kScales);
      joint.contact_scale_max = scale[1].Number({joint.contact_scale_min, kScales.max});
    } else {
      joint.contact_scale_max = scale.Number({joint.contact_scale_min, kScales.max});
    }
  }
  if (view.Has("cost_weight")) joint.cost_weight = view["cost_weight"].Number({0, 1e6});
  ReadMotor(view, joint);
  return joint;
}

/// Sorts the joints so that each comes after the one that moves its parent, and finds the root: the joints must make
/// one tree.
void MakeTree(const JsonView& joints_view, Character& character) {
  const size_t num_bodies = character.bodies.size();
  character.joint_of_body.assign(num_bodies, -1);
  for (size_t j = 0; j < character.joints.size(); ++j) {
    int& mover = character.joint_of_body[Index(character.joints[j].child)];
    if (mover >= 0) {
      joints_view[j]["child"].Fail(
          "a second joint that moves \"" + character.bodies[Index(character.joints[j].child)].name + "\"",
          "one joint per body");
    }
    mover = static_cast<int>(j);
  }
  std::vector<int> roots;
  for (size_t i = 0; i < num_bodies; ++i) {
    if (character.joint_of_body[i] < 0) roots.push_back(static_cast<int>(i));
  }
  if (roots.size() != 1) {
    joints_view.Fail(std::to_string(roots.size()) + " bodies that no joint moves", "one tree with one root body");
  }
  character.root = roots[0];
  std::vector<Joint> sorted;
  std::vector<bool> placed(num_bodies, false);
  placed[Index(character.root)] = true;
  for (bool progress = true; progress;) {
    progress = false;
    for (const Joint& joint : character.joints) {
      if (placed[Index(joint.parent)] && !placed[Index(joint.child)]) {
        placed[Index(joint.child)] = true;
        sorted.push_back(joint);
        progress = true;
      }
    }
  }
  if (sorted.size() != character.joints.size()) joints_view.Fail("a loop of joints", "one tree with one root body");
  character.joints = std::move(sorted);
  for (size_t j = 0; j < character.joints.size(); ++j) {
    character.joint_of_body[Index(character.joints[j].child)] = static_cast<int>(j);
  }
}

void ReadSelfPairs(const JsonView& exclude, Character& character) {
  std::set<std::pair<int, int>> excluded;
  for (const Joint& joint : character.joints) excluded.insert(std::minmax(joint.parent, joint.child));
  for (const JsonView& pair : exclude.Elements(kMostBodies * kMostBodies)) {
    if (!pair.json().is_array() || pair.size() != 2) pair.Expect("two names of bodies");
    const int a = ReadBodyName(pair[0], character);
    const int b = ReadBodyName(pair[1], character);
    excluded.insert(std::minmax(a, b));
  }
  const int n = static_cast<int>(character.bodies.size());
  for (int a = 0; a < n; ++a) {
    for (int b = a + 1; b < n; ++b) {
      if (!excluded.contains({a, b})) character.self_pairs.emplace_back(a, b);
    }
  }
}

void ReadContactPresets(const JsonView& presets, Character& character) {
  const auto members = presets.Members();
  if (members.size() > kMostContactPresets) {
    presets.Expect("at most " + std::to_string(kMostContactPresets) + " presets");
  }
  for (const auto& [name, preset] : members) {
    if (!io::IsName(name))
      preset.Fail("the key " + io::Json(name).dump(),
                  "a name of 1 to 100 bytes without control characters, braces and stray blanks");
    ContactPreset scales(character.joints.size(), 1.0);
    for (const auto& [joint_name, scale] : preset.Members()) {
      const int joint = character.FindJoint(joint_name);
      if (joint < 0) scale.Fail("\"" + joint_name + "\"", "the name of a joint");
      const Joint& j = character.joints[Index(joint)];
      scales[Index(joint)] = scale.Number({std::min(1.0, j.contact_scale_min), j.contact_scale_max});
    }
    character.contact_presets[name] = scales;
  }
}

/// Where a robot's file has the frame of its root link, to which tables of joint angles refer.
void CheckRootFrame(const JsonView& view) {
  view.AllowOnly({"position", "rotation"});
  view["position"].Vector(kPositions);
  if (!view.Has("rotation")) return;
  const std::vector<double> q = view["rotation"].Numbers({-1, 1}, 4);
  double squares = 0;
  for (const double number : q) squares += number * number;
  if (q.size() != 4 || std::abs(squares - 1) > 1e-3) view["rotation"].Expect("a quaternion w, x, y, z of length 1");
}

}  // namespace

double Shape::BoundingRadius() const {
  if (kind != Kind::kMesh) return kind == Kind::kBox ? 0.5 * size.norm() : 0.5 * length + radius;
  double farthest = 0;
  for (const Vec3& vertex : mesh.vertices) farthest = std::max(farthest, vertex.norm());
  return farthest;
}

Vec3 Shape::HalfExtents() const {
  if (kind == Kind::kBox) return 0.5 * size;
  Vec3 half = Vec3::Zero();
  if (kind == Kind::kCapsule) {
    half = Vec3::Constant(radius);
    half[axis] += 0.5 * length;
  }
  for (const Vec3& vertex : mesh.vertices) half = half.cwiseMax(vertex.cwiseAbs());
  return half;
}

double Character::total_mass() const {
  double mass = 0;
  for (const Body& body : bodies) mass += body.mass;
  return mass;
}

int Character::dof() const {
  int count = 6;
  for (const Joint& joint : joints) count += joint.num_axes();
  return count;
}

int Character::FindBody(const std::string& wanted) const {
  const auto it = std::find_if(bodies.begin(), bodies.end(), [&](const Body& b) { return b.name == wanted; });
  return it == bodies.end() ? -1 : static_cast<int>(it - bodies.begin());
}

int Character::FindJoint(const std::string& wanted) const {
  const auto it = std::find_if(joints.begin(), joints.end(), [&](const Joint& j) { return j.name == wanted; });
  return it == joints.end() ? -1 : static_cast<int>(it - joints.begin());
}

Character ParseCharacter(const io::Json& document, const std::string& name) {
  const JsonView view(document, name);
  view.AllowOnly({"format", "version", "name", "source", "height", "root_scale", "planar", "root_frame", "bodies",
                  "joints", "end_effectors", "no_self_collision", "contact_presets"});
  if (view["format"].String() != "retrace-character") view["format"].Expect("\"retrace-character\"");
  view["version"].Integer(1, 1);
  Character character;
  character.json = document;
  character.name = view["name"].Name();
  character.height = view["height"].Number({0.01, 1000});
  if (view.Has("root_scale")) {
    const std::string scale = view["root_scale"].String();
    if (scale != "legs" && scale != "height") view["root_scale"].Expect("\"legs\" or \"height\"");
    if (scale == "height") character.root_scale = RootScale::kHeight;
  }
  if (view.Has("root_frame")) CheckRootFrame(view["root_frame"]);
  if (view.Has("planar")) character.planar = view["planar"].Boolean();
  for (const JsonView& body : view["bodies"].Elements(kMostBodies)) {
    Body read = ReadBody(body);
    if (character.FindBody(read.name) >= 0) body["name"].Expect("a name that no other body has");
    if (character.planar) CheckPlanarBody(body, read);
    character.bodies.push_back(std::move(read));
  }
  if (character.bodies.empty()) view["bodies"].Expect("at least one body");
  for (const JsonView& joint : view["joints"].Elements(kMostBodies)) {
    Joint read = ReadJoint(joint, character);
    if (character.FindJoint(read.name) >= 0) joint["name"].Expect("a name that no other joint has");
    if (character.planar) CheckPlanarJoint(joint, read);
    character.joints.push_back(std::move(read));
  }
  MakeTree(view["joints"], character);
  for (const JsonView& body : view["end_effectors"].Elements(kMostBodies)) {
    character.end_effectors.push_back(ReadBodyName(body, character));
  }
  ReadSelfPairs(view["no_self_collision"], character);
  ReadContactPresets(view["contact_presets"], character);
  return character;
}

Character LoadCharacter(const std::filesystem::path& path) {
  return ParseCharacter(io::ReadJson(path), path.string());
}

}  // namespace retrace::character
