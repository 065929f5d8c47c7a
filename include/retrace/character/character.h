/// The physical character: rigid bodies, joints with their servos, collision shapes. Immutable once loaded; shared by
/// all threads.
#pragma once

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "retrace/character/part.h"
#include "retrace/io/json.h"
#include "retrace/math/triangle_mesh.h"
#include "retrace/math/types.h"

namespace retrace::character {

/// Collision shape, fixed to a body, its axes along the body's.
struct Shape {
  enum class Kind { kBox, kCapsule, kMesh };
  Kind kind = Kind::kBox;
  Vec3 size = Vec3::Zero();    ///< box: full side lengths [m]
  double radius = 0;           ///< capsule [m]
  double length = 0;           ///< capsule: of the cylinder between the centers of its caps [m]
  int axis = 1;                ///< capsule: 0 x, 1 y, 2 z
  Vec3 offset = Vec3::Zero();  ///< of the shape's center from the body's center of mass [m]
  TriangleMesh mesh = {};      ///< mesh: about the shape's center, that of the box about its vertices

  /// Radius of the sphere about the shape's center that holds it [m].
  double BoundingRadius() const;
  /// Half side lengths of the box along the body's axes, about the shape's center, that holds it [m].
  Vec3 HalfExtents() const;
};

/// A rigid body. Its frame sits at its center of mass, with axes parallel to the world's in the rest pose (a T-pose:
/// y up, z forward, x to the character's left; knees may be bent in it; a planar character's arms hang down).
struct Body {
  std::string name;
  std::string segment;                     ///< which part of a recorded skeleton moves it; see reference.h
  Part part = Part::kBody;                 ///< what it is to the motion
  double mass = 0;                         ///< [kg]
  Vec3 inertia = Vec3::Zero();             ///< principal moments about the principal axes [kg m^2]
  Mat3 principal_axes = Mat3::Identity();  ///< its columns, in the body's axes
  bool turned = false;                     ///< the principal axes are not the body's own
  Vec3 rest_position = Vec3::Zero();       ///< of the center of mass in the rest pose [m]
  std::vector<Shape> shapes;

  /// About the center of mass, in the body's axes [kg m^2].
  Mat3 InertiaTensor() const { return principal_axes * inertia.asDiagonal() * principal_axes.transpose(); }
};

enum class JointType { kBall, kHinge };

/// A joint and its PD servo. Servo quantities are per axis of the parent body's frame; a hinge uses its axis only.
struct Joint {
  std::string name;
  int parent = -1;  ///< body index
  int child = -1;   ///< body index
  JointType type = JointType::kBall;
  Vec3 anchor = Vec3::Zero();  ///< in the rest pose [m]
  int axis = 0;                ///< hinge: 0 x, 1 y, 2 z of the parent's frame
  /// Hinge about none of these: the unit vector of its axis in the parent's frame. `axis` is then the frame's axis that
  /// is nearest to it, at whose index values per axis stand.
  std::optional<Vec3> oblique = std::nullopt;
  /// Angles of a hinge that the body allows [rad]; without: it can turn without end. Kept for robots' files.
  std::optional<std::pair<double, double>> range = std::nullopt;
  /// Largest size of the torque of servo and command together, per axis; the simulation never exceeds it [N m]. 0:
  /// any.
  Vec3 effort = Vec3::Zero();
  double speed = 0;                    ///< highest rate of the motor [rad/s]; 0: not known
  double armature = 0;                 ///< inertia of the rotor, seen at the joint, per axis [kg m^2]
  double kp = 0;                       ///< stiffness [N m/rad]
  double kd = 0;                       ///< damping [N m s/rad]
  Vec3 strength_scale = Vec3::Ones();  ///< of kp and kd per axis (Liu et al. 2010, Table 2)
  Vec3 window = Vec3::Zero();          ///< half width of the sampling window per axis [rad]
  double contact_scale_min = 1;        ///< range of the factor on kp and kd while the limb bears weight
  double contact_scale_max = 1;
  double cost_weight = 1;  ///< of its error in the pose term of the search (Liu et al. 2010, eq. 2, w_i)

  int num_axes() const { return type == JointType::kBall ? 3 : 1; }
  bool UsesAxis(int a) const { return type == JointType::kBall || a == axis; }

  Vec3 direction() const { return oblique ? *oblique : Vec3(Vec3::Unit(axis)); }  ///< of a hinge, unit vector
  /// Component of a vector of the parent's axes along a hinge.
  double Along(const Vec3& vector) const { return oblique ? oblique->dot(vector) : vector[axis]; }
  /// Values per axis of a vector in the parent's axes, and the reverse. Values are those of the axes in use.
  Vec3 PerAxis(const Vec3& vector) const { return oblique ? Vec3(Along(vector) * Vec3::Unit(axis)) : vector; }
  Vec3 FromAxes(const Vec3& values) const { return oblique ? Vec3(values[axis] * *oblique) : values; }

  /// Whether the torque about any axis is limited.
  bool limited() const { return effort != Vec3::Zero(); }
  /// A torque about an axis, as far as the limit allows.
  double Limited(double torque, int a) const {
    return effort[a] > 0 ? std::clamp(torque, -effort[a], effort[a]) : torque;
  }
  /// Whether the torque about an axis is at its limit, which ODE's solver meets to rounding.
  bool IsAtLimit(const Vec3& torque) const {
    return ((effort.array() > 0) && (torque.array().abs() >= (1 - 1e-9) * effort.array())).any();
  }
};

/// A named set of contact scales, e.g. strong ankles for running: factor per joint, 1 where none is given.
using ContactPreset = std::vector<double>;  // (joints)

/// How a recording is scaled to a character.
enum class RootScale {
  kLegs,    ///< so that the recorded legs get the length of the character's
  kHeight,  ///< by the ratio of body heights (Liu et al. 2010, section 4, Motion Retargeting)
};

struct Character {
  std::string name;
  double height = 0;  ///< [m]
  RootScale root_scale = RootScale::kLegs;
  /// The root moves in its sagittal plane alone: not along its x axis, and about that axis only. An ideal constraint,
  /// which does no work, holds it there. All joints are hinges about x, and x is a principal axis of all inertias, so
  /// that the other bodies move in planes beside that one.
  bool planar = false;
  std::vector<Body> bodies;
  std::vector<Joint> joints;                    ///< each after the joint that moves its parent body
  int root = -1;                                ///< body index
  std::vector<int> end_effectors;               ///< body indices
  std::vector<std::pair<int, int>> self_pairs;  ///< pairs of bodies that may touch, first < second
  std::map<std::string, ContactPreset> contact_presets;
  io::JsonBox json;  ///< the document it was made from

  double total_mass() const;
  int dof() const;                                 ///< 6 of the root, also of a planar one, and those of the joints
  int FindBody(const std::string& wanted) const;   ///< index or -1
  int FindJoint(const std::string& wanted) const;  ///< index or -1
  /// Joint that moves a body, or -1 for the root.
  int JointOf(int body) const { return joint_of_body[static_cast<size_t>(body)]; }

  std::vector<int> joint_of_body;  ///< (bodies), derived
};

/// Makes a character from its document; `name` stands for the file in messages. Throws InputError with the JSON
/// pointer, what was found and what was expected.
Character ParseCharacter(const io::Json& document, const std::string& name);
Character LoadCharacter(const std::filesystem::path& path);

}  // namespace retrace::character
