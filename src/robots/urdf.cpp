#include "urdf.h"

#include <cmath>
#include <map>

#include "retrace/io/nearest_words.h"
#include "retrace/io/number.h"
#include "retrace/math/rotation.h"
#include "retrace/recordings/mesh_file.h"
#include "unread_meshes.h"

namespace retrace::robots {
namespace {

constexpr size_t kMostLinks = 1000;

/// Fixed axes x, y, z one after the other.
Quat FromRollPitchYaw(const Vec3& angles) {
  return AxisRotation(2, angles.z()) * AxisRotation(1, angles.y()) * AxisRotation(0, angles.x());
}

class UrdfReader {
 public:
  UrdfReader(XmlFile& xml, const std::filesystem::path& path) : xml_(xml), folder_(path.parent_path()) {}

  Robot Read() {
    const pugi::xml_node robot = xml_.document().child("robot");
    robot_.name = robot.attribute("name").value();
    if (robot.find_node([](pugi::xml_node node) { return std::string_view(node.name()).starts_with("xacro:"); })) {
      xml_.Fail(robot, "macros of xacro", "the file that `xacro FILE -o ROBOT.urdf` makes of it");
    }
    mesh_folder_ = robot.child("mujoco").child("compiler").attribute("meshdir").value();
    for (const pugi::xml_node link : robot.children("link")) ReadLink(link);
    if (links_.empty()) xml_.Fail(robot, "no link", "links and joints");
    if (links_.size() > kMostLinks) xml_.Fail(robot, std::to_string(links_.size()) + " links", "at most 1000");
    for (const pugi::xml_node joint : robot.children("joint")) ReadJoint(joint);
    PlaceLinks(robot);
    SayUnread(unread_, robot_);
    return std::move(robot_);
  }

 private:
  struct Connection {
    pugi::xml_node node;
    size_t parent = 0;
    size_t child = 0;
    RobotLink moved;  // its placement and joints
    bool floating = false;
  };

  LinkFrame ReadOrigin(pugi::xml_node node) const {
    const pugi::xml_node origin = node.child("origin");
    if (!origin) return {};
    return {xml_.Vector(origin, "xyz", Vec3::Zero()), FromRollPitchYaw(xml_.Vector(origin, "rpy", Vec3::Zero()))};
  }

  void ReadLink(pugi::xml_node node) {
    RobotLink link;
    link.name = xml_.Text(node, "name");
    if (!index_.emplace(link.name, links_.size()).second) xml_.Fail(node, "a second link of the name", "another name");
    if (const pugi::xml_node inertial = node.child("inertial")) link.mass = ReadMass(inertial);
    for (const pugi::xml_node shape : node.children("collision")) ReadShape(shape, true, link);
    if (!link.shapes.empty()) {  // what is only shown is needed where nothing else is there
      links_.push_back(std::move(link));
      return;
    }
    for (const pugi::xml_node shape : node.children("visual")) ReadShape(shape, false, link);
    links_.push_back(std::move(link));
  }

  RobotMass ReadMass(pugi::xml_node node) const {
    RobotMass mass;
    const pugi::xml_node of_mass = node.child("mass");
    mass.mass = of_mass ? xml_.Number(of_mass, "value") : 0;
    if (mass.mass < 0) xml_.Fail(of_mass, "value=\"" + io::Number(mass.mass) + "\"", "a mass of 0 or more");
    if (const pugi::xml_node i = node.child("inertia")) {
      const auto moment = [&](const char* name, std::optional<double> without) {
        return xml_.Number(i, name, without);
      };
      const double xy = moment("ixy", 0), xz = moment("ixz", 0), yz = moment("iyz", 0);
      mass.inertia << moment("ixx", {}), xy, xz, xy, moment("iyy", {}), yz, xz, yz, moment("izz", {});
    }
    return mass.In(ReadOrigin(node));
  }

