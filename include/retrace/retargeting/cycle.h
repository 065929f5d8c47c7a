/// A cycle of a motion, such as two steps of a walk, that can be repeated for as long as one likes.
#pragma once

#include <optional>
#include <vector>

#include "retrace/character/state.h"

namespace retrace::character {

/// A part of a motion that ends nearly as it began.
struct Cycle {
  size_t first = 0;   ///< pose with which it begins
  size_t length = 0;  ///< in poses; the one after the last is the first again
  /// How badly they fit: root mean square of the angles of joints and of the root's tilt between the two ends, and
  /// shortly before and after them [rad].
  double seam = 0;
  double turn = 0;  ///< of the root's heading from one end to the other [rad]
};

/// The worst seam with which a cycle is worth repeating [rad].
inline constexpr double kWorstSeam = 0.1;
/// The largest turn.
inline constexpr double kLargestTurn = 0.35;

/// The cycle of 0.5 to 2 s with the best seam among those that turn by less than kLargestTurn; nothing in a motion that
/// is too short or turns all the time. Evenly spaced poses. @param frame_time between them [s]
/// @param shortest_time instead of 0.5 s
std::optional<Cycle> FindCycle(const std::vector<Pose>& poses, double frame_time, double shortest_time = 0.5);

/// The cycle over and over, `count` poses. What the two ends differ by is spread over the cycle; each round begins
/// where the one before ended, at the same height.
std::vector<Pose> Repeat(const std::vector<Pose>& poses, const Cycle& cycle, size_t count);

}  // namespace retrace::character
