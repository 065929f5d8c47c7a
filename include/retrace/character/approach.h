/// How near two characters come, by the shapes of their bodies.
#pragma once

#include "retrace/character/character.h"
#include "retrace/character/reference_motion.h"
#include "retrace/character/state.h"

namespace retrace::character {

/// Distance between the shapes of two bodies [m]; not above 0 where they overlap, and then no measure of how deep. A
/// mesh with hollows counts as its convex hull. Infinity for a body without shapes. After Gilbert, Johnson and Keerthi
/// (A fast procedure for computing the distance between complex objects in three-dimensional space, 1988), about the
/// segments in capsules; exact to about 1e-8 m.
double BodyDistance(const Body& a, const BodyState& at_a, const Body& b, const BodyState& at_b);

/// Two bodies, one of each of two characters.
struct BodyPair {
  double distance = 0;  ///< BodyDistance [m]
  int first = -1;
  int second = -1;
};

/// The nearest ones. Of pairs that are equally near, the first.
BodyPair NearestBodies(const Character& a, const State& state_a, const Character& b, const State& state_b);

/// When two motions come nearest to one another.
struct Approach {
  double time = 0;     ///< [s]
  BodyPair bodies;     ///< there
  bool touch = false;  ///< the bodies meet: `time` is the first instant at which they do, else that of least distance
};

/// The first touch of two motions on one clock in [from, to], at the rate of the poses of the first one, and then to
/// 0.1 ms between two of them. Bodies that pass through one another from one pose to the next do not meet.
Approach FirstTouch(const ReferenceMotion& a, const ReferenceMotion& b, double from, double to);

}  // namespace retrace::character
