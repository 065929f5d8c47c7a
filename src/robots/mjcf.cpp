#include "mjcf.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "mjcf_defaults.h"
#include "primitive_mass.h"
#include "retrace/io/error.h"
#include "retrace/io/file.h"
#include "retrace/io/nearest_words.h"
#include "retrace/io/number.h"
#include "retrace/math/rotation.h"
#include "retrace/recordings/mesh_file.h"
#include "unread_meshes.h"

namespace retrace::robots {
namespace {

constexpr size_t kMostBodies = 1000;
constexpr int kDeepest = 64;

bool IsTrue(pugi::xml_node node, const char* attribute) {
  return std::string_view(node.attribute(attribute).value()) == "true";
}
bool IsFalse(pugi::xml_node node, const char* attribute) {
  return std::string_view(node.attribute(attribute).value()) == "false";
}

class MjcfReader {
 public:
  MjcfReader(XmlFile& xml, const std::filesystem::path& path)
      : xml_(xml), folder_(path.parent_path()), model_(xml.document().child("mujoco")) {}

  Robot Read() {
    Include(model_, 0);
    ReadCompiler();
    defaults_.emplace(xml_, model_);
    robot_.name = model_.attribute("model").value();
    for (const pugi::xml_node asset : model_.children("asset")) {
      for (const pugi::xml_node mesh : asset.children("mesh")) ReadMeshAsset(mesh);
    }
    ReadTrees();
    for (const pugi::xml_node actuators : model_.children("actuator")) {
      for (const pugi::xml_node actuator : actuators.children()) ReadActuator(actuator);
    }
    SayUnread(unread_, robot_);
    SayWhatIsLeftOut();
    return std::move(robot_);
  }

 private:
  struct MeshAsset {
    std::filesystem::path file;
    std::string name;
    Vec3 scale = Vec3::Ones();
    std::optional<TriangleMesh> mesh;
    std::string why;
    bool read = false;
  };

  /// Where a body or a frame is, and what its elements inherit.
  struct Context {
    LinkFrame placement;
    std::string childclass;
  };

  // ---- what is around the model

  void Include(pugi::xml_node node, int depth) {
    if (depth > kDeepest) xml_.Fail(node, "files that include one another", "files that end");
    for (pugi::xml_node child = node.first_child(); child;) {
      const pugi::xml_node next = child.next_sibling();
      if (std::string_view(child.name()) == "include") {
        const std::string file = xml_.Text(child, "file");
        const std::filesystem::path path = folder_ / file;
        if (!std::filesystem::exists(path)) xml_.Fail(child, "no file " + path.string(), "a file that is there");
        XmlFile included(io::ReadFile(path), path.string());
        const pugi::xml_node top = included.document().document_element();
        Include(top, depth + 1);
        for (const pugi::xml_node part : top.children()) node.insert_copy_before(part, child);
        node.remove_child(child);
      } else if (child.first_child()) {
        Include(child, depth + 1);
      }
      child = next;
    }
  }

  void ReadCompiler() {
    meshes_ = folder_;
    for (const pugi::xml_node compiler : model_.children("compiler")) {
      const std::string angle = compiler.attribute("angle").as_string("degree");
      if (angle != "degree" && angle != "radian") xml_.Fail(compiler, "angle=\"" + angle + "\"", "degree or radian");
      if (compiler.attribute("angle")) degrees_ = angle == "degree";
      if (std::string_view(compiler.attribute("coordinate").as_string("local")) != "local") {
        xml_.Fail(compiler, "coordinate=\"global\"", "local coordinates");
      }
      if (const pugi::xml_attribute sequence = compiler.attribute("eulerseq")) euler_ = sequence.value();
      if (euler_.size() != 3 || euler_.find_first_not_of("xyzXYZ") != std::string::npos) {
        xml_.Fail(compiler, "eulerseq=\"" + euler_ + "\"", "three of the letters x, y, z, X, Y, Z");
      }
      if (const pugi::xml_attribute d = compiler.attribute("assetdir")) meshes_ = folder_ / d.value();
      if (const pugi::xml_attribute d = compiler.attribute("meshdir")) meshes_ = folder_ / d.value();
      if (const pugi::xml_attribute from = compiler.attribute("inertiafromgeom")) {
        mass_from_shapes_ = from.value();
      }
      strip_path_ = strip_path_ || IsTrue(compiler, "strippath");
      total_mass_ = xml_.Number(compiler, "settotalmass", total_mass_);
      if (IsTrue(compiler, "autolimits")) auto_limits_ = true;
      if (IsFalse(compiler, "autolimits")) auto_limits_ = false;
    }
  }

