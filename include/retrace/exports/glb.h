/// Motion as a binary glTF 2.0 file (GLB), for everything that shows 3D scenes.
#pragma once

#include <span>
#include <string>

#include "retrace/exports/exported_motion.h"
#include "retrace/skin/body_skin.h"

namespace retrace::exports {

/// Bytes of a GLB file. Meters, y up, the character facing +z in its rest pose, as glTF has it. In it are
///  - a skeleton: a node `root` at the root body's center of mass, and one per joint with the joint's name, in the
///    joint hierarchy, at rest as in the character's rest pose
///  - per body a mesh with its name, of all its shapes, bound to its node of the skeleton alone (a skin), so that
///    Blender shows an armature and the bodies as objects. A name that a node has already gets `_body` behind it.
///    With a skin instead of these one mesh `skin`, whose vertices up to four nodes move; the four shares of a vertex
///    are 16-bit and sum up to 1 exactly
///  - the ground, boxes and height field of the world, and its free bodies
///  - one animation with the motion's name, `rate` frames per second, linear between: rotations of the skeleton and the
///    root's path. A solver leaves joints some tenths of a millimeter apart; a node that would come more than 0.5 mm
///    away from where its joint was simulated is moved, too. So none is further away in any frame.
/// The animation's numbers are 32-bit floats.
///
/// Several motions are those of the characters of one scene, as control::TrajectoryOf has them; there is at least one.
/// All are in the one animation, and the names of nodes, meshes and skins begin with that of their character:
/// `character_2_left_knee`. The world is there once.
/// @param skins (characters) an empty one: its shapes are drawn; none: those of all
std::string FormatGlb(std::span<const ExportedMotion> motions, double rate, std::span<const skin::BodySkin> skins = {});
inline std::string FormatGlb(const ExportedMotion& motion, double rate, std::span<const skin::BodySkin> skins = {}) {
  return FormatGlb(std::span(&motion, 1), rate, skins);
}

}  // namespace retrace::exports
