/// A robot as its file describes it: links, joints and shapes in the file's own frames (z up, x forward in most files),
/// before it becomes a character.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "retrace/math/triangle_mesh.h"
#include "retrace/math/types.h"

namespace retrace::robots {

/// Where a frame is in another one.
struct LinkFrame {
  Vec3 position = Vec3::Zero();  ///< [m]
  Quat rotation = Quat::Identity();

  LinkFrame operator*(const LinkFrame& other) const {
    return {position + rotation * other.position, (rotation * other.rotation).normalized()};
  }
  Vec3 operator*(const Vec3& point) const { return position + rotation * point; }
};

/// A shape of a link, about the middle of its own frame. Capsules and cylinders lie along z.
struct RobotShape {
  enum class Kind { kBox, kSphere, kCapsule, kCylinder, kEllipsoid, kMesh };
  Kind kind = Kind::kBox;
  Vec3 size = Vec3::Zero();  ///< box: full side lengths; ellipsoid: radii [m]
  double radius = 0;         ///< sphere, capsule, cylinder [m]
  double length = 0;         ///< capsule: between the centers of its caps; cylinder [m]
  TriangleMesh mesh = {};    ///< as triangles of any kind: closed or not
  std::string file = {};     ///< of the mesh
  LinkFrame placement = {};  ///< in the link
  bool collides = true;      ///< false: it is only shown
};

struct RobotJoint {
  enum class Kind { kHinge, kBall, kSlide };
  std::string name;
  Kind kind = Kind::kHinge;
  Vec3 axis = Vec3::UnitX();   ///< in the link that it moves, unit vector
  Vec3 anchor = Vec3::Zero();  ///< in that link [m]
  double zero = 0;             ///< what the file calls the angle of the pose in which it gives the links [rad]
  std::optional<std::pair<double, double>> range = std::nullopt;  ///< [rad]
  double effort = 0;                                              ///< largest torque [N m]; 0: not known
  double speed = 0;                                               ///< highest rate [rad/s]; 0: not known
  double damping = 0;                                             ///< [N m s/rad]
  double armature = 0;                                            ///< inertia of the rotor, seen at the joint [kg m^2]
  double kp = 0;  ///< stiffness of the servo [N m/rad]; 0: the file has none
  double kd = 0;  ///< its damping [N m s/rad]
};

/// Inertia about the center of mass, in the axes of the link.
struct RobotMass {
  double mass = 0;  ///< [kg]
  Vec3 center = Vec3::Zero();
  Mat3 inertia = Mat3::Zero();  ///< [kg m^2]

  /// Both as one rigid body.
  RobotMass& operator+=(const RobotMass& other);
  /// The same in another frame. @param frame of the link, in that one
  RobotMass In(const LinkFrame& frame) const;
};

struct RobotLink {
  std::string name;
  int parent = -1;                      ///< comes before it; of the first link, which moves freely: -1
  LinkFrame placement = {};             ///< in the parent, in the pose of the file
  std::vector<RobotJoint> joints = {};  ///< between the parent and it, one after the other; none: it is fixed
  RobotMass mass = {};
  std::vector<RobotShape> shapes = {};
};

struct Robot {
  std::string name;
  bool planar = false;  ///< the root moves in the plane of x and z alone
  std::vector<RobotLink> links;
  std::vector<std::string> notes = {};  ///< what was left out or approximated, a sentence each
};

/// Links without joints become parts of their parents.
void MergeFixedLinks(Robot& robot);

}  // namespace retrace::robots