  void ReadMeshAsset(pugi::xml_node node) {
    node = defaults_->Complete(node, "");
    MeshAsset asset;
    std::filesystem::path file = node.attribute("file").value();
    if (strip_path_) file = file.filename();
    asset.file = meshes_ / file;
    asset.name = node.attribute("name").as_string(file.stem().c_str());
    asset.scale = xml_.Vector(node, "scale", Vec3::Ones());
    if (const pugi::xml_attribute vertices = node.attribute("vertex")) ReadVertices(node, vertices.value(), asset);
    assets_[asset.name] = std::move(asset);
  }

  void ReadVertices(pugi::xml_node node, const std::string& text, MeshAsset& asset) {
    const std::vector<double> numbers = xml_.Numbers(node, "vertex", text, 12, 1'000'000);
    if (numbers.size() % 3 != 0) xml_.Fail(node, std::to_string(numbers.size()) + " numbers", "three per vertex");
    TriangleMesh& mesh = asset.mesh.emplace();
    for (size_t i = 0; i < numbers.size(); i += 3) {
      mesh.vertices.push_back(asset.scale.cwiseProduct(Vec3(numbers[i], numbers[i + 1], numbers[i + 2])));
    }
    if (const pugi::xml_attribute faces = node.attribute("face")) {
      const std::vector<double> indices = xml_.Numbers(node, "face", faces.value(), 3, 3'000'000);
      for (size_t i = 0; i + 2 < indices.size(); i += 3) {
        std::array<int, 3> triangle{};
        for (size_t k = 0; k < 3; ++k) {
          const double index = indices[i + k];
          if (!(index >= 0 && index < static_cast<double>(mesh.vertices.size()))) {
            xml_.Fail(node, "a face of vertex " + io::Number(index), "indices of vertices");
          }
          triangle[k] = static_cast<int>(index);
        }
        mesh.triangles.push_back(triangle);
      }
    }
    asset.read = true;
  }

  // ---- frames

  double Angle(double number) const { return degrees_ ? Radians(number) : number; }

  Quat ReadRotation(pugi::xml_node node) const {
    const auto numbers = [&](const char* name, size_t count) {
      return xml_.Numbers(node, name, node.attribute(name).value(), count, count);
    };
    if (node.attribute("quat")) {
      const std::vector<double> q = numbers("quat", 4);
      Quat rotation(q[0], q[1], q[2], q[3]);
      if (!(rotation.norm() > 1e-9)) xml_.Fail(node, "a quaternion of no length", "w x y z");
      return rotation.normalized();
    }
    if (node.attribute("axisangle")) {
      const std::vector<double> a = numbers("axisangle", 4);
      const Vec3 axis(a[0], a[1], a[2]);
      if (!(axis.norm() > 1e-9)) xml_.Fail(node, "an axis of no length", "x y z angle");
      return FromRotationVector(Angle(a[3]) * axis.normalized());
    }
    if (node.attribute("euler")) {
      const std::vector<double> e = numbers("euler", 3);
      Quat rotation = Quat::Identity();
      for (size_t k = 0; k < 3; ++k) {
        const char letter = euler_[k];
        const Quat turn = AxisRotation((letter | 0x20) - 'x', Angle(e[k]));
        rotation = letter >= 'a' ? rotation * turn : turn * rotation;  // small letters: about axes that turn, too
      }
      return rotation;
    }
    if (node.attribute("xyaxes")) {
      const std::vector<double> a = numbers("xyaxes", 6);
      const Vec3 x = Vec3(a[0], a[1], a[2]).normalized();
      const Vec3 given(a[3], a[4], a[5]);
      const Vec3 y = (given - x.dot(given) * x).normalized();
      if (!x.allFinite() || !y.allFinite()) xml_.Fail(node, "xyaxes that span no plane", "two directions");
      return FromAxes(x, y, x.cross(y));
    }
    if (node.attribute("zaxis")) {
      const std::vector<double> a = numbers("zaxis", 3);
      if (!(Vec3(a[0], a[1], a[2]).norm() > 1e-9)) xml_.Fail(node, "an axis of no length", "a direction");
      return ShortestArc(Vec3::UnitZ(), Vec3(a[0], a[1], a[2]));
    }
    return Quat::Identity();
  }
  LinkFrame ReadPlacement(pugi::xml_node node) const {
    return {xml_.Vector(node, "pos", Vec3::Zero()), ReadRotation(node)};
  }

