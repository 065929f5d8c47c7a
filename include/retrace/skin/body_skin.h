/// A skin for a character: one surface that bends at the joints, made of what the character file says about the body.
/// Pictures show it; nothing is computed with it.
#pragma once

#include <array>
#include <vector>

#include "retrace/character/character.h"
#include "retrace/character/state.h"
#include "retrace/math/triangle_mesh.h"
#include "retrace/math/types.h"

namespace retrace::skin {

/// How much of a vertex a body moves.
struct Influence {
  int body = 0;
  double share = 0;  ///< those of a vertex sum up to 1
};
inline constexpr size_t kInfluences = 4;  ///< of a vertex, at most: as many as glTF and graphics cards take at once

/// The largest of shares, as many as there may be, the largest first, so that they sum up to 1.
/// @param shares (bodies), not all 0
std::array<Influence, kInfluences> LargestShares(const std::vector<double>& shares);

/// Where a body stands in the pose in which the surface was made.
struct Bind {
  Vec3 position = Vec3::Zero();         ///< of its center of mass [m]
  Quat orientation = Quat::Identity();  ///< of its frame
};

struct BodySkin {
  TriangleMesh surface;                                        ///< in the pose of `binds` [m]
  std::vector<std::array<Influence, kInfluences>> influences;  ///< (vertices) the largest first
  std::vector<Bind> binds;                                     ///< (bodies)

  bool empty() const { return surface.vertices.empty(); }
};

/// The skin of a character with the bodies of a human (data/characters/human.json), whatever its proportions: bones run
/// between its joints, and the flesh about them is as thick as its shapes. Others have none: an empty skin, and
/// pictures show their shapes.
/// @param spacing of the grid on which the surface is found [m], for a body 1.75 m tall
BodySkin MakeBodySkin(const character::Character& character, double spacing = 0.015);

/// The vertices with the bodies where a state has them (linear blend skinning).
std::vector<Vec3> Posed(const BodySkin& skin, const character::State& state);

}  // namespace retrace::skin
