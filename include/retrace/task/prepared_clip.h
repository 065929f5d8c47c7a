/// A recorded motion on a character in a world, ready for any method: what reading and preparing a clip comes to.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "retrace/character/character.h"
#include "retrace/metrics/clip_checks.h"
#include "retrace/motion/clip.h"
#include "retrace/motion_editing/repair.h"
#include "retrace/retargeting/reference.h"
#include "retrace/task/task.h"
#include "retrace/task/world_variation.h"

namespace retrace::task {

/// What a clip is prepared from.
struct ClipSource {
  std::string name;  ///< of the clip, for messages
  motion::Clip clip;
  character::Character character;  ///< without the world's loads
  WorldVariation world;            ///< of the user
  Options options;
  bool repair = false;      ///< whether a motion that no body can perform is changed
  bool keep_clock = false;  ///< a repair that changes the time of the motion is refused: forces were measured on it
  std::vector<std::string> notes;  ///< that the report of the reference begins with
};

/// Immutable once it is made. It stays where it was made, because the task points into it: whoever passes it on shares
/// it.
class PreparedClip {
 public:
  /// Throws UsageError and InputError for what cannot be used.
  explicit PreparedClip(ClipSource source);
  PreparedClip(const PreparedClip&) = delete;
  PreparedClip& operator=(const PreparedClip&) = delete;

  /// The reference, adapted to the world.
  const character::ReferenceMotion& reference() const { return placed.reference; }
  /// The motion that was repaired as it was, on the clock of `recorded`; nothing where nothing was changed.
  std::optional<character::ReferenceMotion> Unrepaired() const;

  const std::string name;
  const motion::Clip clip;
  character::ReferenceReport report;
  const character::Character character;       ///< with the world's loads
  std::optional<repair::Repair> repaired;     ///< what was repaired; none: it was not asked for
  const character::ReferenceMotion recorded;  ///< the motion as recorded, or repaired
  const metrics::ClipChecks checks;           ///< of that
  const WorldVariation world;                 ///< of the user, with what the recording stands on
  const PlacedWorld placed;
  const Options options;          ///< with the gravity and the environment of the world
  const Preparation preparation;  ///< its world names the solver that is in use in this process
};

}  // namespace retrace::task