  // ---- bodies

  struct Tree {
    pugi::xml_node node;
    Context context;
    size_t joints = 0;
    bool free = false;
    bool planar = false;
  };

  void FindTrees(pugi::xml_node node, const Context& around, std::vector<Tree>& trees) {
    for (const pugi::xml_node child : node.children()) {
      const std::string_view name = child.name();
      if (name == "frame") FindTrees(child, Inside(child, around), trees);
      if (name == "replicate" || name == "attach" || name == "composite" || name == "flexcomp") {
        xml_.Fail(child, std::string(name), "a model in which it is written out (mj_saveLastXML does so)");
      }
      if (name != "body") continue;
      Tree tree{child, around};
      std::string kinds;
      for (const pugi::xml_node joint : child.children()) {
        const std::string_view kind = joint.name();
        if (kind == "freejoint") tree.free = true;
        if (kind != "joint") continue;
        const std::string type = TypeOf(joint, ClassInside(child, around.childclass));
        if (type == "free") tree.free = true;
        kinds += type.substr(0, 1);
      }
      std::sort(kinds.begin(), kinds.end());
      tree.planar = !tree.free && kinds == "hss";
      if (kinds == "hhhsss" || kinds == "bsss") {
        tree.free = true;
        robot_.notes.push_back(std::string("The joints between the world and ") + child.attribute("name").value() +
                               " leave it free: they are taken for a free joint.");
      }
      for (const auto& found : child.select_nodes(".//joint")) {
        static_cast<void>(found);
        ++tree.joints;
      }
      trees.push_back(tree);
    }
  }

  std::string TypeOf(pugi::xml_node joint, const std::string& childclass) {
    return defaults_->Complete(joint, childclass).attribute("type").as_string("hinge");
  }
  static std::string ClassInside(pugi::xml_node node, const std::string& around) {
    return node.attribute("childclass").as_string(around.c_str());
  }
  Context Inside(pugi::xml_node node, const Context& around) const {
    return {around.placement * ReadPlacement(node), ClassInside(node, around.childclass)};
  }

  void ReadTrees() {
    std::vector<Tree> trees;
    for (const pugi::xml_node world : model_.children("worldbody")) FindTrees(world, {}, trees);
    std::vector<Tree> free;
    for (const Tree& tree : trees) {
      if (tree.free || tree.planar) {
        free.push_back(tree);
      } else if (tree.joints > 0) {
        left_out_.push_back(std::string("the body ") + tree.node.attribute("name").value() +
                            ", which is bolted to the world");
      }
    }
    if (free.empty()) {
      xml_.Fail(model_, left_out_.empty() ? "no body that moves" : left_out_.front(),
                "a robot that moves freely: a body in <worldbody> with a <freejoint/>");
    }
    const auto most =
        std::max_element(free.begin(), free.end(), [](const Tree& a, const Tree& b) { return a.joints < b.joints; });
    for (const Tree& tree : free) {
      if (tree.node != most->node) left_out_.push_back(std::string("the body ") + tree.node.attribute("name").value());
    }
    robot_.planar = most->planar;
    ReadBody(most->node, most->context, -1);
    for (const pugi::xml_node world : model_.children("worldbody")) {
      for (const pugi::xml_node geom : world.children("geom")) {
        const std::string type = defaults_->Complete(geom, "").attribute("type").as_string("sphere");
        if (type != "plane") left_out_.push_back("a " + type + " of the world");
      }
    }
    if (total_mass_ > 0) {
      double mass = 0;
      for (const RobotLink& link : robot_.links) mass += link.mass.mass;
      for (RobotLink& link : robot_.links) {
        link.mass.mass *= total_mass_ / mass;
        link.mass.inertia *= total_mass_ / mass;
      }
    }
  }

