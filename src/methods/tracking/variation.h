/// How the candidates of a search differ (candidate_search.h). Internal to the tracking method.
#pragma once

#include <array>
#include <cstddef>

#include "retrace/math/random.h"
#include "retrace/methods/tracking/options.h"

namespace retrace::tracking {

/// A change of how the controller follows its reference, for the time of a fragment. It consists of numbers alone, and
/// the default changes nothing.
struct Variation {
  /// Legs that can be varied; further ones are as in the reference.
  static constexpr size_t kLegs = 4;

  // Factors on the options of these names.
  double guidance = 1, guidance_feedback = 1, standing_share = 1, leg_weight = 1, foot_feedback = 1;
  double feedback = 1, root_rotation_weight = 1, contact_weight = 1;
  double stance_feedback = 1, placement_distance = 1, placement_velocity = 1;

  // Where forces guide.
  double ahead = 0;                                   ///< the forces of so much later are asked for [s]
  double center_x = 0, center_z = 0;                  ///< moves where the center of mass is to be [m]
  std::array<double, kLegs> height = {}, pitch = {};  ///< raises, and turns about its x axis, where a foot is to be
                                                      ///< [m], [rad]
};

/// The options with a variation's factors.
Options Varied(const Options& options, const Variation& variation);

/// Draws a variation: a small change of another one where `near` is given, else any.
Variation DrawVariation(const Variation* near, RandomStream& random);

}  // namespace retrace::tracking
