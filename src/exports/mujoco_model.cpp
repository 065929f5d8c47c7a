#include "retrace/exports/mujoco_model.h"

#include <algorithm>
#include <pugixml.hpp>
#include <set>
#include <sstream>
#include <utility>

#include "retrace/character/index.h"
#include "retrace/character/kinematics.h"
#include "retrace/io/number.h"
#include "retrace/math/rotation.h"
#include "retrace/robots/joint_motion.h"

namespace retrace::exports {
namespace {

using character::Body;
using character::Character;
using character::Index;
using character::Joint;
using character::Shape;

std::string Numbers(const Vec3& v) {
  return io::Number(v.x()) + " " + io::Number(v.y()) + " " + io::Number(v.z());
}
std::string Numbers(const Quat& q) {
  return io::Number(q.w()) + " " + Numbers(Vec3(q.vec()));
}

class ModelWriter {
 public:
  explicit ModelWriter(const ExportedMotion& motion)
      : motion_(motion), character_(motion.character), root_frame_(robots::RootFrameOf(character_)) {}

  std::string Write() {
    pugi::xml_node model = document_.append_child("mujoco");
    Set(model, "model", character_.name);
    Set(model.append_child("compiler"), "angle", "radian");
    pugi::xml_node option = model.append_child("option");
    Set(option, "timestep", io::Number(motion_.trajectory.time_step));
    Set(option, "integrator", "implicit");
    Set(option, "gravity", "0 0 " + io::Number(-motion_.control.world.gravity));
    pugi::xml_node size = model.append_child("size");
    Set(size, "nconmax", "500");
    Set(size, "njmax", "2500");
    pugi::xml_node geom = model.append_child("default").append_child("geom");
    Set(geom, "friction", io::Number(motion_.control.world.friction) + " 0.005 0.0001");
    asset_ = model.append_child("asset");
    pugi::xml_node world = model.append_child("worldbody");
    pugi::xml_node floor = world.append_child("geom");
    Set(floor, "name", "floor of the world");
    Set(floor, "type", "plane");
    Set(floor, "size", "50 50 1");
    pugi::xml_node light = world.append_child("light");
    Set(light, "pos", "0 0 5");
    actuators_ = document_.append_child("actuator");  // it comes after the bodies
    AddBody(world, character_.root, nullptr);
    pugi::xml_node contact = model.append_child("contact");
    AddExclusions(contact);
    model.append_move(actuators_);
    AddKey(model);
    std::ostringstream text;
    document_.save(text, "  ");
    return text.str();
  }

 private:
  struct Frame {
    Vec3 position = Vec3::Zero();  // at rest, in the axes of the file
    Quat rotation = Quat::Identity();

    Vec3 Inside(const Vec3& point) const { return rotation.conjugate() * (point - position); }
  };

  static void Set(pugi::xml_node node, const char* name, const std::string& value) {
    node.append_attribute(name) = value.c_str();
  }

  Frame FrameOf(int body) const {
    if (body == character_.root) return {robots::ToFileAxes(root_frame_.position), root_frame_.rotation};
    return {robots::ToFileAxes(character_.bodies[Index(body)].rest_position), Quat::Identity()};
  }

  void AddBody(pugi::xml_node above, int index, const Frame* parent) {
    const Body& body = character_.bodies[Index(index)];
    const Frame frame = FrameOf(index);
    pugi::xml_node node = above.append_child("body");
    Set(node, "name", body.name);
    Set(node, "pos", Numbers(parent == nullptr ? frame.position : parent->Inside(frame.position)));
    const Quat turn = parent == nullptr ? frame.rotation : Quat(parent->rotation.conjugate() * frame.rotation);
    if (AngleBetween(turn, Quat::Identity()) > 0) Set(node, "quat", Numbers(turn));
    if (parent == nullptr) {
      Set(node.append_child("freejoint"), "name", "root of the world");
    } else {
      AddJoint(node, character_.joints[Index(character_.JointOf(index))], frame);
    }
    pugi::xml_node inertial = node.append_child("inertial");
    Set(inertial, "pos", Numbers(frame.Inside(robots::ToFileAxes(body.rest_position))));
    const Mat3 axes = InFile(body.principal_axes);
    const Quat principal = frame.rotation.conjugate() * Quat(axes);
    Set(inertial, "quat", Numbers(principal));
    Set(inertial, "mass", io::Number(body.mass));
    Set(inertial, "diaginertia", Numbers(body.inertia));
    for (size_t s = 0; s < body.shapes.size(); ++s) AddShape(node, body, s, frame);
    for (const Joint& joint : character_.joints) {
      if (joint.parent == index) AddBody(node, joint.child, &frame);
    }
  }

  /// Directions of ours, as the columns of a matrix, in the axes of the file.
  static Mat3 InFile(const Mat3& directions) {
    Mat3 turned;
    for (int k = 0; k < 3; ++k) turned.col(k) = robots::ToFileAxes(Vec3(directions.col(k)));
    return turned;
  }

