/// What the bodies of a robot are to its motion, by the shape of its tree.
#pragma once

#include <vector>

#include "retrace/character/part.h"
#include "retrace/math/types.h"

namespace retrace::robots {

/// A body of a robot as it is at rest.
struct BodyAtRest {
  int parent = -1;            ///< comes before it
  double mass = 0;            ///< [kg]
  Vec3 joint = Vec3::Zero();  ///< anchor of the joint that moves it, y up [m]
  double lowest = 0;          ///< of its shapes [m]; +infinity: it has none
  double highest = 0;         ///< [m]; -infinity: it has none
};

/// A chain of bodies from the trunk to its end.
struct Limb {
  bool leg = false;         ///< it reaches the floor
  std::vector<int> bodies;  ///< from the trunk on
};

struct Limbs {
  std::vector<Limb> limbs;             ///< legs first
  std::vector<character::Part> parts;  ///< (bodies)
  /// (bodies) Whether a large share of the whole hangs on it beside a leg: waist and trunk.
  std::vector<bool> trunk;
};

Limbs FindLimbs(const std::vector<BodyAtRest>& bodies);

}  // namespace retrace::robots
