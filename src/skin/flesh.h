/// What a human body looks like around its bones, as distances from rounded solids that run into one another.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "retrace/character/character.h"
#include "retrace/math/types.h"

namespace retrace::skin {

/// A cone with round ends between two positions in the rest pose, flattened along some axes: lengths along an axis are
/// divided by `flatness`, so that it is that much wider there.
struct Flesh {
  int body = 0;  ///< that carries it
  Vec3 from = Vec3::Zero();
  Vec3 to = Vec3::Zero();
  double from_radius = 0;
  double to_radius = 0;
  Vec3 flatness = Vec3::Ones();
  double blend = 0.03;  ///< over which it runs into what was there before [m]

  /// Distance, at most the true one, and negative inside.
  double At(const Vec3& place) const;
};

/// Flesh that runs into one another. Limbs run into the trunk and not into other limbs.
struct FleshedBody {
  std::vector<Flesh> trunk;
  std::vector<std::vector<Flesh>> limbs;
  std::vector<double> soles;  ///< (limbs) below which there is nothing of it [m]; -infinity for arms
};

/// The flesh of a character with the bodies of a human, else nothing.
std::optional<FleshedBody> FleshOf(const character::Character& character);

}  // namespace retrace::skin
