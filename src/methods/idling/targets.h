/// Angles between target poses, and what lies between them. Internal to the module.
#pragma once

#include <cstdint>
#include <vector>

#include "retrace/character/character.h"
#include "retrace/control/fragment.h"
#include "retrace/math/random.h"
#include "retrace/methods/idling/problem.h"

namespace retrace::idling {

/// Turn of the joint that turns most [rad].
double LargestAngle(const control::TargetPose& a, const control::TargetPose& b);
/// Root of the mean square over joints [rad].
double RmsAngle(const control::TargetPose& a, const control::TargetPose& b);
/// Spherical linear interpolation of all joints.
control::TargetPose Between(const control::TargetPose& a, const control::TargetPose& b, double share);
/// The same with random turns: uniform within the half widths about each axis (joints).
control::TargetPose Perturbed(const control::TargetPose& targets, const std::vector<Vec3>& widths,
                              RandomStream& random);
/// Normal turns of one standard deviation about each axis that a joint has.
control::TargetPose WithNoise(const control::TargetPose& targets, const character::Character& character,
                              double deviation, RandomStream& random);
/// Turns by Perlin's noise at an instant, of one standard deviation about each axis that a joint has: two octaves of
/// gradient noise, the upper one of twice the frequency and half the size, from gradients that follow from the seed.
/// @param time [s] @param frequency of the lower octave [1/s]
control::TargetPose WithPerlinNoise(const control::TargetPose& targets, const character::Character& character,
                                    double deviation, double frequency, double time, uint64_t seed);
/// Rms angle between the targets of two paths at the same shares of their lengths [rad].
double AngleBetweenPaths(const control::TargetPose& start, const std::vector<Drive>& a, const std::vector<Drive>& b);

}  // namespace retrace::idling