  void ReadShape(pugi::xml_node node, bool collides, RobotLink& link) {
    RobotShape shape;
    shape.collides = collides;
    shape.placement = ReadOrigin(node);
    const pugi::xml_node geometry = node.child("geometry");
    const auto positive = [&](pugi::xml_node of, const char* name) {
      const double number = xml_.Number(of, name);
      if (!(number > 0)) xml_.Fail(of, std::string(name) + "=\"" + io::Number(number) + "\"", "a length above 0");
      return number;
    };
    if (const pugi::xml_node box = geometry.child("box")) {
      shape.kind = RobotShape::Kind::kBox;
      shape.size = xml_.Vector(box, "size");
      if (!(shape.size.minCoeff() > 0)) xml_.Fail(box, "a side without length", "lengths above 0");
    } else if (const pugi::xml_node sphere = geometry.child("sphere")) {
      shape.kind = RobotShape::Kind::kSphere;
      shape.radius = positive(sphere, "radius");
    } else if (const pugi::xml_node cylinder = geometry.child("cylinder")) {
      shape.kind = RobotShape::Kind::kCylinder;
      shape.radius = positive(cylinder, "radius");
      shape.length = positive(cylinder, "length");
    } else if (const pugi::xml_node capsule = geometry.child("capsule")) {
      shape.kind = RobotShape::Kind::kCapsule;
      shape.radius = positive(capsule, "radius");
      shape.length = positive(capsule, "length");
    } else if (const pugi::xml_node mesh = geometry.child("mesh")) {
      shape.kind = RobotShape::Kind::kMesh;
      shape.file = xml_.Text(mesh, "filename");
      if (!ReadMeshOf(mesh, shape)) return;
    } else if (!collides) {
      return;  // what is only shown matters little
    } else {
      xml_.Fail(node, "no known geometry", "a box, sphere, cylinder, capsule or mesh");
    }
    link.shapes.push_back(std::move(shape));
  }

  /// `package://NAME/PATH` is looked for below the folders above the file. Where a package was taken apart, its meshes
  /// are often in one folder beside the file.
  std::vector<std::filesystem::path> PossiblePaths(std::string name) const {
    std::vector<std::filesystem::path> paths;
    const std::filesystem::path file = std::filesystem::path(name).filename();
    const std::vector<std::filesystem::path> beside = {folder_ / mesh_folder_ / file, folder_ / "meshes" / file,
                                                       folder_ / ".." / "meshes" / file};
    for (const char* const scheme : {"file://", "package://", "model://"}) {
      if (!name.starts_with(scheme)) continue;
      name.erase(0, std::string_view(scheme).size());
      if (std::string_view(scheme) == "file://") return {name};
      const std::string without_package = name.substr(std::min(name.find('/'), name.size() - 1) + 1);
      std::filesystem::path above = std::filesystem::absolute(folder_);
      for (int level = 0; level < 4; ++level) {
        paths.push_back(above / name);
        paths.push_back(above / without_package);
        above = above.parent_path();
      }
      paths.insert(paths.end(), beside.begin(), beside.end());
      return paths;
    }
    paths = {folder_ / name};
    paths.insert(paths.end(), beside.begin(), beside.end());
    return paths;
  }

  bool ReadMeshOf(pugi::xml_node node, RobotShape& shape) {
    const Vec3 scale = xml_.Vector(node, "scale", Vec3::Ones());
    std::string why;
    for (const std::filesystem::path& path : PossiblePaths(shape.file)) {
      std::string of_path;
      if (std::optional<TriangleMesh> mesh = recordings::ReadMesh(path, scale, of_path)) {
        shape.mesh = std::move(*mesh);
        return true;
      }
      if (why.empty() || std::filesystem::exists(path)) why = of_path;
    }
    if (shape.collides) unread_[why].insert(shape.file);
    return false;
  }

  void ReadJoint(pugi::xml_node node) {
    Connection joint;
    joint.node = node;
    joint.parent = IndexOf(node.child("parent"), node);
    joint.child = IndexOf(node.child("child"), node);
    joint.moved.placement = ReadOrigin(node);
    RobotJoint moving;
    moving.name = xml_.Text(node, "name");
    const std::string type = xml_.Text(node, "type");
    if (type == "revolute" || type == "continuous") {
      ReadHinge(node, type, moving);
      joint.moved.joints.push_back(moving);
    } else if (type == "floating") {
      joint.floating = true;
    } else if (type == "prismatic") {
      robot_.notes.push_back("The joint " + moving.name + " slides; it is fixed at the position of the file.");
    } else if (type == "planar") {
      xml_.Fail(node, "a planar joint", "revolute, continuous, prismatic, floating or fixed");
    } else if (type != "fixed") {
      const std::vector<std::string> types = {"revolute", "continuous", "prismatic", "floating", "fixed"};
      const std::string meant = io::DidYouMean(type, types);
      xml_.Fail(node, "type=\"" + type + "\"",
                meant.empty() ? "revolute, continuous, prismatic, floating or fixed" : meant);
    }
    connections_.push_back(std::move(joint));
  }

