/// What a character stands on: heights over it and depths in it, in a world that may have more than a plane.
#pragma once

#include "retrace/character/character.h"
#include "retrace/character/state.h"
#include "retrace/simulation/environment.h"

namespace retrace::metrics {

class Surface {
 public:
  /// The environment must outlive the surface. Bodies that move freely are not part of it.
  explicit Surface(const simulation::Environment& environment);

  /// Whether a part of it moves: speeds over it and depths in it are then not those in the world.
  bool moves() const { return moves_; }

  /// Height of what is below a point [m]; minus infinity where there is nothing. A point may have sunk in a little.
  double GroundUnder(const Vec3& point) const;
  /// Height of a point over what is below it [m]; infinity where there is nothing.
  double HeightOf(const Vec3& point) const;

  /// Height of the lowest point of a body over what is below it [m]; infinity where there is nothing. Seen as in
  /// DepthOf.
  double HeightOf(const character::Body& body, const character::BodyState& state) const;

  /// How deep a body is in it [m], 0 when it is not: under the ground and the height field by height, in a box by the
  /// nearest face (a shin that grazes a step is not as deep as the step is high). Seen where the body has corners,
  /// ends of capsules and vertices; over the plane alone that is exact.
  double DepthOf(const character::Body& body, const character::BodyState& state) const;

 private:
  double DepthAt(const Vec3& center, double radius) const;

  const simulation::Environment* environment_;
  simulation::Environment below_;  ///< the ground and the height field alone
  bool plain_ = true;              ///< the plane y = 0
  bool moves_ = false;
};

}  // namespace retrace::metrics
