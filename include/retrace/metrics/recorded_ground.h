/// What a recorded motion stands and sits on beside its floor, found in the motion itself.
///
/// Inverse dynamics says when the floor alone cannot supply what the body requires (required_forces.h). Meanwhile
/// something else bears: a foot that is at rest over the floor and under the body stands on a step or a slope, and a
/// pelvis at rest away from all that the feet stand on sits on a seat, and hands at rest towards which a body leans
/// bear on a table: anything that hands bear on from above, as the back of a chair or a rail. Soles that rest on one
/// plane share a surface. A foot that merely pauses in the air bears nothing, and shows nothing.
#pragma once

#include <string>
#include <vector>

#include "retrace/character/reference_motion.h"
#include "retrace/character/state.h"
#include "retrace/math/types.h"
#include "retrace/metrics/recorded_surface.h"

namespace retrace::metrics {

/// A stretch in which a foot is at rest with its sole down.
struct FootStance {
  int body = 0;
  size_t first = 0, last = 0;      ///< poses
  double height = 0;               ///< of the lowest point where the sole is flattest, in the median [m]
  Vec3 sole = Vec3::Zero();        ///< its middle at the middle of the stretch [m]
  Vec3 normal = Vec3::UnitY();     ///< of the sole, out of it into the foot
  std::vector<Vec3> corners = {};  ///< of the sole then [m]
};

struct RecordedGround {
  /// From below to above: slopes and steps, then seats, then tables.
  std::vector<RecordedSurface> surfaces;
  std::vector<FootStance> stances;  ///< foot by foot, wherever they are
  /// Share of the time in which the body is borne and nothing is under it: no floor, no surface that was found. Riding,
  /// a rope, another person.
  double unsupported = 0;

  bool strong() const;  ///< whether any surface is
  /// The surfaces that are strong in a phrase: "step at 0.18 m (bears for 1.3 s), seat at 0.45 m (bears for 2.5 s)".
  std::string Phrase() const;
};

/// Finds surfaces in a reference whose floor is y = 0. @param states of its poses
RecordedGround FindRecordedGround(const character::ReferenceMotion& reference,
                                  const std::vector<character::State>& states);

}  // namespace retrace::metrics
