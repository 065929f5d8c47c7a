/// Worlds other than a plain floor, as files describe them, and how a recorded motion is put into one (Liu et al. 2010,
/// section 4, "Motion Transformation").
///
/// A file is in the frame of the motion: the origin on the floor under the root at the start, y up, z the way that the
/// root goes from start to end (the way it faces at the start where that is less than 0.5 m), x to the left of it. The
/// same file thus suits any recording. What stands at the origin should have its top at height 0, where the recording
/// has its floor.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "retrace/character/reference_motion.h"
#include "retrace/io/json.h"
#include "retrace/simulation/environment.h"

namespace retrace::task {

/// Boxes of random sizes at random positions along the way, each a rigid body at rest. The same for the same seed.
struct Scatter {
  std::string name;             ///< of the bodies, which get numbers
  double per_square_metre = 0;  ///< as many are tried; those that would lie on another or under the character are not
  double half_width = 0;        ///< on both sides of the way [m]
  double from = 0;              ///< along it [m]
  double beyond = 0;            ///< its end [m]
  double width[2] = {0, 0};     ///< both horizontal side lengths are from this range [m]
  double height[2] = {0, 0};    ///< [m]
  double density = 0;           ///< [kg/m^3]
  uint64_t seed = 1;
};

/// Mass that is fastened to a body at its center of mass, a ball of even density.
struct Load {
  std::string body;
  double mass = 0;      ///< [kg]
  double radius = 0.1;  ///< [m]
};

struct WorldVariation {
  std::vector<std::string> names;  ///< of the worlds that it was made of
  std::string description;
  std::optional<double> gravity;  ///< downwards [m/s^2]
  simulation::Environment environment;
  std::vector<Scatter> scatters;
  std::vector<Load> loads;
  /// The reference's heights follow the ground under its root: smoothed over 0.1 s, and no faster down than a fall.
  bool follow_ground = false;
  /// The reference's feet keep their height over the ground, now that under each of them, and tilt with it: knees bend
  /// and legs turn about their hips, and the root comes down where a foot would not reach. Not for feet high in the
  /// air.
  bool feet_on_ground = false;
  /// The reference walks on the line that its root goes along: the root is moved sideways so that the center of mass is
  /// over the line, and each leg is turned about its hip so that the foot is on it but where it passes the other one;
  /// feet stay level.
  bool legs_on_line = false;

  bool empty() const { return names.empty(); }
  /// Whether the motion is changed for it.
  bool adapts_motion() const { return follow_ground || feet_on_ground || legs_on_line; }
};

/// Reads a world's file. `name` is what it is called in reports. Throws InputError with the JSON pointer.
WorldVariation ReadAlteredWorld(const io::JsonView& view, const std::string& name);

/// Adds another world. Throws UsageError where both set the same thing.
void Combine(WorldVariation& world, const WorldVariation& other);

/// The character with all loads in its masses, moments and document. Throws InputError for a body that it has not.
character::Character WithLoads(const character::Character& character, const WorldVariation& world);

/// A world instead of the motion, and the motion adapted to the world.
struct PlacedWorld {
  simulation::Environment environment;  ///< in the reference's frame
  character::ReferenceMotion reference;
  std::vector<std::string> notes;     ///< what the world is and what was changed in the reference, as sentences
  std::vector<std::string> warnings;  ///< where it cannot hold the motion

  io::Json ToJson(const WorldVariation& world) const;
};

/// Puts a world where a motion is. Throws InputError when the reference cannot be changed as the world requires because
/// the character has no legs.
PlacedWorld PlaceWorld(const WorldVariation& world, const character::ReferenceMotion& recorded);

}  // namespace retrace::task