  void ReadHinge(pugi::xml_node node, const std::string& type, RobotJoint& joint) {
    const pugi::xml_node axis = node.child("axis");
    joint.axis = axis ? xml_.Vector(axis, "xyz") : Vec3(Vec3::UnitX());
    if (!(joint.axis.norm() > 1e-9)) xml_.Fail(axis, "an axis without length", "a direction");
    joint.axis.normalize();
    if (const pugi::xml_node limit = node.child("limit")) {
      const auto known = [](double number) { return std::isfinite(number) ? std::max(0.0, number) : 0; };
      joint.effort = known(xml_.Limit(limit, "effort", 0));
      joint.speed = known(xml_.Limit(limit, "velocity", 0));
      const double lower = xml_.Limit(limit, "lower", 0), upper = xml_.Limit(limit, "upper", 0);
      if (lower > upper) {
        xml_.Fail(limit, "lower=\"" + io::Number(lower) + "\" above upper=\"" + io::Number(upper) + "\"",
                  "lower below upper");
      }
      if (type == "revolute" && lower < upper && std::isfinite(upper - lower)) joint.range = {lower, upper};
    }
    if (const pugi::xml_node dynamics = node.child("dynamics")) {
      joint.damping = std::max(0.0, xml_.Number(dynamics, "damping", 0));
      if (xml_.Number(dynamics, "friction", 0) > 0) with_friction_.push_back(joint.name);
    }
    if (const pugi::xml_node mimic = node.child("mimic")) {
      robot_.notes.push_back("The joint " + joint.name + " follows " + xml_.Text(mimic, "joint") +
                             " in the file; here it has a servo of its own.");
    }
  }

  size_t IndexOf(pugi::xml_node node, pugi::xml_node joint) const {
    if (!node) xml_.Fail(joint, "no parent or no child", "<parent link=\"...\"/> and <child link=\"...\"/>");
    const std::string name = xml_.Text(node, "link");
    const auto found = index_.find(name);
    if (found != index_.end()) return found->second;
    std::vector<std::string> names;
    for (const RobotLink& link : links_) names.push_back(link.name);
    const std::string meant = io::DidYouMean(name, names);
    xml_.Fail(joint, "link \"" + name + "\"", meant.empty() ? "the name of a link" : meant);
  }

  /// In the order of the joints in the file, as far as parents come first.
  void PlaceLinks(pugi::xml_node robot) {
    std::vector<int> moved_by(links_.size(), -1);
    for (size_t c = 0; c < connections_.size(); ++c) {
      int& mover = moved_by[connections_[c].child];
      if (mover >= 0) {
        xml_.Fail(connections_[c].node, "a second joint that moves \"" + links_[connections_[c].child].name + "\"",
                  "a tree: loops are left out of a URDF");
      }
      mover = static_cast<int>(c);
    }
    std::vector<size_t> roots;
    for (size_t l = 0; l < links_.size(); ++l) {
      if (moved_by[l] < 0) roots.push_back(l);
    }
    if (roots.size() != 1) {
      std::string names;
      for (const size_t root : roots) names += (names.empty() ? "" : ", ") + links_[root].name;
      xml_.Fail(robot,
                std::to_string(roots.size()) + " links that no joint moves" + (names.empty() ? "" : ": " + names),
                "one tree with one root");
    }
    size_t root = roots[0];
    for (const Connection& c : connections_) {
      if (!c.floating) continue;
      if (c.parent != root || links_[root].mass.mass > 0) {
        xml_.Fail(c.node, "a floating joint inside of the robot", "one at its root");
      }
      root = c.child;
    }
    std::vector<int> order(links_.size(), -1);
    const auto add = [&](size_t link) {
      order[link] = static_cast<int>(robot_.links.size());
      robot_.links.push_back(links_[link]);
    };
    add(root);
    for (bool progress = true; progress;) {
      progress = false;
      for (const Connection& c : connections_) {
        if (c.floating || order[c.parent] < 0 || order[c.child] >= 0) continue;
        add(c.child);
        robot_.links.back().parent = order[c.parent];
        robot_.links.back().placement = c.moved.placement;
        robot_.links.back().joints = c.moved.joints;
        progress = true;
      }
    }
    for (size_t l = 0; l < links_.size(); ++l) {
      if (order[l] < 0 && l != roots[0]) {
        xml_.Fail(robot, "a loop of joints through the link " + links_[l].name, "one tree with one root");
      }
    }
    if (!with_friction_.empty()) {
      robot_.notes.push_back("Dry friction of " + std::to_string(with_friction_.size()) + " joints is left out.");
    }
  }

  XmlFile& xml_;
  std::filesystem::path folder_;
  std::filesystem::path mesh_folder_;  // as MuJoCo's extension of the format says
  Robot robot_;
  std::vector<RobotLink> links_;
  std::map<std::string, size_t> index_;
  std::vector<Connection> connections_;
  std::vector<std::string> with_friction_;
  UnreadMeshes unread_;
};

}  // namespace

Robot ReadUrdf(XmlFile& xml, const std::filesystem::path& path) {
  return UrdfReader(xml, path).Read();
}

}  // namespace retrace::robots