  void AddJoint(pugi::xml_node body, const Joint& joint, const Frame& frame) {
    if (joint.range) {
      const std::string range = " " + joint.name + ": range " + io::Number(joint.range->first) + " to " +
                                io::Number(joint.range->second) + " ";
      if (range.find("--") == std::string::npos) body.append_child(pugi::node_comment).set_value(range.c_str());
    }
    pugi::xml_node node = body.append_child("joint");
    Set(node, "name", joint.name);
    Set(node, "pos", Numbers(frame.Inside(robots::ToFileAxes(joint.anchor))));
    if (joint.type == character::JointType::kBall) {
      Set(node, "type", "ball");
      return;
    }
    Set(node, "axis", Numbers(Vec3(frame.rotation.conjugate() * robots::ToFileAxes(joint.direction()))));
    if (joint.armature > 0) Set(node, "armature", io::Number(joint.armature));
    pugi::xml_node servo = actuators_.append_child("general");
    Set(servo, "name", joint.name);
    Set(servo, "joint", joint.name);
    const double kp = joint.kp * joint.strength_scale[joint.axis], kd = joint.kd * joint.strength_scale[joint.axis];
    Set(servo, "gainprm", io::Number(kp));
    Set(servo, "biastype", "affine");
    Set(servo, "biasprm", "0 " + io::Number(-kp) + " " + io::Number(-kd));
    if (const double effort = joint.effort[joint.axis]; effort > 0) {
      Set(servo, "forcelimited", "true");
      Set(servo, "forcerange", io::Number(-effort) + " " + io::Number(effort));
    }
  }

  void AddShape(pugi::xml_node node, const Body& body, size_t s, const Frame& frame) {
    const Shape& shape = body.shapes[s];
    pugi::xml_node geom = node.append_child("geom");
    Set(geom, "pos", Numbers(frame.Inside(robots::ToFileAxes(Vec3(body.rest_position + shape.offset)))));
    if (AngleBetween(frame.rotation, Quat::Identity()) > 0) Set(geom, "quat", Numbers(frame.rotation.conjugate()));
    switch (shape.kind) {
      case Shape::Kind::kBox:
        Set(geom, "type", "box");
        Set(geom, "size", Numbers(Vec3(0.5 * robots::ToFileAxes(shape.size).cwiseAbs())));
        return;
      case Shape::Kind::kCapsule: {
        if (shape.length == 0) {
          Set(geom, "type", "sphere");
          Set(geom, "size", io::Number(shape.radius));
          return;
        }
        Set(geom, "type", "capsule");
        Set(geom, "size", io::Number(shape.radius) + " " + io::Number(0.5 * shape.length));
        const Vec3 along = robots::ToFileAxes(Vec3(Vec3::Unit(shape.axis)));
        geom.remove_attribute("quat");
        Set(geom, "quat", Numbers(Quat(frame.rotation.conjugate() * ShortestArc(Vec3::UnitZ(), along))));
        return;
      }
      case Shape::Kind::kMesh: {
        // MuJoCo puts a mesh at its center of mass and turns it to its principal axes, and takes that back in the geom.
        const std::string name = body.name + " shape " + std::to_string(s + 1);
        pugi::xml_node mesh = asset_.append_child("mesh");
        Set(mesh, "name", name);
        std::string vertices;
        for (const Vec3& vertex : shape.mesh.vertices) {
          vertices += (vertices.empty() ? "" : "  ") + Numbers(robots::ToFileAxes(vertex));
        }
        Set(mesh, "vertex", vertices);
        Set(geom, "type", "mesh");
        Set(geom, "mesh", name);
        return;
      }
    }
  }

  void AddExclusions(pugi::xml_node contact) {
    const std::set<std::pair<int, int>> may_touch(character_.self_pairs.begin(), character_.self_pairs.end());
    const auto count = static_cast<int>(character_.bodies.size());
    for (int a = 0; a < count; ++a) {
      for (int b = a + 1; b < count; ++b) {
        if (may_touch.contains({a, b})) continue;
        if (character_.bodies[Index(a)].shapes.empty() || character_.bodies[Index(b)].shapes.empty()) continue;
        pugi::xml_node exclude = contact.append_child("exclude");
        Set(exclude, "body1", character_.bodies[Index(a)].name);
        Set(exclude, "body2", character_.bodies[Index(b)].name);
      }
    }
  }

  void AddKey(pugi::xml_node model) const {
    const character::State& state = motion_.trajectory.states.front();
    const character::BodyState& root = state[Index(character_.root)];
    const Vec3 arm =
        root.orientation * Vec3(root_frame_.position - character_.bodies[Index(character_.root)].rest_position);
    const Quat orientation = robots::ToFileAxes(root.orientation) * root_frame_.rotation;
    std::string qpos = Numbers(robots::ToFileAxes(Vec3(root.position + arm))) + " " + Numbers(orientation);
    std::string qvel = Numbers(robots::ToFileAxes(Vec3(root.linear_velocity + root.angular_velocity.cross(arm)))) +
                       " " + Numbers(Vec3(orientation.conjugate() * robots::ToFileAxes(root.angular_velocity)));
    AddJointsOf(character_.root, state, qpos, qvel);
    pugi::xml_node key = model.append_child("keyframe").append_child("key");
    Set(key, "name", "start");
    Set(key, "qpos", qpos);
    Set(key, "qvel", qvel);
  }

  /// In the order in which AddBody writes the bodies.
  void AddJointsOf(int body, const character::State& state, std::string& qpos, std::string& qvel) const {
    for (const Joint& joint : character_.joints) {
      if (joint.parent != body) continue;
      const Quat rotation = character::JointRotation(joint, state);
      const Vec3 rate = character::RelativeRate(joint, state);
      if (joint.type == character::JointType::kBall) {
        qpos += " " + Numbers(robots::ToFileAxes(rotation));
        qvel += " " + Numbers(robots::ToFileAxes(Vec3(rotation.conjugate() * rate)));
      } else {
        qpos += " " + io::Number(joint.Along(RotationVector(rotation)));
        qvel += " " + io::Number(joint.Along(rate));
      }
      AddJointsOf(joint.child, state, qpos, qvel);
    }
  }

  const ExportedMotion& motion_;
  const Character& character_;
  robots::RootFrame root_frame_;
  pugi::xml_document document_;
  pugi::xml_node asset_, actuators_;
};

}  // namespace

std::string FormatMujocoModel(const ExportedMotion& motion) {
  return ModelWriter(motion).Write();
}

}  // namespace retrace::exports
