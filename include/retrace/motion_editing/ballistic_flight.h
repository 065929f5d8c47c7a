/// A recorded motion whose flights obey gravity. Filters smear the forces of a jump or a run beyond the instants at
/// which its feet leave and touch the ground: the reference then asks for forces in the air, where nothing can give
/// them, and for less before, so that a character that follows it takes off too slowly. A performer scaled to the size
/// of the character does not fall at 9.81 m/s^2 either.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "retrace/character/reference_motion.h"
#include "retrace/io/json.h"
#include "retrace/metrics/intervals.h"
#include "retrace/simulation/environment.h"

namespace retrace::task {

/// A motion that was moved in flight, and how much was changed.
struct BallisticFlight {
  std::vector<character::Pose> poses;      ///< at the times of the reference's
  std::vector<metrics::Interval> flights;  ///< in which nothing touches the ground, in the order of time
  double largest_shift = 0;                ///< of the root in flight [m]
  double largest_standing_shift = 0;       ///< the same where something touches the ground [m]
  double force_before = 0;                 ///< root mean square of the force that the flights require of the ground,
  double force_after = 0;                  ///< as a share of the weight
  std::vector<std::string> notes;          ///< the same as sentences; none where nothing flies

  io::Json ToJson() const;
};

/// Moves the whole character so that its center of mass accelerates by gravity alone wherever nothing touches the
/// ground for 0.06 s, and around these flights as little as it takes: by least squares over shifts and their
/// accelerations. Angular momentum is left as it is. A motion without flights keeps its bits.
/// @param gravity downwards [m/s^2]
/// @param lifted height over the ground from which on a point does not touch it [m]; where there is none, 15 mm for a
/// character of human height
BallisticFlight MakeFlightBallistic(const character::ReferenceMotion& reference,
                                    const simulation::Environment& environment, double gravity,
                                    std::optional<double> lifted = std::nullopt);

}  // namespace retrace::task
