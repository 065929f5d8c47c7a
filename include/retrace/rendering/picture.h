/// What a picture shows: solids on a ground, light, forces as arrows. Draw (renderer.h) makes it.
///
/// Meters and world axes, y up. Colors are shares of red, green and blue in linear light.
#pragma once

#include <array>
#include <vector>

#include "retrace/math/triangle_mesh.h"
#include "retrace/math/types.h"

namespace retrace::rendering {

using Color = std::array<float, 3>;

/// The color that a screen shows for "#rrggbb". Throws std::invalid_argument for anything else.
Color ColorOf(const char* screen);

/// A surface of triangles that run counter-clockwise as seen from outside; what faces away is not drawn.
struct Solid {
  std::vector<Vec3> vertices;
  std::vector<std::array<int, 3>> triangles;
  std::vector<Color> colors;  ///< (vertices), or one for all
  bool smooth = false;        ///< light varies over the surface as over a round one; else each triangle is flat
};

/// A force from where it begins to the tip of its arrow.
struct ForceArrow {
  Vec3 from = Vec3::Zero();
  Vec3 to = Vec3::Zero();
  Color color = {};
};

/// A colored square that lies on the ground.
struct Mark {
  double x = 0, z = 0;  ///< of its middle
  Color color = {};
};

struct Camera {
  Vec3 eye = Vec3(0, 1, 5);
  Vec3 target = Vec3(0, 0.8, 0);
  double angle = 0.52;  ///< of view from the lowest to the highest row [rad]
};

struct Picture {
  Camera camera;
  bool has_ground = true;
  double ground = 0;                ///< its height
  Vec3 focus = Vec3::Zero();        ///< shadows are drawn around it
  double reach = 4;                 ///< as far as this
  Vec3 sun = Vec3(0.45, 0.8, 0.4);  ///< towards it, of any length
  double arrow_radius = 0.014;      ///< of an arrow's shaft
  std::vector<Solid> solids;        ///< they hide one another and cast shadows
  std::vector<Solid> ghosts;        ///< one can see through them
  float ghost_opacity = 0.34f;
  std::vector<ForceArrow> arrows;  ///< over everything else: an arrow begins under a foot and ends inside a leg
  std::vector<Mark> marks;         ///< later ones over earlier ones
  double mark_side = 0.02;
  Color background = ColorOf("#eef0f1");
  Color ground_color = ColorOf("#e6e7e5");
  Color grid_color = ColorOf("#c3c6c6");
};

/// Solids of a body's shapes about their middle; smooth where they are round.
Solid BoxSolid(const Vec3& size, const Color& color);
Solid CapsuleSolid(double radius, double length, int axis, const Color& color);
Solid MeshSolid(const TriangleMesh& mesh, const Color& color);
/// Turned, then moved.
Solid Placed(Solid solid, const Quat& turn, const Vec3& place);

}  // namespace retrace::rendering
