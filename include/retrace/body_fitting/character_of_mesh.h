/// A physical character of a skinned body mesh: capsules and boxes for its parts, joints where the mesh has them,
/// masses and moments of inertia from its volume, servos in proportion to size and mass.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "retrace/body_fitting/fit_shape.h"
#include "retrace/body_fitting/skinned_mesh.h"
#include "retrace/character/character.h"
#include "retrace/character/strength.h"
#include "retrace/io/json.h"
#include "retrace/skin/body_skin.h"

namespace retrace::body_fitting {

struct BodyOptions {
  std::string name = "body";
  std::optional<double> height;  ///< the mesh is scaled to it; nothing: it is in meters [m]
  std::optional<double> mass;    ///< nothing: that of the volume at `density` [kg]
  double density = 1000;         ///< [kg/m^3]
  character::Servos servos = character::Servos::kScaled;
};

inline constexpr io::Range kBodyHeights{0.3, 3};    ///< of a mesh in meters [m]
inline constexpr io::Range kBodyMasses{1, 1000};    ///< [kg]
inline constexpr io::Range kDensities{100, 10000};  ///< [kg/m^3]

/// What is reported of one part of the mesh.
struct PartReport {
  std::string segment;
  double volume = 0;      ///< of the part of the mesh [m^3]
  std::vector<Fit> fits;  ///< of its shapes, in the rest pose
};

struct BodyReport {
  std::string joints_by;   ///< by which names the joints were recognized
  double height = 0;       ///< [m]
  double mesh_volume = 0;  ///< [m^3]
  /// Volume of the union of all shapes: as the distances alone give it, and at the end [m^3].
  double fitted_volume = 0, shape_volume = 0;
  double moved = 0;                 ///< the surface of all shapes outwards for that, inwards where it is negative [m]
  double mass = 0;                  ///< [kg]
  double servo_scale = 1;           ///< on the gains of the human, where they are scaled
  std::vector<std::string> servos;  ///< which others were chosen, as a sentence; none: those of the human, scaled
  double turned = 0;                ///< about the vertical, so that the left is at x > 0 [rad]
  std::vector<PartReport> parts;
  std::vector<std::pair<std::string, std::string>> passing;  ///< bodies that pass through each other
};

struct BodyOfMesh {
  character::Character character;
  BodyReport report;
};

/// Joints are recognized as those of a recording are (skeleton_mapping.h); `map` (or null) names some as a map of a
/// recording does. Each triangle belongs to the segment that moves most of it. Arms, legs and feet are turned into the
/// T-pose of the characters, with all vertices that they move.
///
/// `human` gives joints, servos, sampling windows, contact presets and end effectors. The gains of its servos are
/// multiplied by the ratio of mass times height, which is how gravity loads joints. Trunks get two capsules, hands and
/// feet a box. In the end the surfaces of all shapes are moved by one distance, so that together they hold the volume
/// of the mesh. Bodies that overlap in the rest pose pass through each other, as in the paper.
///
/// Throws InputError with what was found: joints that are not recognized, a part without triangles, a mesh that does
/// not stand up along y or is of no human size, a `human` that is planar or lacks a part of the mesh. `name` stands for
/// the file in messages.
BodyOfMesh MakeCharacter(const SkinnedMesh& mesh, const character::Character& human, const BodyOptions& options,
                         const std::string& name, const io::JsonView* map);

/// The mesh itself as the skin of the character that MakeCharacter made of it. The surface is in the pose of the file,
/// scaled to the height of the character; each vertex keeps the four parts of the body that move most of it.
///
/// Throws InputError as MakeCharacter does, and for a mesh whose joints are not where the character has its own.
skin::BodySkin SkinOfMesh(const SkinnedMesh& mesh, const character::Character& character, const std::string& name,
                          const io::JsonView* map);

}  // namespace retrace::body_fitting