  void ReadBody(pugi::xml_node node, const Context& around, int parent) {
    if (robot_.links.size() == kMostBodies) xml_.Fail(node, "more than 1000 bodies", "at most 1000");
    RobotLink link;
    const auto index = static_cast<int>(robot_.links.size());
    link.name = node.attribute("name").as_string(("body " + std::to_string(index + 1)).c_str());
    link.parent = parent;
    link.placement = around.placement * ReadPlacement(node);
    const Context inside{{}, ClassInside(node, around.childclass)};
    RobotMass of_shapes;
    ReadElements(node, inside, link, of_shapes);
    const pugi::xml_node inertial = node.child("inertial");
    if (inertial && mass_from_shapes_ != "true") {
      link.mass = ReadInertial(inertial);
    } else {
      if (!unknown_mass_.empty()) {
        xml_.Fail(node, "a mass that follows from the mesh " + unknown_mass_, "that mesh file, or an <inertial>");
      }
      link.mass = of_shapes;
    }
    unknown_mass_.clear();
    if (parent < 0) link.joints.clear();
    robot_.links.push_back(std::move(link));
    ReadChildren(node, inside, index);
  }

  void ReadElements(pugi::xml_node node, const Context& context, RobotLink& link, RobotMass& of_shapes) {
    for (pugi::xml_node child : node.children()) {
      const std::string_view name = child.name();
      if (name == "joint" && link.parent < 0) {
        child = defaults_->Complete(child, context.childclass);
        if (xml_.Number(child, "armature", 0) > 0 || xml_.Number(child, "damping", 0) > 0) {
          robot_.notes.push_back("Left out: armature and damping of the root's free joint.");
        }
      }
      if (name == "frame") ReadElements(child, Inside(child, context), link, of_shapes);
      if (name == "joint" && link.parent >= 0) ReadJoint(child, context, link);
      if (name == "freejoint" && link.parent >= 0)
        xml_.Fail(child, "a free joint inside of a robot", "one at its root");
      if (name == "geom") ReadGeom(child, context, link, of_shapes);
    }
  }

  void ReadChildren(pugi::xml_node node, const Context& context, int parent) {
    for (const pugi::xml_node child : node.children()) {
      const std::string_view name = child.name();
      if (name == "frame") ReadChildren(child, Inside(child, context), parent);
      if (name == "body") ReadBody(child, context, parent);
      if (name == "replicate" || name == "attach" || name == "composite" || name == "flexcomp") {
        xml_.Fail(child, std::string(name), "a model in which it is written out (mj_saveLastXML does so)");
      }
    }
  }

  RobotMass ReadInertial(pugi::xml_node node) const {
    RobotMass mass;
    mass.mass = xml_.Number(node, "mass");
    if (mass.mass < 0) xml_.Fail(node, "mass=\"" + io::Number(mass.mass) + "\"", "a mass of 0 or more");
    if (const pugi::xml_attribute full = node.attribute("fullinertia")) {
      const std::vector<double> i = xml_.Numbers(node, "fullinertia", full.value(), 6, 6);
      mass.inertia << i[0], i[3], i[4], i[3], i[1], i[5], i[4], i[5], i[2];
    } else {
      mass.inertia = xml_.Vector(node, "diaginertia").asDiagonal();
    }
    return mass.In(ReadPlacement(node));
  }

  // ---- joints

