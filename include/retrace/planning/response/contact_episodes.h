/// An impact that a character of a scene, or a thing, gives another character, as the simulation has it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "retrace/control/control.h"
#include "retrace/io/json.h"

namespace retrace::runs {

/// Contacts that are less apart belong to one impact [s].
inline constexpr double kTouchesApart = 0.05;

/// The contacts of one character with what strikes it, from the first one until they have parted.
struct ContactEpisode {
  double start = 0;             ///< [s]
  double end = 0;               ///< [s]
  int body = -1;                ///< of the world, of that character, at the first touch
  int other = -1;               ///< of the world, of another character; -1 for a thing
  int object = -1;              ///< of the environment (simulation::Contact); -1 for another character
  Vec3 point = Vec3::Zero();    ///< of the first touch [m]
  Vec3 impulse = Vec3::Zero();  ///< on the character, of all these contacts [N s]
  double largest_force = 0;     ///< of one step [N]
  double closing_speed = 0;     ///< of two characters there along the normal, a step before they touch [m/s]
  bool at_end = false;          ///< they have not parted where the motion ends

  double duration() const { return end - start; }
};

/// The first impact of a motion from `from` on [s]; nothing where the character touches no other.
/// @param whole motion of all characters of a scene
std::optional<ContactEpisode> FirstImpact(const control::Trajectory& whole, const simulation::Layout& layout,
                                          size_t character, double from = 0);

/// The first impact of a thing that moves freely.
/// @param motion of a single character
/// @param first_object of the environment, that moves freely (simulation::Environment::ObjectOfFreeBody)
std::optional<ContactEpisode> FirstImpactOfObject(const control::Trajectory& motion, int first_object);

/// "2:left_hand, which meets 1:trunk"
std::string Describe(const control::Scene& scene, const ContactEpisode& blow);
io::Json ToJson(const control::Scene& scene, const ContactEpisode& blow);

}  // namespace retrace::runs
