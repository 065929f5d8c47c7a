/// What the world holds besides the character: materials, fixed and moving boxes, a height field, bodies that move
/// freely. Plain data; part of the options of a world, and with them of a control file.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "retrace/character/character.h"
#include "retrace/character/state.h"
#include "retrace/io/json.h"

namespace retrace::simulation {

inline constexpr io::Range kTimeSteps{1e-5, 0.1};     ///< of a simulation [s]
inline constexpr io::Range kGravities{-100, 100};     ///< downwards [m/s^2]
inline constexpr io::Range kFrictions{0, 100};        ///< coefficients
inline constexpr io::Range kStiffnesses{1e-3, 1e12};  ///< of contact points [N/m]
inline constexpr io::Range kDampings{0, 1e10};        ///< of contact points [N s/m]
inline constexpr io::Range kDensities{1e-3, 1e5};     ///< [kg/m^3]

/// How contacts with a thing behave. What is not set is as elsewhere in the world. Where two things touch that both
/// set it, the lower friction and the softer spring hold.
struct Material {
  /// Spring and damper of a contact point, the same at any step size. In a step h they are ODE's error reduction
  /// parameter h k / (h k + d) and constraint force mixing 1 / (h k + d) (ODE manual, section on ERP and CFM).
  struct Spring {
    double stiffness = 0;  ///< k [N/m]
    double damping = 0;    ///< d [N s/m]
    bool operator==(const Spring&) const = default;
  };
  std::optional<double> friction;  ///< coefficient, friction pyramid
  std::optional<Spring>
      spring;  ///< pushes as fast as it likes: WorldOptions::contact_correcting_velocity is not for it
  bool operator==(const Material&) const = default;
};

/// The plane that the character stands on. A ground that is not there lets everything fall that no object holds.
struct Ground {
  bool present = true;
  double height = 0;  ///< [m]
  Material material = {};
  bool operator==(const Ground&) const = default;
};

/// Course of a moving box, a pure function of time: its center is away from its position by
///     velocity t + amplitude (sin(2 pi frequency t + phase) - sin(phase)).
struct Course {
  Vec3 velocity = Vec3::Zero();   ///< [m/s]
  Vec3 amplitude = Vec3::Zero();  ///< [m]
  double frequency = 0;           ///< [1/s]
  double phase = 0;               ///< [rad]; pi/2 begins at rest

  Vec3 At(double time) const;
  Vec3 VelocityAt(double time) const;      ///< [m/s]
  Vec3 AccelerationAt(double time) const;  ///< [m/s^2]
};

/// A box that nothing moves but its course.
struct Box {
  std::string name;
  Vec3 size = Vec3::Zero();             ///< full side lengths [m]
  Vec3 position = Vec3::Zero();         ///< of its center, at time 0 [m]
  Quat orientation = Quat::Identity();  ///< box to world
  Material material = {};
  std::optional<Course> course = {};  ///< none: fixed
};

/// A surface over a square grid, flat on the triangles of its cells (each cell is cut from its corner at low x and z to
/// the opposite one). It ends at its border; beneath it is solid.
struct HeightField {
  std::string name;
  Vec3 position = Vec3::Zero();         ///< of the middle of the grid, heights count from there [m]
  Quat orientation = Quat::Identity();  ///< about y alone
  double spacing = 0;                   ///< of the grid [m]
  int columns = 0;                      ///< points along x, >= 2
  int rows = 0;                         ///< points along z, >= 2
  std::vector<double> heights;          ///< (rows x columns), x fastest [m]
  Material material = {};
};

/// A shape of a compound body; its offset is that of its center from the body's center of mass, in the body's axes.
struct OrientedShape {
  character::Shape shape = {};
  Quat orientation = Quat::Identity();  ///< shape to body
};

/// A rigid body that moves freely. Its frame sits at its center of mass.
struct FreeBody {
  std::string name;
  character::Shape shape = {};  ///< a box or a capsule; a sphere is a capsule of length 0
  /// Shapes of a compound body, instead of `shape`: furniture, tools. Where they overlap, even density counts twice.
  std::vector<OrientedShape> shapes = {};
  Mat3 tensor = Mat3::Zero();            ///< of inertia of a compound body, in its axes [kg m^2]
  double mass = 0;                       ///< [kg]
  Vec3 position = Vec3::Zero();          ///< at the start [m]
  Quat orientation = Quat::Identity();   ///< at the start
  Vec3 linear_velocity = Vec3::Zero();   ///< at the start [m/s]
  Vec3 angular_velocity = Vec3::Zero();  ///< at the start, in world axes [rad/s]
  Material material = {};

  bool compound() const { return !shapes.empty(); }
  /// What it consists of: `shapes`, or `shape` alone.
  std::vector<OrientedShape> AllShapes() const;
  /// Principal moments of a solid of even density that is no compound, about its axes [kg m^2].
  Vec3 Inertia() const;
};
/// Volume of a box or capsule [m^3].
double Volume(const character::Shape& shape);

/// Everything. Objects are counted: the boxes, the height field if there is one, the free bodies.
///
/// The state of a world has the free bodies after the character's. A free body whose velocities are exactly zero and
/// that something fixed holds is at rest: it stays as it is, to the bit, until a body touches it that is not.
struct Environment {
  Ground ground = {};
  std::vector<Box> boxes = {};
  std::optional<HeightField> height_field = {};
  std::vector<FreeBody> bodies = {};

  /// Nothing but the plain ground.
  bool empty() const;
  size_t num_objects() const { return boxes.size() + (height_field ? 1 : 0) + bodies.size(); }
  const std::string& ObjectName(size_t object) const;
  /// Where a free body stands among the objects.
  int ObjectOfFreeBody(size_t index) const { return static_cast<int>(num_objects() - bodies.size() + index); }

  /// Height of the highest thing fixed at a position, as seen from `from` downwards; minus infinity where there is
  /// none. Moving boxes are where they are at time 0; free bodies do not count.
  double HeightAt(double x, double z, double from) const;

  /// The same of what is no higher than a limit: of what can hold a point, and not of what the point is deep inside.
  /// The ground and a height field always count.
  double TopBelow(double x, double z, double limit) const;

  /// Appends the free bodies as they are at the start.
  void AppendStart(character::State& state) const;
  /// Turns everything about the vertical and moves it.
  void Place(const Quat& heading, const Vec3& offset);

  io::Json ToJson() const;
};

/// Reads what Environment::ToJson wrote, or what a person did: `density` may stand for `mass`, `rotation` {"axis": "x",
/// "degrees": 10} for `orientation`, `erp`, `cfm` and `time_step` for a spring. Without `inertia`, the shapes of a
/// compound body are placed in any frame, and moved to that of their center of mass. Throws InputError with the JSON
/// pointer.
Environment ReadEnvironment(const io::JsonView& view);

}  // namespace retrace::simulation