  void ReadJoint(pugi::xml_node node, const Context& context, RobotLink& link) {
    node = defaults_->Complete(node, context.childclass);
    RobotJoint joint;
    joint.name =
        node.attribute("name").as_string((link.name + " joint " + std::to_string(link.joints.size() + 1)).c_str());
    const std::string type = node.attribute("type").as_string("hinge");
    joint.anchor = context.placement * xml_.Vector(node, "pos", Vec3::Zero());
    if (type == "free") xml_.Fail(node, "a free joint inside of a robot", "one at its root");
    if (type == "slide") {
      robot_.notes.push_back("The joint " + joint.name + " slides; it is fixed at the position of the file.");
      return;
    }
    if (type != "hinge" && type != "ball") {
      const std::string meant = io::DidYouMean(type, {"hinge", "ball", "slide", "free"});
      xml_.Fail(node, "type=\"" + type + "\"", meant.empty() ? "hinge, ball, slide or free" : meant);
    }
    joint.kind = type == "ball" ? RobotJoint::Kind::kBall : RobotJoint::Kind::kHinge;
    joint.axis = context.placement.rotation * xml_.Vector(node, "axis", Vec3(Vec3::UnitZ()));
    if (!(joint.axis.norm() > 1e-9)) xml_.Fail(node, "an axis of no length", "a direction");
    joint.axis.normalize();
    joint.armature = std::max(0.0, xml_.Number(node, "armature", 0));
    joint.damping = std::max(0.0, xml_.Number(node, "damping", 0));
    joint.zero = Angle(xml_.Number(node, "ref", 0));
    const pugi::xml_attribute range = node.attribute("range");
    const bool limited = IsTrue(node, "limited") || (!IsFalse(node, "limited") && auto_limits_);
    if (range && limited && joint.kind == RobotJoint::Kind::kHinge) {
      const std::vector<double> ends = xml_.Numbers(node, "range", range.value(), 2, 2);
      if (ends[0] > ends[1]) xml_.Fail(node, std::string("range=\"") + range.value() + "\"", "lower and upper end");
      if (ends[0] < ends[1]) joint.range = {Angle(ends[0]), Angle(ends[1])};
    }
    if (const pugi::xml_attribute force = node.attribute("actuatorfrcrange")) {
      const std::vector<double> ends = xml_.Numbers(node, "actuatorfrcrange", force.value(), 2, 2);
      joint.effort = std::max(std::abs(ends[0]), std::abs(ends[1]));
    }
    if (joint.kind == RobotJoint::Kind::kBall && joint.armature > 0) {
      robot_.notes.push_back("The armature of the ball joint " + joint.name + " is left out.");
      joint.armature = 0;
    }
    springs_ += xml_.Number(node, "stiffness", 0) > 0 ? 1 : 0;
    with_friction_ += xml_.Number(node, "frictionloss", 0) > 0 ? 1 : 0;
    link.joints.push_back(std::move(joint));
  }

  RobotJoint* FindJoint(const std::string& name) {
    for (RobotLink& link : robot_.links) {
      for (RobotJoint& joint : link.joints) {
        if (joint.name == name) return &joint;
      }
    }
    return nullptr;
  }

