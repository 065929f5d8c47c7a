/// Making a character in code, or another one from an existing one: with loads, other servo gains, other shapes.
#pragma once

#include <string>
#include <vector>

#include "retrace/character/character.h"
#include "retrace/io/json.h"
#include "retrace/math/types.h"

namespace retrace::character {

/// Collects bodies, joints and changes of them, and builds a character whose document agrees with its fields. All
/// that a character file is checked for is checked by Build(); the functions before it only check that the bodies and
/// joints that they name exist, and throw std::invalid_argument where they do not.
///
/// Bodies and joints are named, because a character sorts its joints and their indices need not be those of the
/// document. What is not changed keeps its position and its digits in the document.
class CharacterBuilder {
 public:
  /// A character without any body yet. @param height [m]
  CharacterBuilder(const std::string& name, double height);
  /// Begins with all of another character.
  explicit CharacterBuilder(const Character& character);

  void SetName(const std::string& name);
  /// Where the numbers of the character come from, in words.
  void SetSource(const std::string& source);
  void SetRootScale(RootScale scale);
  void SetHeight(double height);  ///< [m]
  void SetPlanar();
  /// Where the root link of a robot's file has its frame at rest. @param position in our axes [m] @param rotation in
  /// the file's world
  void SetRootFrame(const Vec3& position, const Quat& rotation);

  /// Adds a body and returns its index in the character.
  int AddBody(const Body& body);
  void SetMass(const std::string& body, double mass);               ///< [kg]
  void SetPosition(const std::string& body, const Vec3& position);  ///< of the center of mass in the rest pose [m]
  /// @param tensor about the center of mass, in the body's axes [kg m^2]; only its lower triangle is read
  void SetInertia(const std::string& body, const Mat3& tensor);
  /// Multiplies all masses, moments of inertia, and the servos' kp, kd and largest torques: the character then moves
  /// alike, with forces that are as much larger. @param factor above 0
  void ScaleMass(double factor);
  void SetShapes(const std::string& body, const std::vector<Shape>& shapes);
  /// Fastens a ball of even density at the center of mass of a body. @param mass [kg] @param radius [m]
  void AddLoad(const std::string& body, double mass, double radius);

  /// Adds a joint; its parent and child are indices of bodies that AddBody returned or that the character had.
  void AddJoint(const Joint& joint);
  void SetAnchor(const std::string& joint, const Vec3& anchor);  ///< its position in the rest pose [m]
  /// @param kp stiffness [N m/rad] @param kd damping [N m s/rad], both before the strength scale
  void SetServo(const std::string& joint, double kp, double kd);
  /// The same, with the scale: the gain about each axis is that of the joint times it.
  void SetServo(const std::string& joint, double kp, double kd, const Vec3& strength_scale);
  /// Largest torque per axis of the parent's frame [N m]; 0: any. A hinge has the largest of the three.
  void SetEffort(const std::string& joint, const Vec3& effort);
  /// Half width of the sampling window per axis of the parent's frame [rad]; a hinge reads its own axis only.
  void SetWindow(const std::string& joint, const Vec3& window);

  void AddEndEffector(const std::string& body);
  /// The two bodies pass through each other. Bodies that a joint connects do so without being named.
  void ExcludePair(const std::string& body, const std::string& other);
  /// Adds a contact preset, or a joint to one. @param scale factor on the joint's kp and kd, see ContactPreset
  void SetContactScale(const std::string& preset, const std::string& joint, double scale);

  /// Adds a contact preset in which no joint has a factor, unless there is one of the name.
  void AddContactPreset(const std::string& preset);

  /// Throws InputError with the position in the document where the bodies and joints make no character: two roots, a
  /// second joint that moves a body, moments of inertia that no body has, ... @param name stands for the file in
  /// messages
  Character Build(const std::string& name) const;

 private:
  io::Json& Entry(const char* list, const std::string& name);
  io::JsonBox document_;
};

/// The text of a character file as people read it: each body, joint and pair of bodies has a line of its own.
std::string FormatCharacter(const io::Json& document);
inline std::string FormatCharacter(const Character& character) {
  return FormatCharacter(character.json);
}

}  // namespace retrace::character
