/// What the numbers of characters, worlds and controls may be. The ranges are far wider than any real character or
/// place, and so narrow that nothing that is computed from legal numbers overflows, and that what is written of them
/// can be read again.
#pragma once

#include <cstddef>

#include "retrace/io/json.h"

namespace retrace::character {

/// A motion is at most so far from the origin; a simulation in which a body is farther away has diverged [m].
inline constexpr double kFarAway = 1000;

/// Longest simulation [steps].
inline constexpr int kMostSteps = 1000000;

inline constexpr io::Range kPositions{-1e4, 1e4};        ///< [m]
inline constexpr io::Range kSizes{1e-5, 1e4};            ///< of shapes [m]
inline constexpr io::Range kMasses{1e-9, 1e6};           ///< [kg]
inline constexpr io::Range kMoments{1e-15, 1e9};         ///< of inertia [kg m^2]
inline constexpr io::Range kProducts{-1e9, 1e9};         ///< the other entries of an inertia tensor [kg m^2]
inline constexpr io::Range kServoGains{1e-9, 1e7};       ///< [N m/rad], [N m s/rad]
inline constexpr io::Range kScales{1e-6, 1e3};           ///< factors on servo gains
inline constexpr io::Range kVelocities{-1e4, 1e4};       ///< of free bodies and moving boxes [m/s], [rad/s]
inline constexpr io::Range kStateVelocities{-1e9, 1e9};  ///< of a stored state, as differences yield them

inline constexpr size_t kMostBodies = 256;     ///< of a character
inline constexpr size_t kMostShapes = 64;      ///< of a body
inline constexpr size_t kMostVertices = 2000;  ///< of a mesh
inline constexpr size_t kMostContactPresets = 100;
inline constexpr size_t kMostObjects = 1000;    ///< boxes of a world, and its free bodies
inline constexpr size_t kMostGridLines = 1000;  ///< of a height field, along each axis
inline constexpr size_t kMostCharacters = 16;   ///< of a scene

}  // namespace retrace::character