  /// Gains of position servos, and the largest torque, as they are at the joint.
  void ReadActuator(pugi::xml_node node) {
    node = defaults_->Complete(node, "");
    const std::string kind = node.name();
    const pugi::xml_attribute of = node.attribute("joint") ? node.attribute("joint") : node.attribute("jointinparent");
    RobotJoint* joint = of ? FindJoint(of.value()) : nullptr;
    if (joint == nullptr) {
      ++other_actuators_;
      return;
    }
    double gear = 1;
    if (const pugi::xml_attribute given = node.attribute("gear"))
      gear = xml_.Numbers(node, "gear", given.value(), 1, 6)[0];
    if (kind == "position") {
      joint->kp += gear * gear * xml_.Number(node, "kp", 1);
      joint->kd += gear * gear * xml_.Number(node, "kv", 0);
    } else if (kind == "velocity" || kind == "damper") {
      joint->kd += gear * gear * xml_.Number(node, "kv", 1);
    } else if (kind == "general") {
      const std::string bias = node.attribute("biastype").as_string("none");
      const std::vector<double> terms = xml_.Numbers(node, "biasprm", node.attribute("biasprm").value(), 0, 10);
      if (bias == "affine" && terms.size() > 1 && terms[1] < 0) joint->kp += -terms[1] * gear * gear;
      if (bias == "affine" && terms.size() > 2 && terms[2] < 0) joint->kd += -terms[2] * gear * gear;
    } else if (kind != "motor") {
      ++other_actuators_;
      return;
    }
    if (const pugi::xml_attribute force = node.attribute("forcerange"); force && !IsFalse(node, "forcelimited")) {
      const std::vector<double> ends = xml_.Numbers(node, "forcerange", force.value(), 2, 2);
      joint->effort = std::abs(gear) * std::max(std::abs(ends[0]), std::abs(ends[1]));
    } else if (const pugi::xml_attribute control = node.attribute("ctrlrange");
               control && kind == "motor" && joint->effort == 0) {
      const std::vector<double> ends = xml_.Numbers(node, "ctrlrange", control.value(), 2, 2);
      joint->effort = std::abs(gear) * std::max(std::abs(ends[0]), std::abs(ends[1]));
    }
  }

  // ---- shapes

  void ReadGeom(pugi::xml_node node, const Context& context, RobotLink& link, RobotMass& of_shapes) {
    node = defaults_->Complete(node, context.childclass);
    const std::string type = node.attribute("mesh") ? "mesh" : node.attribute("type").as_string("sphere");
    RobotShape shape;
    shape.placement = context.placement * ReadPlacement(node);
    shape.collides = node.attribute("contype").as_int(1) != 0 || node.attribute("conaffinity").as_int(1) != 0;
    if (type == "mesh") {
      if (!ReadMeshGeom(node, shape)) return;
    } else if (!ReadPrimitive(node, type, context, shape)) {
      return;
    }
    AddMass(node, shape, of_shapes);
    link.shapes.push_back(std::move(shape));
  }

  bool ReadPrimitive(pugi::xml_node node, const std::string& type, const Context& context, RobotShape& shape) {
    std::vector<double> size = xml_.Numbers(node, "size", node.attribute("size").value(), 0, 3);
    for (const double number : size) {
      if (!(number >= 0)) xml_.Fail(node, "size of " + io::Number(number), "lengths above 0");
    }
    const auto needs = [&](size_t count) {
      if (size.size() < count ||
          !(*std::min_element(size.begin(), size.begin() + static_cast<std::ptrdiff_t>(count)) > 0)) {
        xml_.Fail(node, "size=\"" + std::string(node.attribute("size").value()) + "\"",
                  std::to_string(count) + " lengths above 0 of a " + type);
      }
    };
    double half = size.size() > 1 ? size[1] : 0;
    const bool from_to = node.attribute("fromto") && type != "sphere";
    if (from_to) {
      const std::vector<double> ends = xml_.Numbers(node, "fromto", node.attribute("fromto").value(), 6, 6);
      const Vec3 from(ends[0], ends[1], ends[2]), to(ends[3], ends[4], ends[5]);
      half = 0.5 * (to - from).norm();
      if (!(half > 0)) xml_.Fail(node, "fromto of one point", "two points");
      // MuJoCo's z axis runs from the second point to the first.
      shape.placement = context.placement * LinkFrame{0.5 * (from + to), ShortestArc(Vec3::UnitZ(), from - to)};
    }
    if (type == "sphere") {
      needs(1);
      shape.kind = RobotShape::Kind::kSphere;
      shape.radius = size[0];
    } else if (type == "capsule" || type == "cylinder") {
      needs(from_to ? 1 : 2);
      shape.kind = type == "capsule" ? RobotShape::Kind::kCapsule : RobotShape::Kind::kCylinder;
      shape.radius = size[0];
      shape.length = 2 * half;
    } else if (type == "box" || type == "ellipsoid") {
      needs(from_to ? 1 : 3);
      const Vec3 halves = from_to ? Vec3(size[0], size[0], half) : Vec3(size[0], size[1], size[2]);
      shape.kind = type == "box" ? RobotShape::Kind::kBox : RobotShape::Kind::kEllipsoid;
      shape.size = type == "box" ? Vec3(2 * halves) : halves;
    } else {
      left_out_.push_back("a " + type + " of a body");
      return false;
    }
    return true;
  }

