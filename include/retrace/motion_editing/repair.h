/// The least change of a reference with which a body may be able to perform it.
///
/// Over the recorded poses runs the logarithm of the slowness, u, and a shift of the whole body, s. Sought is the least
/// sum of their squares and of the squares of their first and second derivatives for which
///   - in a flight that falls at another rate, the center of mass accelerates by gravity alone, also where
///     keyframes leave nothing of it: then it begins as an arc on the old clock;
///   - a foot that stands beside the floor is on it, and so are the lowest steps of a body that floats;
///   - the ground does not pull, presses no harder than legs can, and holds by friction;
///   - its center of pressure is where bodies touch the floor; in flight the clock is even, as angular momentum is;
/// by least squares (optimization/least_squares.h), the first two with much weight. Where the clock runs slower by r =
/// exp(u), velocities and momenta are divided by r, and an acceleration a at velocity v becomes (a - v du) / r^2. Feet
/// in contact are then held where they were, by their legs.
///
/// That is solved twice: for a clock that is right except at some instants, with a large weight on u everywhere; and
/// for a motion that is played at another speed as a whole, with a small weight on what all u share and a large one on
/// the rest. The smaller sum is taken, and of two that differ by less than a factor of 2 the shorter motion: what is
/// played slower than it was done has to be balanced where it needed not be. Where no less force is missing on the new
/// clock than on the old one, the clock stays.
///
/// Before all that an estimate from video is steadied: smoothed where it trembles, and shifted by a smooth curve with
/// which the feet that carry the body stand on the floor.
///
/// Nothing here is a simulation. A reference without findings stays as it is, bit by bit.
#pragma once

#include <string>

#include "retrace/character/reference_motion.h"
#include "retrace/motion_editing/findings.h"
#include "retrace/motion_editing/repaired_motion.h"

namespace retrace::repair {

/// Repairs a reference on the floor y = 0. Throws InputError, with `name` for the clip, for what cannot be repaired,
/// with its position. @param gravity downwards [m/s^2]
Repair RepairReference(const character::ReferenceMotion& reference, double gravity, const std::string& name);

}  // namespace retrace::repair