  bool ReadMeshGeom(pugi::xml_node node, RobotShape& shape) {
    const std::string name = node.attribute("mesh").value();
    const auto found = assets_.find(name);
    if (found == assets_.end()) {
      std::vector<std::string> names;
      for (const auto& [known, asset] : assets_) names.push_back(known);
      const std::string meant = io::DidYouMean(name, names);
      xml_.Fail(node, "mesh \"" + name + "\"", meant.empty() ? "the name of a mesh in <asset>" : meant);
    }
    MeshAsset& asset = found->second;
    if (!asset.read) {
      asset.mesh = recordings::ReadMesh(asset.file, asset.scale, asset.why);
      asset.read = true;
      if (!asset.mesh) unread_[asset.why].insert(asset.file.string());
    }
    shape.kind = RobotShape::Kind::kMesh;
    shape.file = asset.file.string();
    if (!asset.mesh) {
      const bool weightless = xml_.Number(node, "mass", 1) == 0 || xml_.Number(node, "density", 1) == 0;
      if (!weightless) unknown_mass_ = shape.file;
      return false;
    }
    shape.mesh = *asset.mesh;
    return true;
  }

  void AddMass(pugi::xml_node node, const RobotShape& shape, RobotMass& sum) const {
    RobotMass of_shape = MassOfShape(shape, xml_.Number(node, "density", 1000));
    if (const pugi::xml_attribute given = node.attribute("mass")) {
      const double mass = xml_.Number(node, "mass");
      of_shape.inertia *= of_shape.mass > 0 ? mass / of_shape.mass : 0;
      of_shape.mass = mass;
      static_cast<void>(given);
    }
    if (of_shape.mass > 0) sum += of_shape.In(shape.placement);
  }

  void SayWhatIsLeftOut() {
    const auto count = [&](const char* section) {
      size_t sum = 0;
      for (const pugi::xml_node part : model_.children(section)) {
        for (const pugi::xml_node child : part.children()) sum += child.type() == pugi::node_element ? 1 : 0;
      }
      return sum;
    };
    const auto say = [&](size_t number, const std::string& what) {
      if (number > 0) robot_.notes.push_back("Left out: " + std::to_string(number) + " " + what + ".");
    };
    say(count("equality"), "equality constraints; loops are open");
    say(count("tendon"), "tendons");
    say(other_actuators_, "actuators that do not drive a joint");
    say(springs_, "springs in joints");
    say(with_friction_, "joints' dry friction");
    std::map<std::string, size_t> times;
    for (const std::string& what : left_out_) ++times[what];
    for (const auto& [what, number] : times) {
      robot_.notes.push_back("Left out: " + what + (number > 1 ? " (" + std::to_string(number) + " times)" : "") + ".");
    }
  }

  XmlFile& xml_;
  std::filesystem::path folder_, meshes_;
  pugi::xml_node model_;
  std::optional<MjcfDefaults> defaults_;
  Robot robot_;
  std::map<std::string, MeshAsset> assets_;
  UnreadMeshes unread_;
  std::vector<std::string> left_out_;
  bool degrees_ = true;
  bool strip_path_ = false;
  bool auto_limits_ = true;
  std::string euler_ = "xyz";
  std::string mass_from_shapes_ = "auto";
  double total_mass_ = -1;
  std::string unknown_mass_;
  size_t springs_ = 0, with_friction_ = 0, other_actuators_ = 0;
};

}  // namespace

Robot ReadMjcf(XmlFile& xml, const std::filesystem::path& path) {
  return MjcfReader(xml, path).Read();
}

}  // namespace retrace::robots
